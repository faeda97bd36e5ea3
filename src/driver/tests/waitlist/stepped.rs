//! The clock of a list's master is set, back or ahead and back, while a crowd waits there.

use super::*;
use std::sync::atomic::AtomicI64;

const HOUR: i64 = 3_600;
const CLIENTS: usize = 8;

/// Sets the clock of one master as long after the others as this says, in seconds.
fn set_clock(master: &Master) -> Arc<AtomicI64> {
    let ahead = Arc::new(AtomicI64::new(0));
    let (set, began) = (ahead.clone(), now());
    let some_day = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
    master.set_clock(move || {
        let day = some_day + now().since(began);
        let ahead = set.load(SeqCst);
        let by = Duration::from_secs(ahead.unsigned_abs());
        if ahead < 0 { day - by } else { day + by }
    });
    ahead
}

/// Returns what came of a crowd while the clock of its list's master was set so, once a second.
async fn stepped<K: Kind>(
    channel: &str,
    steps: &[i64],
    acquire: impl Fn(&Redlock) -> Acquire<Guard<K>> + Copy + Send + 'static,
) -> Crowd
where
    Guard<K>: Held<Guard = Guard<K>, Error: Send + std::fmt::Debug>,
{
    let masters = distant();
    let first = first_node(&masters, channel).await;
    let clock = set_clock(&masters[first]);
    let clients = listed(&masters, CLIENTS).await;
    let span = SECOND * (u32::try_from(steps.len()).unwrap() + 1);
    let steps = async {
        for ahead in steps {
            sleep(SECOND).await;
            clock.store(*ahead, SeqCst);
        }
    };
    let (crowd, ()) = tokio::join!(Crowd::that(clients, span, acquire), steps);
    crowd
}

#[tokio::test(start_paused = true)]
async fn no_waiter_of_a_list_is_left_behind_by_a_clock_that_is_set() {
    let lock = |redlock: &Redlock| redlock.acquire(KEY).timeout(60 * SECOND);
    for steps in [&[-HOUR][..], &[HOUR, 0], &[-1, HOUR, -HOUR, -2 * HOUR]] {
        let crowd = stepped(KEY, steps, lock).await;
        // One that is taken out as overdue is back with its next question.
        assert!(crowd.longest < 500 * MS, "{steps:?}: {:?}", crowd.longest);
        assert!(crowd.fairness() > 0.7, "{steps:?}: {:?}", crowd.sections);
        assert!(crowd.speed() > 200.0, "{steps:?}: {}", crowd.speed());
    }
}

#[tokio::test(start_paused = true)]
async fn no_waiter_for_a_permit_is_left_behind_by_a_clock_that_is_set() {
    let permit = |redlock: &Redlock| redlock.semaphore(KEY, 2).acquire().timeout(60 * SECOND);
    for steps in [&[-HOUR][..], &[HOUR, 0], &[-1, HOUR, -HOUR, -2 * HOUR]] {
        let crowd = stepped("quorumlock:semaphore:orders:42", steps, permit).await;
        assert!(crowd.longest < 500 * MS, "{steps:?}: {:?}", crowd.longest);
        assert!(crowd.fairness() > 0.7, "{steps:?}: {:?}", crowd.sections);
        assert!(crowd.speed() > 400.0, "{steps:?}: {}", crowd.speed());
    }
}

//! A client that waits asks the holder: what is idle is released at once, and a guard is notified.

use super::*;
use crate::Acquire;

const WARM: Duration = Duration::from_secs(4);

/// The round trip to each master.
const TRIP: Duration = Duration::from_millis(20);

fn warm(redlock: &Redlock) -> Acquire {
    redlock.acquire(KEY).ttl(TTL).keep_warm(WARM)
}

async fn five_and_two_clients() -> (Masters, Redlock, Redlock) {
    let (masters, redlock) = five_and_client().await;
    let other = connect(masters.builder()).await;
    (masters, redlock, other)
}

/// Returns the time that all but one in a hundred are within.
fn p99(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() * 99 / 100]
}

/// Lets a client wait for the lock a hundred times, and returns for how long from its refusal on: for a holder
/// that releases it, from then on, or for one that has left it idle, and is asked.
async fn waits(is_idle: bool) -> Duration {
    let (masters, redlock, other) = five_and_two_clients().await;
    masters.iter().for_each(|master| master.set_latency(TRIP));
    let mut times = Vec::new();
    for _ in 0..100 {
        // As often as it takes to pay.
        warm(&redlock).await.unwrap().release().await.unwrap();
        warm(&redlock).await.unwrap().release().await.unwrap();
        let guard = warm(&redlock).await.unwrap();
        sleep(SECOND).await;
        let held = if is_idle {
            guard.release().await.unwrap();
            None
        } else {
            Some(guard)
        };
        let acquire = tokio::spawn(other.acquire(KEY).into_future());
        sleep(TRIP).await;
        let began = match held {
            None => now(),
            Some(guard) => {
                sleep(5 * TRIP).await;
                drop(guard);
                now()
            }
        };
        let guard = acquire.await.unwrap().unwrap();
        times.push(now().since(began));
        guard.release().await.unwrap();
        sleep(SECOND).await;
    }
    p99(times)
}

#[tokio::test(start_paused = true)]
async fn a_client_that_asks_has_an_idle_lock_two_round_trips_later_than_one_that_is_released() {
    let (cold, idle) = (waits(false).await, waits(true).await);
    assert!(cold >= 2 * TRIP, "{cold:?}: a message, and an attempt");
    assert!(idle <= cold + 2 * TRIP, "{idle:?}, and {cold:?} from a holder that releases it");
}

/// Lets two clients have the lock in turns, each for a moment, and returns how long it took.
async fn alternate(keep_warm: Duration) -> Duration {
    let (masters, redlock, other) = five_and_two_clients().await;
    masters.iter().for_each(|master| master.set_latency(TRIP));
    let began = now();
    for turn in 0..200 {
        let client = [&redlock, &other][turn % 2];
        let guard = client.acquire(KEY).ttl(TTL).keep_warm(keep_warm).await.unwrap();
        sleep(5 * MS).await;
        guard.release().await.unwrap();
        sleep(TRIP * 2).await;
    }
    now().since(began)
}

#[tokio::test(start_paused = true)]
async fn clients_that_alternate_are_not_slower_for_it() {
    let (cold, warm) = (alternate(Duration::ZERO).await, alternate(WARM).await);
    assert!(warm <= cold.mul_f64(1.1), "{warm:?}, and {cold:?} if the lock is released each time");
}

#[tokio::test(start_paused = true)]
async fn without_the_message_it_has_the_lock_once_the_time_of_what_is_idle_is_over() {
    let masters = five();
    let silent = connect(masters.builder().wake_ups(false)).await;
    let other = connect(masters.builder()).await;
    pass_the_moment().await;
    warm(&silent).await.unwrap().release().await.unwrap();
    let began = now();
    let guard = other.acquire(KEY).await.unwrap();
    let waited = now().since(began);
    assert!(waited > WARM - SECOND && waited < WARM + SECOND, "{waited:?}");
    drop(guard);
}

/// Whenever the release comes, of which no message tells unless the holder was asked before: while the waiter is refused,
/// while it looks who has the lock, while it asks, or later.
#[tokio::test(start_paused = true)]
async fn a_waiter_has_a_lock_soon_after_it_was_released_at_any_moment() {
    let (masters, redlock, other) = five_and_two_clients().await;
    masters.iter().for_each(|master| master.set_latency(TRIP));
    for held in 0..80 {
        let key = format!("r{held}");
        let guard = redlock.acquire(&*key).ttl(TTL).await.unwrap();
        let waiting = tokio::spawn(other.acquire(&*key).ttl(TTL).into_future());
        sleep(held * 2 * MS).await;
        let began = now();
        guard.release().await.unwrap();
        let next = waiting.await.unwrap().unwrap();
        let waited = now().since(began);
        assert!(waited <= 7 * TRIP / 2, "{waited:?} after a release {held} x 2 ms later");
        next.release().await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn a_guard_is_notified_and_keeps_the_lock_until_it_gives_it_back() {
    let (masters, redlock, other) = five_and_two_clients().await;
    let guard = redlock.acquire(KEY).ttl(TTL).keep_alive().await.unwrap();
    let lease = guard.lease();
    assert!(!guard.is_wanted());
    let waiting = tokio::spawn(other.acquire(KEY).timeout(Duration::MAX).into_future());
    tokio::time::timeout(SECOND, lease.wanted()).await.unwrap();
    assert!(guard.is_wanted() && lease.is_wanted() && guard.is_valid());
    sleep(10 * SECOND).await;
    assert!(guard.is_valid() && !waiting.is_finished(), "it is only a question");
    guard.release().await.unwrap();
    let next = tokio::time::timeout(SECOND, waiting).await.unwrap().unwrap().unwrap();
    assert!(!next.is_wanted());
    drop(next);
    settle().await;
    assert_no_keys(&masters, "released");
}

#[tokio::test(start_paused = true)]
async fn a_guard_that_no_client_asks_for_is_wanted_only_once_it_is_over() {
    let (_masters, redlock, other) = five_and_two_clients().await;
    let guard = redlock.acquire(KEY).ttl(TTL).await.unwrap();
    assert!(other.try_acquire(KEY).await.is_err(), "an acquire that does not wait asks no holder");
    let elsewhere = other.acquire("elsewhere").await.unwrap();
    let began = now();
    guard.wanted().await;
    assert!(now().since(began) > TTL / 2 && !guard.is_wanted() && !guard.is_valid());
    drop(elsewhere);
}

#[tokio::test(start_paused = true)]
async fn holders_of_each_kind_are_asked() {
    let (_masters, redlock, other) = five_and_two_clients().await;
    let fenced = redlock.acquire("fenced").fenced().keep_alive().await.unwrap();
    let several = redlock.acquire_all(["a", "b"]).keep_alive().await.unwrap();
    let permit = redlock.semaphore("permits", 1).acquire().keep_alive().await.unwrap();
    let table = redlock.rw_lock("table");
    let readers =
        [table.read().keep_alive().await.unwrap(), table.read().keep_alive().await.unwrap()];
    let writer = redlock.rw_lock("other").write().keep_alive().await.unwrap();
    let in_turn = redlock.acquire("fair").fair(true).keep_alive().await.unwrap();
    let leader = redlock.election("e").campaign("here").await.unwrap();
    assert!(!fenced.is_wanted() && !several.is_wanted() && !permit.is_wanted());
    assert!(!readers.iter().any(|reader| reader.is_wanted()) && !writer.is_wanted());
    assert!(!in_turn.is_wanted() && !leader.is_wanted());
    tokio::spawn(other.acquire("fenced").timeout(Duration::MAX).into_future());
    tokio::spawn(other.acquire("b").timeout(Duration::MAX).into_future());
    tokio::spawn(other.semaphore("permits", 1).acquire().timeout(Duration::MAX).into_future());
    tokio::spawn(other.rw_lock("table").write().timeout(Duration::MAX).into_future());
    tokio::spawn(other.rw_lock("other").read().timeout(Duration::MAX).into_future());
    tokio::spawn(other.acquire("fair").fair(true).timeout(Duration::MAX).into_future());
    let election = other.election("e");
    tokio::spawn(async move { drop(election.campaign("there").await) });
    sleep(2 * SECOND).await;
    assert!(fenced.is_wanted() && several.is_wanted() && permit.is_wanted());
    assert!(readers.iter().all(|reader| reader.is_wanted()) && writer.is_wanted());
    assert!(in_turn.is_wanted() && leader.is_wanted());
}

#[tokio::test(start_paused = true)]
async fn an_ask_by_hand_releases_what_is_idle_and_says_which_processes_have_it() {
    let (masters, redlock, other) = five_and_two_clients().await;
    let look = async |resource: &str| other.inspect(resource).await.unwrap();
    assert_eq!(other.ask(&look(KEY).await).await, Ok(0), "it is free");
    let guard = redlock.acquire(KEY).await.unwrap();
    assert_eq!(other.ask(&look(KEY).await).await, Ok(1), "its process listens");
    drop(guard);
    settle().await;
    warm(&redlock).await.unwrap().release().await.unwrap();
    settle().await;
    assert_eq!(other.ask(&look(KEY).await).await, Ok(1));
    settle().await;
    assert_no_keys(&masters, "it was idle");

    let permit = redlock.semaphore("permits", 2).acquire().await.unwrap();
    assert!(!permit.is_wanted());
    settle().await;
    let permits = other.semaphore("permits", 2).inspect().await.unwrap();
    let held = permits.iter().find(|permit| permit.holder().is_some()).unwrap();
    assert_eq!(other.ask(held).await, Ok(1));
    settle().await;
    assert!(permit.is_wanted() && permit.is_valid());
    let readers = [redlock.rw_lock("t").read().await, other.rw_lock("t").read().await];
    let readers = readers.map(Result::unwrap);
    assert!(!readers.iter().any(|reader| reader.is_wanted()));
    settle().await;
    assert_eq!(redlock.ask(&redlock.inspect("t").await.unwrap()).await, Ok(2), "itself, too");
    settle().await;
    assert!(readers.iter().all(|reader| reader.is_wanted()));
    other.shutdown().await.unwrap();
    assert!(other.ask(held).await.is_err());
}

//! Waiting for a lock while masters are slow, far away or hang: being notified when it is free, and
//! asking one node first, is no worse than polling.

use super::*;

/// Number of rounds, and the largest effect that chance may have on their mean.
const ROUNDS: u32 = 60;
const CHANCE: Duration = Duration::from_millis(50);

struct Clients {
    ours: Redlock,
    theirs: Redlock,
    /// The node that both ask first.
    first: usize,
}

/// Connects two processes.
async fn clients(masters: &Masters, ttl: Duration, wake_ups: bool) -> Clients {
    let builder = || {
        let builder = masters.builder().ttl(ttl);
        if wake_ups { builder } else { builder.wake_ups(false) }
    };
    let (ours, observed) = Observed::connect(builder()).await;
    let first_of =
        |driver: &Option<Driver>| driver.as_ref()?.machine.masters().first_node(now(), KEY);
    let first = first_of(&observed.driver.lock().unwrap()).unwrap();
    Clients { ours, theirs: connect(builder()).await, first }
}

/// Returns how long after a release a waiter in another process is served, on average.
async fn served(Clients { ours, theirs, .. }: &Clients) -> Duration {
    let mut total = Duration::ZERO;
    for round in 0..ROUNDS {
        let held = theirs.acquire(KEY).timeout(30 * SECOND).keep_alive().await.unwrap();
        let waiting = async {
            let guard = ours.acquire(KEY).timeout(30 * SECOND).await.unwrap();
            (guard, now())
        };
        let holding = async {
            sleep(SECOND + 7 * round * MS).await;
            drop(held);
            now()
        };
        let ((guard, served), released) = tokio::join!(waiting, holding);
        total += served.since(released);
        drop(guard);
        sleep(SECOND / 2).await;
    }
    total / ROUNDS
}

/// Returns the times with wake-ups, and by polling alone; `befalls` is given the master that all
/// ask first.
async fn compared(ttl: Duration, befalls: impl Fn(&Masters, usize)) -> [Duration; 2] {
    let mut means = [Duration::ZERO; 2];
    for (mean, wake_ups) in means.iter_mut().zip([true, false]) {
        let masters = five();
        let clients = clients(&masters, ttl, wake_ups).await;
        befalls(&masters, clients.first);
        *mean = served(&clients).await;
    }
    means
}

/// It answers after more than an operation timeout, and before its connection is replaced.
#[tokio::test(start_paused = true)]
async fn a_waiter_that_asks_a_slow_master_first_waits_no_longer() {
    let [woken, polling] =
        compared(TTL, |masters, first| masters[first].set_latency(300 * MS)).await;
    assert!(woken < polling + CHANCE, "{woken:?}, and {polling:?} by polling");
}

/// Two round trips take longer than a round may, which is a tenth of the ttl.
#[tokio::test(start_paused = true)]
async fn distant_masters_delay_no_waiter_that_asks_one_of_them_first() {
    let far = |masters: &Masters, _| masters.iter().for_each(|master| master.set_latency(60 * MS));
    let [woken, polling] = compared(SECOND, far).await;
    assert!(woken < polling + CHANCE, "{woken:?}, and {polling:?} by polling");
}

/// With masters that are up but far away, a lock that others take all the time is at most
/// contended.
#[tokio::test(start_paused = true)]
async fn a_lock_taken_on_distant_masters_is_contended_and_no_outage() {
    for rtt in [60, 90] {
        let masters = five();
        let Clients { ours, theirs, .. } = clients(&masters, SECOND, true).await;
        masters.iter().for_each(|master| master.set_latency(rtt * MS));
        let busy = tokio::spawn(async move {
            loop {
                let held = theirs.acquire(KEY).timeout(60 * SECOND).await.unwrap();
                sleep(150 * MS).await;
                held.release().await.unwrap();
                sleep(20 * MS).await;
            }
        });
        for _ in 0..100 {
            match ours.acquire(KEY).timeout(400 * MS).await {
                Ok(guard) => drop(guard),
                Err(error) => assert!(error.is_contended(), "{error}"),
            }
            sleep(63 * MS).await;
        }
        busy.abort();
    }
}

/// Whichever master it is, and whenever the wait ends: another client holds the lock, and the error
/// says so.
#[tokio::test(start_paused = true)]
async fn a_wait_ends_contended_though_a_master_hangs_at_its_end() {
    let masters = five();
    let Clients { ours, theirs, first } = clients(&masters, TTL, true).await;
    let _held = theirs.acquire(KEY).keep_alive().await.unwrap();
    for wait in (300..1_500).step_by(50) {
        let hangs = async {
            sleep((wait - 150) * MS).await;
            masters[first].pause();
        };
        let wait = async { ours.acquire(KEY).timeout(wait * MS).await.unwrap_err() };
        let (refused, ()) = tokio::join!(wait, hangs);
        assert!(refused.is_contended(), "{refused}");
        masters[first].resume();
        sleep(SECOND).await;
    }
}

//! What stays closed after the work, for how long to the millisecond, and what does not.

use super::*;
use crate::AcquireError;
use crate::failure::OnceError;
use crate::kind::Kind;
use crate::once::Ran;
use std::convert::Infallible;

/// The time for which a key stays.
const LEAST: Duration = Duration::from_secs(20);
/// Its life with the drift: 1 % and 2 ms.
const LIFE: Duration = Duration::from_millis(20_202);

async fn five_and_two_clients() -> (Masters, Redlock, Redlock) {
    let masters = five();
    let (first, second) = (connect(masters.builder()).await, connect(masters.builder()).await);
    (masters, first, second)
}

/// Asserts that all masters keep the key for so long.
fn assert_lives(masters: &Masters, life: Duration) {
    for (node, master) in masters.iter().enumerate() {
        assert_eq!(master.time_to_live(KEY), Some(life), "master {node}");
    }
}

async fn is_closed(redlock: &Redlock) -> bool {
    match redlock.try_acquire(KEY).await {
        Ok(guard) => {
            drop(guard);
            settle().await;
            false
        }
        Err(error) => {
            assert!(error.is_contended(), "{error}");
            true
        }
    }
}

/// Asserts that the resource is closed for the rest of the time since `began`, and open after it.
async fn opens_in_time<K: Kind>(redlock: &Redlock, guard: Guard<K>, began: Instant) {
    guard.release().await.unwrap();
    sleep((LEAST - 2 * MS).saturating_sub(now().since(began))).await;
    assert!(is_closed(redlock).await, "after {:?}", now().since(began));
    sleep(LIFE - LEAST + 4 * MS).await;
    assert!(!is_closed(redlock).await, "after {:?}", now().since(began));
}

#[tokio::test(start_paused = true)]
async fn work_that_ends_well_keeps_the_resource_closed_from_its_start() {
    let (masters, redlock, other) = five_and_two_clients().await;
    let began = now();
    let guard = redlock.acquire(KEY).min_hold(LEAST).await.unwrap();
    assert_eq!(guard.remaining(), VALIDITY, "of the ttl");
    settle().await;
    assert_lives(&masters, LIFE - MS);
    sleep(5 * SECOND - MS).await;
    guard.release().await.unwrap();
    assert_lives(&masters, 15_152 * MS);
    sleep(LEAST - 2 * MS - now().since(began)).await;
    assert!(is_closed(&redlock).await && is_closed(&other).await);
    sleep(200 * MS).await;
    assert!(!is_closed(&other).await);
}

#[tokio::test(start_paused = true)]
async fn every_kind_of_lock_stays_closed() {
    let (_masters, redlock, other) = five_and_two_clients().await;
    let fenced = redlock.acquire(KEY).min_hold(LEAST).fenced();
    opens_in_time(&other, fenced.await.unwrap(), now()).await;
    let both = redlock.acquire_all([KEY, "z"]).min_hold(LEAST);
    opens_in_time(&other, both.await.unwrap(), now()).await;
    let kept = redlock.acquire(KEY).keep_alive().min_hold(LEAST).ttl(2 * SECOND).await.unwrap();
    let began = now();
    sleep(7 * SECOND).await;
    opens_in_time(&other, kept, began).await;
    let began = now();
    redlock.acquire(KEY).min_hold(LEAST).run(async |_| 7).await.unwrap();
    let kept = other.acquire(KEY).timeout(Duration::MAX).await.unwrap();
    assert!(now().since(began) >= LEAST, "{:?}", now().since(began));
    drop(kept);
}

#[tokio::test(start_paused = true)]
async fn what_does_not_end_well_opens_at_once() {
    let (masters, redlock, other) = five_and_two_clients().await;
    drop(redlock.acquire(KEY).min_hold(LEAST).await.unwrap());
    settle().await;
    assert_no_keys(&masters, "dropped");
    let panics = redlock.once(KEY, LEAST);
    let panics = tokio::spawn(panics.run(async |_| -> Result<(), ()> { panic!("planned") }));
    assert!(panics.await.unwrap_err().is_panic());
    settle().await;
    assert_no_keys(&masters, "after a panic");
    let fails = redlock.once(KEY, LEAST).run(async |_| Err::<(), _>("the body's own"));
    assert_eq!(fails.await, Err(OnceError::Failed("the body's own")));
    assert_no_keys(&masters, "after an error");
    assert!(!is_closed(&other).await);
    let late = redlock.acquire(KEY).min_hold(2 * SECOND).await.unwrap();
    sleep(2 * SECOND).await;
    late.release().await.unwrap();
    assert_no_keys(&masters, "after that time");
}

#[tokio::test(start_paused = true)]
async fn a_crash_keeps_the_resource_closed_from_the_start() {
    let (masters, redlock, other) = five_and_two_clients().await;
    for ttl in [2 * SECOND, TTL] {
        let crashing = connect(masters.builder()).await;
        let began = now();
        let guard = crashing.acquire(KEY).ttl(ttl).keep_alive().min_hold(LEAST).await.unwrap();
        sleep(3 * SECOND).await;
        // From now on nothing extends or releases it.
        crashing.shutdown().await.unwrap();
        drop(guard);
        assert!(is_closed(&redlock).await);
        let next = other.acquire(KEY).timeout(Duration::MAX).await.unwrap();
        let after = now().since(began);
        assert!(after >= LEAST && after <= LIFE + SECOND, "{after:?} with {ttl:?}");
        next.release().await.unwrap();
    }
}

/// A job that is longer than its period: nothing is left of the time, and a crash costs a ttl.
#[tokio::test(start_paused = true)]
async fn extensions_prolong_by_the_ttl_alone() {
    let (masters, redlock, _) = five_and_two_clients().await;
    let guard = redlock.acquire(KEY).ttl(2 * SECOND).keep_alive().min_hold(LEAST).await.unwrap();
    sleep(30 * SECOND).await;
    let left = masters[0].time_to_live(KEY).unwrap();
    assert!(left <= 2 * SECOND, "{left:?}");
    guard.release().await.unwrap();
    assert_no_keys(&masters, "after that time");
}

#[tokio::test(start_paused = true)]
async fn once_runs_for_one_of_all_within_the_time() {
    let (_masters, redlock, other) = five_and_two_clients().await;
    let mut runs = Vec::new();
    let began = now();
    while now().since(began) < 5 * LEAST {
        for client in [&redlock, &other] {
            let once = client.once(KEY, LEAST);
            let ran = once.run(async |_| Ok::<_, Infallible>(now())).await.unwrap();
            runs.extend(match ran {
                Ran::Done(at) => Some(at),
                Ran::Skipped => None,
            });
        }
        sleep(50 * MS).await;
    }
    assert_eq!(runs.len(), 5, "{runs:?}");
    assert!(runs.windows(2).all(|two| two[1].since(two[0]) >= LEAST), "{runs:?}");
    // The body of one client is still at work.
    let slow = redlock.once(KEY, SECOND).ttl(2 * SECOND);
    sleep(LEAST).await;
    let slow = tokio::spawn(slow.run(async |lease| {
        sleep(LEAST).await;
        lease.check().map(|_| ())
    }));
    sleep(LEAST / 2).await;
    let refused = other.once(KEY, SECOND).run(async |_| Ok::<(), ()>(())).await;
    assert_eq!(refused, Ok(Ran::Skipped));
    assert_eq!(slow.await.unwrap(), Ok(Ran::Done(())));
}

#[tokio::test(start_paused = true)]
async fn once_reports_an_outage_and_a_loss() {
    let (masters, redlock, _) = five_and_two_clients().await;
    let once = || redlock.once(KEY, LEAST);
    let lost = once().run(async |lease| {
        masters[..3].iter().for_each(Master::kill);
        lease.lost().await;
        Ok::<_, ()>(7)
    });
    let Err(OnceError::Lost { result, .. }) = lost.await else { panic!("it is not lost") };
    assert_eq!(result, None, "the body is dropped");
    let Err(OnceError::NotAcquired(outage)) = once().run(async |_| Ok::<_, ()>(7)).await else {
        panic!("there is no quorum")
    };
    assert!(outage.is_no_quorum(), "{outage}");
}

/// What it has begun may be as far as that of a holder that has crashed.
#[tokio::test(start_paused = true)]
async fn a_lost_guard_leaves_the_keys() {
    let (masters, redlock, other) = five_and_two_clients().await;
    let guard = redlock.acquire(KEY).min_hold(LEAST).await.unwrap();
    guard.lost().await;
    let left = masters[0].time_to_live(KEY);
    guard.release().await.unwrap_err();
    settle().await;
    assert!(left > Some(9 * SECOND) && masters[0].time_to_live(KEY) > Some(9 * SECOND));
    assert!(is_closed(&other).await);
}

#[tokio::test(start_paused = true)]
async fn the_last_guard_of_a_reentrant_handle_decides() {
    let (masters, redlock, _) = five_and_two_clients().await;
    let locks = redlock.reentrant();
    for well in [true, false] {
        let outer = locks.acquire(KEY).min_hold(LEAST).await.unwrap();
        let inner = locks.acquire(KEY).await.unwrap();
        assert_eq!(inner.release().await, Ok(None));
        settle().await;
        if well {
            outer.release().await.unwrap();
            assert_lives(&masters, LIFE - MS);
            sleep(LIFE).await;
        } else {
            drop(outer);
            settle().await;
            assert_no_keys(&masters, "the last one was dropped");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_shutdown_settles_what_is_owed_and_takes_it_to_the_master() {
    let (masters, redlock, _) = five_and_two_clients().await;
    let guard = redlock.acquire(KEY).min_hold(LEAST).keep_alive().await.unwrap();
    sleep(SECOND).await;
    masters[0].pause();
    guard.release().await.unwrap();
    masters[0].resume();
    redlock.shutdown().await.unwrap();
    let left = masters[0].time_to_live(KEY).unwrap();
    assert!(left > 18 * SECOND && left <= 19_192 * MS, "{left:?}");
}

#[tokio::test(start_paused = true)]
async fn a_forced_release_opens_the_resource() {
    let (_masters, redlock, other) = five_and_two_clients().await;
    redlock.acquire(KEY).min_hold(LEAST).await.unwrap().release().await.unwrap();
    let inspection = other.inspect(KEY).await.unwrap();
    assert!(inspection.holder().is_some());
    other.force_release(&inspection).await.unwrap();
    assert!(!is_closed(&other).await);
}

/// The waiter that is next in this process tries at once, is refused, and then asks now and then.
#[tokio::test(start_paused = true)]
async fn a_waiter_in_this_process_does_not_spin() {
    let masters = five();
    let (redlock, driver) = Observed::connect(masters.builder()).await;
    let guard = redlock.acquire(KEY).min_hold(LEAST).await.unwrap();
    let began = now();
    let waiting = redlock.clone();
    let waiting =
        tokio::spawn(
            async move { waiting.acquire(KEY).timeout(Duration::MAX).await.map(|_| now()) },
        );
    settle().await;
    guard.release().await.unwrap();
    let before = driver.polls();
    let won = waiting.await.unwrap().unwrap();
    assert!(won.since(began) >= LEAST, "{:?}", won.since(began));
    let polls = driver.polls() - before;
    assert!(polls < 3_000, "{polls} turns of the driver in {:?}", won.since(began));
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_promised_is_refused_with_a_remedy() {
    let (masters, redlock, _) = five_and_two_clients().await;
    let refused = |error: AcquireError| match error {
        AcquireError::InvalidSetting(invalid) => invalid.to_string(),
        other => panic!("{other}"),
    };
    let hourly = redlock.acquire(KEY).min_hold(3600 * SECOND).await.unwrap_err();
    assert_eq!(
        refused(hourly),
        "min_hold: 1h is above max_ttl (30s), and masters that have restarted remember no longer: \
         raise max_ttl, and a master that has restarted does not vote for 1h 36s \
         2ms; or let a unique key in the database that the job writes to decide"
    );
    let ran = redlock.once(KEY, Duration::ZERO).run(async |_| Ok::<(), ()>(())).await;
    let Err(OnceError::NotAcquired(error)) = ran else { panic!("{ran:?}") };
    assert!(refused(error).starts_with("period: once() needs a period"));
    // The longest that there is.
    drop(redlock.acquire(KEY).min_hold(30 * SECOND).await.unwrap());
    settle().await;
    assert_no_keys(&masters, "the rest was not sent");
}

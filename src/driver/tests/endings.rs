//! The beginning and the end of a driver: how long they take, and that nothing stays.

use super::*;
use crate::AcquireError;
use crate::embedded::Master;
use crate::failure::LossReason;
use std::future::IntoFuture;
use tokio::time::Instant;

/// Time for which a shutdown goes on paying debts: to redial a master once, and for a slow one to
/// answer.
const LINGER: Duration = CONNECT_TIMEOUT.saturating_add(OPERATION_TIMEOUT.saturating_mul(3));

#[tokio::test(start_paused = true)]
async fn a_connect_waits_its_timeout_for_silent_masters_not_dead_ones() {
    let masters = five();
    let began = Instant::now();
    masters[..3].iter().for_each(Master::kill);
    let redlock = connect(masters.builder()).await;
    assert_eq!(began.elapsed(), Duration::ZERO);
    assert!(redlock.try_acquire(KEY).await.unwrap_err().is_no_quorum());
    masters[3].pause();
    masters[4].partition();
    connect(masters.builder()).await;
    assert_eq!(began.elapsed(), CONNECT_TIMEOUT);
}

#[tokio::test(start_paused = true)]
async fn a_shutdown_without_debts_takes_no_time_and_ends_every_task() {
    let (masters, redlock) = five_and_client().await;
    assert_eq!(tasks(), 1 + masters.len(), "a driver, and a connection at each master");
    let (released, held) =
        (redlock.acquire("r").await.unwrap(), redlock.acquire(KEY).await.unwrap());
    released.release().await.unwrap();
    let began = Instant::now();
    let (ended, loss) = tokio::join!(redlock.shutdown(), held.lost());
    ended.unwrap();
    assert_eq!(loss.reason, LossReason::Closed);
    assert_eq!(began.elapsed(), Duration::ZERO);
    assert!(matches!(redlock.acquire("r").await, Err(AcquireError::Closed(_))));
    settle().await;
    assert_eq!(tasks(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_shutdown_takes_as_long_as_the_last_confirmation_and_the_last_farewell() {
    let (masters, redlock) = five_and_client().await;
    drop(redlock.acquire(KEY).await.unwrap());
    for (place, master) in (1..).zip(masters.iter()) {
        master.set_latency(40 * place * MS);
    }
    let began = Instant::now();
    redlock.shutdown().await.unwrap();
    assert_eq!(began.elapsed(), 2 * 200 * MS);
    assert_no_keys(&masters, "after the shutdown");
}

#[tokio::test(start_paused = true)]
async fn a_shutdown_ends_after_its_linger_though_releases_are_owed() {
    type Fault = fn(&Master);
    for fault in [Master::kill as Fault, Master::pause, Master::partition] {
        let (masters, redlock) = five_and_client().await;
        let guard = redlock.acquire(KEY).ttl(TTL).await.unwrap();
        settle().await;
        masters[1..].iter().for_each(fault);
        drop(guard);
        let waiting = tokio::spawn(redlock.acquire("other").into_future());
        let began = Instant::now();
        let undrained = redlock.shutdown().await.unwrap_err();
        assert_eq!((undrained.owed, began.elapsed()), (4, LINGER));
        assert!(matches!(waiting.await.unwrap(), Err(AcquireError::Closed(_))));
        drop(masters);
        settle().await;
        assert_eq!(tasks(), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn a_shutdown_redials_a_returned_master_and_settles_its_debts() {
    let (masters, redlock) = five_and_client().await;
    let guard = redlock.acquire(KEY).ttl(TTL).await.unwrap();
    settle().await;
    masters[0].kill();
    drop(guard);
    // Long enough for the pause between two dials to have grown beyond the whole shutdown.
    sleep(5 * SECOND).await;
    masters[0].restart(crate::embedded::Memory::Kept).unwrap();
    assert_eq!(holders(&masters), [0]);
    let began = Instant::now();
    redlock.shutdown().await.unwrap();
    assert_eq!(began.elapsed(), Duration::ZERO);
    assert_no_keys(&masters, "after the shutdown");
}

#[tokio::test(start_paused = true)]
async fn a_driver_ends_with_its_last_handle_once_its_debts_are_paid() {
    let (masters, redlock) = five_and_client().await;
    let guard = redlock.acquire(KEY).ttl(TTL).await.unwrap();
    settle().await;
    masters.iter().for_each(|master| master.set_latency(100 * MS));
    drop(redlock);
    sleep(SECOND).await;
    assert!(guard.is_valid(), "a guard is a handle");
    drop(guard);
    sleep(99 * MS).await;
    assert_eq!(tasks(), 1 + masters.len());
    sleep(2 * MS).await;
    assert_no_keys(&masters, "after the last handle");
    // And what it has noted is taken back.
    sleep(100 * MS).await;
    assert_eq!(tasks(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_shutdown_takes_back_an_undelivered_win_and_reports_closed() {
    let (masters, redlock) = five_and_client().await;
    let mut acquire = Box::pin(redlock.acquire(KEY).into_future());
    assert!(futures::poll!(&mut acquire).is_pending());
    settle().await;
    assert_eq!(holders(&masters).len(), 5, "won, and not yet picked up");
    redlock.shutdown().await.unwrap();
    assert!(matches!(acquire.await, Err(AcquireError::Closed(_))));
    assert_no_keys(&masters, "taken back");
}

#[tokio::test(start_paused = true)]
async fn a_win_on_its_way_when_the_driver_dies_is_reported_as_closed() {
    let masters = five();
    let (redlock, observed) = Observed::connect(masters.builder()).await;
    let mut acquire = Box::pin(redlock.acquire(KEY).into_future());
    assert!(futures::poll!(&mut acquire).is_pending());
    settle().await;
    observed.driver.lock().unwrap().as_mut().unwrap().callers.end_holds(now());
    assert!(matches!(acquire.await, Err(AcquireError::Closed(_))));
}

#[tokio::test(start_paused = true)]
async fn a_dial_that_panics_is_a_dial_that_failed() {
    let masters = five();
    let builder = masters.builder();
    let dials = Arc::new(AtomicUsize::new(0));
    let counted = dials.clone();
    let builder = builder.node_with_connector("redis://10.0.0.6", move || {
        counted.fetch_add(1, SeqCst);
        async { panic!("on purpose") as std::io::Result<tokio::io::DuplexStream> }
    });
    let redlock = connect(builder).await;
    sleep(SECOND).await;
    assert!(dials.load(SeqCst) > 2, "it is dialled again");
    redlock.acquire(KEY).await.unwrap().release().await.unwrap();
    masters[..3].iter().for_each(Master::kill);
    let error = redlock.try_acquire(KEY).await.unwrap_err().to_string();
    assert!(error.contains("10.0.0.6:6379 down (the dial panicked)"), "{error}");
}

/// The call's ttl, and the life that the lock-delay gives the keys, count; the builder's do not.
#[tokio::test(start_paused = true)]
async fn a_shutdown_waits_as_long_as_there_is_anything_to_delete() {
    let short = 200 * MS;
    for (ttl, delay, waits) in [
        (TTL, Duration::ZERO, LINGER),
        (short, Duration::ZERO, short),
        (short, 300 * MS, 500 * MS),
        (short, TTL, LINGER),
    ] {
        for builders in [short, TTL] {
            let masters = five();
            let redlock = connect(masters.builder().ttl(builders)).await;
            let guard = redlock.acquire(KEY).ttl(ttl).lock_delay(delay).await.unwrap();
            settle().await;
            masters[1..].iter().for_each(Master::partition);
            drop(guard);
            let began = Instant::now();
            let undrained = redlock.shutdown().await.unwrap_err();
            let claim = format!("{ttl:?} and {delay:?}, the builder's {builders:?}");
            assert_eq!((undrained.owed, began.elapsed()), (4, waits), "{claim}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_shutdown_settles_with_a_master_back_before_the_key_expires() {
    let masters = five();
    let redlock = connect(masters.builder().ttl(200 * MS)).await;
    let guard = redlock.acquire(KEY).ttl(TTL).await.unwrap();
    settle().await;
    masters[0].partition();
    drop(guard);
    let (ended, ()) = tokio::join!(redlock.shutdown(), async {
        sleep(500 * MS).await;
        masters[0].heal();
    });
    ended.unwrap();
    assert_no_keys(&masters, "after the shutdown");
}

#[tokio::test(start_paused = true)]
async fn a_shutdown_ends_each_kind_of_call_that_waits_at_once() {
    let masters = five();
    let (ours, theirs) = (connect(masters.builder()).await, connect(masters.builder()).await);
    let held = theirs.acquire_all([KEY, "table", "boss"]).keep_alive().await.unwrap();
    let permit = theirs.semaphore("permits", 1).acquire().keep_alive().await.unwrap();
    let guard = ours.acquire("own").keep_alive().await.unwrap();
    let (lost, wanted) = (guard.lease(), guard.lease());
    let (table, election) = (ours.rw_lock("table"), ours.election("boss"));
    let mut leaders = election.observe();
    leaders.next().await.unwrap().unwrap();
    let (nested, run) = (ours.reentrant().acquire(KEY), ours.acquire(KEY).timeout(Duration::MAX));
    let (permits, all) = (ours.semaphore("permits", 1), ours.acquire_all(["s", KEY]));
    settle().await;
    let waits: [(&str, Waits); 14] = [
        ("plain", waits(ours.acquire(KEY).timeout(Duration::MAX))),
        ("fair", waits(ours.acquire(KEY).fair(true).timeout(Duration::MAX))),
        ("fenced", waits(ours.acquire(KEY).fenced().timeout(Duration::MAX))),
        ("all", waits(all.timeout(Duration::MAX))),
        ("read", waits(table.read().timeout(Duration::MAX))),
        ("write", waits(table.write().timeout(Duration::MAX))),
        ("permit", waits(permits.acquire().timeout(Duration::MAX))),
        ("reentrant", waits(nested.timeout(Duration::MAX))),
        ("run", waits(run.run(async |_| ()))),
        ("campaign", waits(election.campaign("me"))),
        ("lead", waits(election.run("me", async |_| ()))),
        ("observe", waits(async move { leaders.next().await })),
        ("lost", waits(async move { lost.lost().await })),
        ("wanted", waits(async move { wanted.wanted().await })),
    ];
    sleep(SECOND).await;
    for (call, task) in &waits {
        assert!(!task.is_finished(), "{call} waits");
    }
    let began = Instant::now();
    ours.shutdown().await.unwrap();
    settle().await;
    for (call, task) in &waits {
        assert!(task.is_finished(), "{call} goes on");
    }
    assert_eq!(began.elapsed(), MS);
    drop((held, permit));
}

type Waits = tokio::task::JoinHandle<()>;

/// Begins a call on a task of its own.
fn waits<F>(call: F) -> Waits
where
    F: IntoFuture<Output: Send, IntoFuture: Send + 'static>,
{
    let call = call.into_future();
    tokio::spawn(async move { drop(call.await) })
}

/// A holder is told at once, and so is each caller. Its keys expire.
#[tokio::test(start_paused = true)]
async fn a_client_that_finds_a_fault_of_its_own_ends_and_says_so() {
    let masters = five();
    let (redlock, observed) = Observed::connect(masters.builder().ttl(TTL)).await;
    let held = redlock.acquire(KEY).await.unwrap();
    let other = connect(masters.builder()).await;
    let waits = tokio::spawn(other.acquire(KEY).timeout(60 * SECOND).into_future());
    let waits_here = tokio::spawn(redlock.acquire(KEY).timeout(60 * SECOND).into_future());
    sleep(SECOND).await;
    observed.breaks();
    redlock.acquire("r").await.unwrap_err();
    let lost = held.lost().await;
    assert!(matches!(lost.reason, LossReason::Broken(_)), "{lost}");
    assert_eq!(lost.held_for, SECOND);
    let text = "a key has a second holder in this process, a fault of quorumlock: report it";
    for error in [redlock.acquire("r").await.unwrap_err(), waits_here.await.unwrap().unwrap_err()] {
        assert!(
            matches!(error, AcquireError::Closed(_)) && error.to_string().contains(text),
            "{error}"
        );
    }
    drop(held);
    drop(waits.await.unwrap().unwrap());
}

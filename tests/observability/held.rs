//! The gauges of locks held and of waiters: each kind has its own, and each end takes its share away.

use crate::exposed::Exposed;
use crate::scenario::{PATIENCE, client, exposed, recorder};
use crate::support::poll::eventually;
use futures::FutureExt;
use metrics_exporter_prometheus::PrometheusHandle;
use quorumlock::Redlock;
use quorumlock::embedded::Masters;
use std::future::IntoFuture;
use std::time::Duration;

const KINDS: [&str; 6] = ["plain", "fenced", "permit", "reader", "writer", "leader"];

/// Returns the value for each kind.
#[allow(clippy::cast_possible_truncation)] // Whole numbers.
fn by_kind(exposed: &Exposed, gauge: &str) -> [i64; 6] {
    KINDS.map(|kind| exposed.sum(gauge, &[("kind", kind)]).round() as i64)
}

fn held(handle: &PrometheusHandle) -> [i64; 6] {
    by_kind(&exposed(handle), "quorumlock_held_locks")
}

#[allow(clippy::cast_possible_truncation)] // A whole number.
fn idle(handle: &PrometheusHandle) -> i64 {
    exposed(handle).sum("quorumlock_idle_locks", &[]).round() as i64
}

fn waiting(handle: &PrometheusHandle) -> [i64; 6] {
    by_kind(&exposed(handle), "quorumlock_waiting_callers")
}

/// The driver reports at the end of its turn, which may be after its caller has the answer.
async fn eventually_held(handle: &PrometheusHandle, expected: [i64; 6]) {
    let what = format!("{expected:?} are held");
    eventually(&what, PATIENCE, async || held(handle) == expected).await;
}

async fn start() -> (Masters, Redlock) {
    let masters = Masters::start_in_memory(3).unwrap();
    let redlock = client(&masters).connect().await.unwrap();
    (masters, redlock)
}

#[tokio::test]
async fn each_kind_is_counted_while_it_is_held() {
    let recorder = recorder();
    let handle = recorder.handle();
    let _recording = metrics::set_default_local_recorder(&recorder);
    let (_masters, redlock) = start().await;
    assert_eq!(held(&handle), [0; 6], "registered at zero");

    let plain = redlock.acquire("plain").keep_alive().await.unwrap();
    let both = redlock.acquire_all(["a", "b"]).keep_alive().await.unwrap();
    let fenced = redlock.acquire("fenced").fenced().keep_alive().await.unwrap();
    let permit = redlock.semaphore("s", 3).acquire().keep_alive().await.unwrap();
    let table = redlock.rw_lock("table");
    let reader = table.read().keep_alive().await.unwrap();
    let other = redlock.rw_lock("other").write().fenced().keep_alive().await.unwrap();
    let leader = redlock.election("e").campaign("here").await.unwrap();
    eventually_held(&handle, [2, 1, 1, 1, 1, 1]).await;
    assert_eq!(waiting(&handle), [0; 6], "each has its answer");

    // A writer that goes on as a reader.
    let downgraded = other.downgrade().await.unwrap();
    eventually_held(&handle, [2, 1, 1, 2, 0, 1]).await;
    // One that goes away, and comes back.
    let detached = fenced.detach().await.unwrap();
    eventually_held(&handle, [2, 0, 1, 2, 0, 1]).await;
    let adopted = redlock.adopt(detached).keep_alive().await.unwrap();
    eventually_held(&handle, [2, 1, 1, 2, 0, 1]).await;

    plain.release().await.unwrap();
    drop((both, permit, reader));
    downgraded.release().await.unwrap();
    adopted.forget();
    leader.resign().await.unwrap();
    eventually_held(&handle, [0; 6]).await;
    redlock.shutdown().await.unwrap();
}

#[tokio::test]
async fn a_lock_that_is_lost_or_whose_client_ends_is_not_held() {
    let recorder = recorder();
    let handle = recorder.handle();
    let _recording = metrics::set_default_local_recorder(&recorder);
    let (masters, redlock) = start().await;
    let kept = redlock.acquire("kept").keep_alive().await.unwrap();
    let lost = redlock.acquire("lost").timeout(Duration::from_secs(1)).await.unwrap();
    eventually_held(&handle, [2, 0, 0, 0, 0, 0]).await;
    lost.lost().await;
    // The guard is still there.
    eventually_held(&handle, [1, 0, 0, 0, 0, 0]).await;
    redlock.shutdown().await.unwrap();
    eventually_held(&handle, [0; 6]).await;
    drop((kept, lost, masters));
}

#[tokio::test]
async fn a_lock_that_is_kept_warm_is_idle_until_it_is_acquired_or_released() {
    let recorder = recorder();
    let handle = recorder.handle();
    let _recording = metrics::set_default_local_recorder(&recorder);
    let (_masters, redlock) = start().await;
    assert_eq!(idle(&handle), 0, "registered at zero");
    let acquire = async |name: &str| {
        let acquire = redlock.acquire(name).lock_delay(Duration::ZERO).ttl(Duration::from_secs(3));
        acquire.keep_warm(Duration::from_secs(3)).timeout(PATIENCE).await.unwrap()
    };
    // All of them are released before long, however busy the machine is.
    let given_back = async |expected: i64| {
        let (a, b) = (acquire("a").await, acquire("b").await);
        a.release().await.unwrap();
        b.release().await.unwrap();
        // The driver reports at the end of its turn.
        tokio::task::yield_now().await;
        idle(&handle) == expected
    };
    eventually("two are idle", PATIENCE, async || given_back(2).await).await;
    let again = async || {
        given_back(2).await;
        let guard = acquire("a").await;
        tokio::task::yield_now().await;
        let is_one = idle(&handle) == 1;
        drop(guard);
        is_one
    };
    eventually("a guard has one of them", PATIENCE, again).await;
    eventually("none is left", PATIENCE, async || idle(&handle) == 0).await;
    given_back(2).await;
    redlock.shutdown().await.unwrap();
    assert_eq!(idle(&handle), 0, "a client that has ended keeps none");
}

#[tokio::test]
async fn each_caller_that_waits_is_counted_until_it_has_its_answer_or_is_gone() {
    let recorder = recorder();
    let handle = recorder.handle();
    let _recording = metrics::set_default_local_recorder(&recorder);
    let (masters, redlock) = start().await;
    let holder = client(&masters).connect().await.unwrap();
    let plain = holder.acquire("plain").keep_alive().await.unwrap();
    let permit = holder.semaphore("s", 1).acquire().keep_alive().await.unwrap();
    let writer = holder.rw_lock("table").write().keep_alive().await.unwrap();
    let leader = holder.election("e").campaign("there").await.unwrap();

    let mut waiter = redlock.acquire("plain").timeout(Duration::MAX).into_future();
    let mut fenced = redlock.acquire("plain").fenced().timeout(Duration::MAX).into_future();
    let mut seeker = redlock.semaphore("s", 1).acquire().timeout(Duration::MAX).into_future();
    let table = redlock.rw_lock("table");
    let mut reader = table.read().timeout(Duration::MAX).into_future();
    let mut another = table.write().timeout(Duration::MAX).into_future();
    let election = redlock.election("e");
    let mut candidate = Box::pin(election.campaign("here").into_future());
    assert_eq!(waiting(&handle), [0; 6], "nothing is asked before the first poll");
    assert!((&mut waiter).now_or_never().is_none());
    assert!((&mut fenced).now_or_never().is_none());
    assert!((&mut seeker).now_or_never().is_none());
    assert!((&mut reader).now_or_never().is_none());
    assert!((&mut another).now_or_never().is_none());
    assert!((&mut candidate).now_or_never().is_none());
    assert_eq!(waiting(&handle), [1; 6]);

    drop((fenced, reader, another));
    assert_eq!(waiting(&handle), [1, 0, 1, 0, 0, 1], "who is gone does not wait");
    plain.release().await.unwrap();
    let _plain = waiter.await.unwrap();
    assert_eq!(waiting(&handle), [0, 0, 1, 0, 0, 1]);
    // A refusal that no master has seen waits for nothing.
    redlock.acquire("").await.unwrap_err();
    redlock.shutdown().await.unwrap();
    seeker.await.unwrap_err();
    candidate.await.unwrap_err();
    assert_eq!(waiting(&handle), [0; 6]);
    drop((permit, writer, leader));
}

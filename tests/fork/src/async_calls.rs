//! Clients of the async API. Whatever runtime runs them, no call waits for it in a fork: each is ready at its first
//! poll.

use crate::child::in_a_fork;
use crate::masters::Masters;
use crate::{assert_all_refused, refused};
use futures::FutureExt;
use quorumlock::{AcquireFuture, Released};
use std::fmt::Display;
use std::future::IntoFuture;
use std::time::Duration;
use tokio::runtime::Builder;

const WARM: Duration = Duration::from_secs(60);
const PERIOD: Duration = Duration::from_secs(10);
const HOUR: Duration = Duration::from_secs(3_600);

/// Returns the text of what has to be an error, at once.
fn at_once<T, E: Display>(call: impl IntoFuture<Output = Result<T, E>>) -> String {
    call.into_future().now_or_never().map_or_else(|| "it waits".into(), refused)
}

#[test]
fn each_call_fails_at_its_first_poll_in_a_fork_and_the_parent_goes_on() {
    for mut flavor in [Builder::new_current_thread(), Builder::new_multi_thread()] {
        let runtime = flavor.worker_threads(1).enable_all().build().unwrap();
        runtime.block_on(all_calls(&Masters::start(3)));
    }
}

async fn all_calls(masters: &Masters) {
    let redlock = masters.builder().connect().await.unwrap();
    let other = masters.builder().connect().await.unwrap();
    let held = redlock.acquire("held").keep_alive().await.unwrap();
    redlock.acquire("warm").keep_warm(WARM).await.unwrap().release().await.unwrap();
    let (rw_lock, semaphore) = (redlock.rw_lock("table"), redlock.semaphore("permits", 2));
    let (election, reentrant) = (redlock.election("scheduler"), redlock.reentrant());
    let nested = reentrant.acquire("nested").await.unwrap();
    let released = redlock.acquire("released").await.unwrap();
    let detached = redlock.acquire("detached").await.unwrap();
    let write = rw_lock.write().await.unwrap();
    let value = other.acquire("value").await.unwrap().detach().await.unwrap();
    let led = election.campaign("me").await.unwrap();
    let inspection = redlock.inspect("held").await.unwrap();
    let reader = inspection.holder().unwrap().clone();
    // One that another task of the parent had begun.
    let (mut waits, mut enters) =
        (waiting(redlock.acquire("held")), waiting(reentrant.acquire("held")));
    assert!((&mut waits).now_or_never().is_none() && (&mut enters).now_or_never().is_none());
    let heard = in_a_fork(|say| {
        let says = |call: &str, text: String| say(&format!("{call}: {text}"));
        says("acquire", at_once(redlock.acquire("r").timeout(Duration::MAX)));
        says("try_acquire", at_once(redlock.try_acquire("r")));
        says("fair", at_once(redlock.acquire("r").fair(true)));
        says("fenced", at_once(redlock.acquire("r").fenced()));
        says("warm", at_once(redlock.acquire("warm").keep_warm(WARM)));
        says("acquire_all", at_once(redlock.acquire_all(["r", "s"])));
        says("try_acquire_all", at_once(redlock.try_acquire_all(["r", "s"])));
        says("run", at_once(redlock.acquire("r").run(async |_| ())));
        says("once", at_once(redlock.once("r", PERIOD).run(async |_| Ok::<_, String>(()))));
        says("joined", at_once(reentrant.acquire("nested")));
        says("reentrant", at_once(reentrant.acquire("held")));
        says("read", at_once(rw_lock.read()));
        says("write", at_once(rw_lock.write()));
        says("permit", at_once(semaphore.acquire()));
        says("available_permits", at_once(semaphore.available_permits()));
        says("permits", at_once(semaphore.inspect()));
        says("adopt", at_once(redlock.adopt(value)));
        says("campaign", at_once(election.campaign("me")));
        says("lead", at_once(election.run("me", async |_| ())));
        says("leader", at_once(election.leader()));
        says("observe", at_once(election.observe().next().map(Option::unwrap)));
        says("inspect", at_once(redlock.inspect("r")));
        says("ask", at_once(redlock.ask(&inspection)));
        says("force_release", at_once(redlock.force_release(&inspection)));
        says("reader", at_once(redlock.force_release_reader(&inspection, &reader)));
        says("list", at_once(redlock.list("").next().map(Option::unwrap)));
        says("preflight", at_once(redlock.preflight()));
        says("status", at_once(redlock.status()));
        says("wait_until_ready", at_once(redlock.wait_until_ready(HOUR)));
        says("check", refused(held.check()));
        says("extend", at_once(held.extend()));
        says("lost", held.lost().now_or_never().unwrap().to_string());
        held.wanted().now_or_never().unwrap();
        assert!(!held.is_valid() && held.remaining().is_zero());
        assert!(held.cancellation_token().is_cancelled());
        says("release", at_once(released.release()));
        says("detach", at_once(detached.detach()));
        says("downgrade", at_once(write.downgrade()));
        says("resign", at_once(led.resign()));
        says("leave", at_once(nested.release()));
        says("shutdown", at_once(redlock.shutdown()));
    });
    assert_all_refused(&heard, 38);
    drop((waits, enters));
    assert!(held.extend().await.is_ok() && redlock.status().await.unwrap().can_acquire());
    assert_eq!(held.release().await, Ok(Released::Confirmed));
    redlock.shutdown().await.unwrap();
    other.shutdown().await.unwrap();
}

fn waiting<G: quorumlock::kind::Held>(acquire: quorumlock::Acquire<G>) -> AcquireFuture<G> {
    acquire.into_future()
}

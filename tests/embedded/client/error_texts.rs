//! The text of each error of a lock in use, word by word. Durations are shown as `<time>`.

use super::prelude::*;
use crate::support::normalised::without_times;
use quorumlock::{AcquireError, ConnectError, ExtendError, Guard, Redlock};
use std::fmt::Display;
use std::time::Duration;

/// Starts one master, so that no answer depends on which of several comes first.
async fn one_master() -> (Masters, Redlock) {
    let masters = Masters::start(1);
    let redlock = masters.builder().operation_timeout(SECOND).connect().await.unwrap();
    (masters, redlock)
}

async fn occupied_master() -> (Masters, Redlock) {
    let (masters, redlock) = one_master().await;
    witness::set_foreign(&masters[0], "orders:42", "theirs", LONG).await;
    (masters, redlock)
}

fn assert_text(error: impl Display, text: &str) {
    assert_eq!(without_times(&error.to_string()), text);
}

async fn refused(redlock: &Redlock) -> AcquireError {
    redlock.try_acquire("orders:42").await.unwrap_err()
}

async fn held(redlock: &Redlock) -> Guard {
    redlock.acquire("orders:42").await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn contended() {
    let (_masters, redlock) = occupied_master().await;
    let text = "\"orders:42\" is held by another client: 1 of 1 masters refused, 0 granted, 1 needed \
                (after <time>, 1 attempt): embedded-1.invalid:6379 held after <time>";
    assert_text(refused(&redlock).await, text);
}

/// No client holds it, but its fence is out of reach, as after a clock was set back.
#[tokio::test(start_paused = true)]
async fn stale() {
    let (masters, redlock) = one_master().await;
    let fence = (1_u64 << 53) - 1;
    let key = "quorumlock:fence:orders:42";
    witness::set_foreign(&masters[0], key, &fence.to_string(), LONG).await;
    let text = "a greater fencing token was already granted for \"orders:42\": 1 of 1 masters refused, 0 granted, \
                1 needed (after <time>, 2 attempts): embedded-1.invalid:6379 a greater fencing token was \
                there after <time>";
    let error = redlock.try_acquire("orders:42").fenced().await.unwrap_err();
    assert_text(error, text);
}

#[tokio::test(start_paused = true)]
async fn contended_after_a_wait() {
    let (_masters, redlock) = occupied_master().await;
    let waited = redlock.acquire("orders:42").timeout(Duration::from_millis(50)).await;
    let Err(AcquireError::Contended(error)) = waited else { panic!("{waited:?}") };
    let attempts = error.attempts;
    assert!(attempts > 1);
    let text = format!(
        "\"orders:42\" is held by another client: 1 of 1 masters refused, 0 granted, 1 needed \
         (after <time>, {attempts} attempts): embedded-1.invalid:6379 held, expires in <time> after <time>"
    );
    assert_text(error, &text);
}

#[tokio::test(start_paused = true)]
async fn no_quorum_with_a_hung_master() {
    let (masters, redlock) = one_master().await;
    masters[0].stop();
    let text = "no quorum for \"orders:42\": 0 of 1 masters granted, 1 needed (after <time>, 1 attempt): \
                embedded-1.invalid:6379 no answer in time after <time>; if a master is only slow, raise \
                operation_timeout, and ttl to ten times that";
    assert_text(refused(&redlock).await, text);
}

#[tokio::test(start_paused = true)]
async fn no_quorum_with_a_master_that_refuses_to_write() {
    let (masters, redlock) = one_master().await;
    // Before its first acquire it would ask once more whether the settings agree.
    held(&redlock).await.release().await.unwrap();
    let replica = redis::cmd("REPLICAOF").arg("127.0.0.1").arg("1").to_owned();
    witness::ask::<()>(&masters[0], &replica).await.unwrap();
    let text = "no quorum for \"orders:42\": 0 of 1 masters granted, 1 needed (after <time>, 1 attempt): \
                embedded-1.invalid:6379 refused by the server (READONLY You can't write against a read only \
                replica.) after <time>";
    assert_text(refused(&redlock).await, text);
}

#[tokio::test(start_paused = true)]
async fn no_quorum_since_no_caller_picked_the_lock_up() {
    let (masters, redlock) = one_master().await;
    let ttl = Duration::from_millis(300);
    let mut acquire = std::pin::pin!(redlock.try_acquire("orders:42").ttl(ttl).into_future());
    assert!(futures::poll!(acquire.as_mut()).is_pending());
    // The coordinator continues, the caller does not.
    tokio::time::sleep(ttl).await;
    let error = acquire.await.unwrap_err();
    assert!(matches!(&error, AcquireError::NoQuorum(error) if error.is_too_late()), "{error}");
    let text = "\"orders:42\" was won, but not picked up before its deadline (after <time>): is the task \
                that waits for it held up?";
    assert_text(error, text);
    witness::eventually_no_keys(&masters, SOON).await;
}

#[tokio::test(start_paused = true)]
async fn lost_to_another_client() {
    let (masters, redlock) = one_master().await;
    let guard = held(&redlock).await;
    witness::set_foreign(&masters[0], "orders:42", "theirs", LONG).await;
    let text = "lost \"orders:42\" <time> after it was acquired: a quorum no longer has its key: \
                embedded-1.invalid:6379 held by another token after <time>";
    assert_text(guard.extend().await.unwrap_err(), text);
    assert_text(guard.check().unwrap_err(), text);
}

#[tokio::test(start_paused = true)]
async fn lost_to_time() {
    let (_masters, redlock) = one_master().await;
    let guard = redlock.acquire("orders:42").ttl(Duration::from_millis(300)).await.unwrap();
    let text = "lost \"orders:42\" <time> after it was acquired: its deadline has passed";
    assert_text(guard.lost().await, text);
}

#[tokio::test(start_paused = true)]
async fn lost_with_its_guard() {
    let (_masters, redlock) = one_master().await;
    let guard = held(&redlock).await;
    let lease = guard.lease();
    guard.release().await.unwrap();
    let text = "lost \"orders:42\" <time> after it was acquired: its guard was given up";
    assert_text(lease.check().unwrap_err(), text);
}

#[tokio::test(start_paused = true)]
async fn closed() {
    let (_masters, redlock) = one_master().await;
    let guard = held(&redlock).await;
    redlock.shutdown().await.unwrap();
    let cause = "this Redlock was shut down, or the runtime it was connected on is gone; connect \
                 again";
    assert_text(refused(&redlock).await, &format!("closed: {cause}"));
    let text = format!("lost \"orders:42\" <time> after it was acquired: {cause}");
    assert_text(guard.lost().await, &text);
}

#[test]
fn no_runtime() {
    let connecting = Redlock::builder().node("redis://10.0.0.1").connect();
    let error = futures::executor::block_on(connecting).unwrap_err();
    assert!(matches!(error, ConnectError::WrongContext(_)), "{error:?}");
    let text = "connect() needs a tokio runtime with I/O and time enabled: await it on one, or build the \
                client with own_thread(true)";
    assert_eq!(error.to_string(), text);
}

#[tokio::test(start_paused = true)]
async fn lost_as_the_release_finds() {
    let (masters, redlock) = one_master().await;
    let guard = held(&redlock).await;
    witness::set_foreign(&masters[0], "orders:42", "theirs", LONG).await;
    let text = "lost \"orders:42\" <time> after it was acquired: a quorum no longer has its key: \
                embedded-1.invalid:6379 no key there after <time>";
    assert_text(guard.release().await.unwrap_err(), text);
}

#[tokio::test(start_paused = true)]
async fn unextended() {
    let (masters, redlock) = one_master().await;
    let guard = held(&redlock).await;
    masters.kill(0);
    let mut error = String::new();
    let noticed = async || match guard.extend().await {
        Err(ExtendError::Unextended(unextended)) => {
            error = without_times(&unextended.to_string());
            error.contains(" down (")
        }
        other => panic!("{other:?}"),
    };
    eventually("the death is noticed", SOON, noticed).await;
    let lead = "\"orders:42\" was not extended, its deadline stands: 0 of 1 masters confirmed, 1 needed: \
                embedded-1.invalid:6379 down (";
    assert!(error.starts_with(lead) && error.ends_with(')'), "{error}");
}

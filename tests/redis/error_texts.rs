//! The text of each error of a lock in use, word by word. The masters' ports are shown as `<1>`,
//! `<2>`, in their order, and durations as `<time>`.

use crate::support::normalised::{without_ports, without_times};
use crate::support::prelude::*;
use quorumlock::{AcquireError, ConnectError, ExtendError, Guard, Redlock};
use std::fmt::Display;
use std::time::Duration;

/// Starts one master, so that no answer depends on which of several comes first.
async fn one_master() -> (Masters, Redlock) {
    let masters = Masters::start(1);
    let redlock = masters.builder().connect().await.unwrap();
    (masters, redlock)
}

async fn occupied_master() -> (Masters, Redlock) {
    let (masters, redlock) = one_master().await;
    witness::set_foreign(&masters[0], "orders:42", "theirs", LONG).await;
    (masters, redlock)
}

fn assert_text(error: impl Display, masters: &Masters, text: &str) {
    assert_eq!(without_times(&without_ports(error, masters)), text);
}

async fn refused(redlock: &Redlock) -> AcquireError {
    redlock.try_acquire("orders:42").await.unwrap_err()
}

async fn held(redlock: &Redlock) -> Guard {
    redlock.acquire("orders:42").await.unwrap()
}

#[tokio::test]
async fn contended() {
    let (masters, redlock) = occupied_master().await;
    let text = "\"orders:42\" is held by another client: 1 of 1 masters refused, 0 granted, 1 needed \
                (after <time>, 1 attempt): 127.0.0.1:<1> held after <time>";
    assert_text(refused(&redlock).await, &masters, text);
}

/// No client holds it, but its fence is out of reach, as after a clock was set back.
#[tokio::test]
async fn stale() {
    let (masters, redlock) = one_master().await;
    let fence = (1_u64 << 53) - 1;
    let key = "quorumlock:fence:orders:42";
    witness::set_foreign(&masters[0], key, &fence.to_string(), LONG).await;
    let text = "a greater fencing token was already granted for \"orders:42\": 1 of 1 masters refused, 0 granted, \
                1 needed (after <time>, 2 attempts): 127.0.0.1:<1> a greater fencing token was \
                there after <time>";
    let error = redlock.try_acquire("orders:42").fenced().await.unwrap_err();
    assert_text(error, &masters, text);
}

#[tokio::test]
async fn contended_after_a_wait() {
    let (masters, redlock) = occupied_master().await;
    let waited = redlock.acquire("orders:42").timeout(Duration::from_millis(50)).await;
    let Err(AcquireError::Contended(error)) = waited else { panic!("{waited:?}") };
    let attempts = error.attempts;
    assert!(attempts > 1);
    let text = format!(
        "\"orders:42\" is held by another client: 1 of 1 masters refused, 0 granted, 1 needed \
         (after <time>, {attempts} attempts): 127.0.0.1:<1> held, expires in <time> after <time>"
    );
    assert_text(error, &masters, &text);
}

#[tokio::test]
async fn no_quorum_with_a_hung_master() {
    let (masters, redlock) = one_master().await;
    masters[0].stop();
    let text = "no quorum for \"orders:42\": 0 of 1 masters granted, 1 needed (after <time>, 1 attempt): \
                127.0.0.1:<1> no answer in time after <time>; if a master is only slow, raise \
                operation_timeout, and ttl to ten times that";
    assert_text(refused(&redlock).await, &masters, text);
}

#[tokio::test]
async fn no_quorum_with_a_master_that_refuses_to_write() {
    let (masters, redlock) = one_master().await;
    let full = redis::cmd("CONFIG").arg("SET").arg("maxmemory").arg("1").to_owned();
    witness::ask::<()>(&masters[0], &full).await.unwrap();
    let text = "no quorum for \"orders:42\": 0 of 1 masters granted, 1 needed (after <time>, 1 attempt): \
                127.0.0.1:<1> refused by the server (OOM command not allowed when used memory > \
                'maxmemory'.) after <time>";
    assert_text(refused(&redlock).await, &masters, text);
}

#[tokio::test]
async fn no_quorum_since_the_grants_came_too_late() {
    let (masters, redlock) = one_master().await;
    let ttl = Duration::from_millis(300);
    let mut acquire = std::pin::pin!(redlock.try_acquire("orders:42").ttl(ttl).into_future());
    assert!(futures::poll!(acquire.as_mut()).is_pending());
    tokio::task::yield_now().await;
    // The only thread of this runtime is blocked.
    std::thread::sleep(ttl);
    let text = "\"orders:42\" was granted too late to be used (after <time>, 1 attempt): \
                127.0.0.1:<1> granted after <time>; if neither masters nor this process were held up, \
                raise ttl";
    assert_text(acquire.await.unwrap_err(), &masters, text);
}

#[tokio::test]
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
    assert_text(error, &masters, text);
    witness::eventually_no_keys(&masters, SOON).await;
}

#[tokio::test]
async fn lost_to_another_client() {
    let (masters, redlock) = one_master().await;
    let guard = held(&redlock).await;
    witness::set_foreign(&masters[0], "orders:42", "theirs", LONG).await;
    let text = "lost \"orders:42\" <time> after it was acquired: a quorum no longer has its key: \
                127.0.0.1:<1> held by another token after <time>";
    assert_text(guard.extend().await.unwrap_err(), &masters, text);
    assert_text(guard.check().unwrap_err(), &masters, text);
}

#[tokio::test]
async fn lost_to_time() {
    let (masters, redlock) = one_master().await;
    let guard = redlock.acquire("orders:42").ttl(Duration::from_millis(300)).await.unwrap();
    let text = "lost \"orders:42\" <time> after it was acquired: its deadline has passed";
    assert_text(guard.lost().await, &masters, text);
}

#[tokio::test]
async fn lost_with_its_guard() {
    let (masters, redlock) = one_master().await;
    let guard = held(&redlock).await;
    let lease = guard.lease();
    guard.release().await.unwrap();
    let text = "lost \"orders:42\" <time> after it was acquired: its guard was given up";
    assert_text(lease.check().unwrap_err(), &masters, text);
}

#[tokio::test]
async fn closed() {
    let (masters, redlock) = one_master().await;
    let guard = held(&redlock).await;
    redlock.shutdown().await.unwrap();
    let cause = "this Redlock was shut down, or the runtime it was connected on is gone; connect \
                 again";
    assert_text(refused(&redlock).await, &masters, &format!("closed: {cause}"));
    let text = format!("lost \"orders:42\" <time> after it was acquired: {cause}");
    assert_text(guard.lost().await, &masters, &text);
}

#[test]
fn no_runtime() {
    let connecting = Redlock::builder().node("redis://10.0.0.1").connect();
    let error = futures::executor::block_on(connecting).unwrap_err();
    assert!(matches!(error, ConnectError::WrongContext(_)), "{error:?}");
    let text = "connect() needs a tokio runtime with I/O and time enabled: await it on one, or use \
                quorumlock::blocking";
    assert_eq!(error.to_string(), text);
}

#[tokio::test]
async fn lost_as_the_release_finds() {
    let (masters, redlock) = one_master().await;
    let guard = held(&redlock).await;
    witness::set_foreign(&masters[0], "orders:42", "theirs", LONG).await;
    let text = "lost \"orders:42\" <time> after it was acquired: a quorum no longer has its key: \
                127.0.0.1:<1> no key there after <time>";
    assert_text(guard.release().await.unwrap_err(), &masters, text);
}

#[tokio::test]
async fn unextended() {
    let (masters, redlock) = one_master().await;
    let guard = held(&redlock).await;
    masters.kill(0);
    let mut error = String::new();
    let noticed = async || match guard.extend().await {
        Err(ExtendError::Unextended(unextended)) => {
            error = without_times(&without_ports(unextended, &masters));
            error.contains(" down (")
        }
        other => panic!("{other:?}"),
    };
    eventually("the death is noticed", SOON, noticed).await;
    let lead = "\"orders:42\" was not extended, its deadline stands: 0 of 1 masters confirmed, 1 needed: \
                127.0.0.1:<1> down (";
    assert!(error.starts_with(lead) && error.ends_with(')'), "{error}");
}

//! Listening to a channel through the driver.

use super::{KEY, SECOND, connect, five, five_and_client, settle};
use crate::embedded::Memory;
use crate::{Redlock, RestartGuard};
use futures::FutureExt;
use std::sync::Arc;
use tokio::sync::Notify;
use tokio::time::{sleep, timeout};

/// Returns whether it was notified since the last look.
fn heard(ear: &Notify) -> bool {
    ear.notified().now_or_never().is_some()
}

/// Holds the lock for so long that its release is a message, whoever waits.
async fn hold_for_long(redlock: &Redlock) {
    let guard = redlock.acquire(KEY).await.unwrap();
    sleep(SECOND).await;
    guard.release().await.unwrap();
    settle().await;
}

#[tokio::test(start_paused = true)]
async fn a_listener_hears_each_release_of_what_was_held_for_long() {
    let (masters, redlock) = five_and_client().await;
    let other = connect(masters.builder()).await;
    let ear = Arc::new(Notify::new());
    let listening = redlock.driver.listen(KEY.into(), ear.clone());
    settle().await;
    assert!(heard(&ear), "the first message may have been missed");
    settle().await;
    assert!(!heard(&ear), "nothing has happened");
    hold_for_long(&other).await;
    assert!(heard(&ear));
    drop(listening);
    hold_for_long(&other).await;
    settle().await;
    assert!(!heard(&ear));
}

/// Each master in turn publishes about its own keys, and is lost.
#[tokio::test(start_paused = true)]
async fn a_listener_hears_again_after_any_master_has_come_and_gone() {
    let masters = five();
    let builder = || masters.builder().restart_guard(RestartGuard::Off);
    let (redlock, other) = (connect(builder()).await, connect(builder()).await);
    let ear = Arc::new(Notify::new());
    let _listening = redlock.driver.listen(KEY.into(), ear.clone());
    for master in masters.iter() {
        settle().await;
        for is_up in [false, true] {
            if is_up {
                master.restart(Memory::Kept).unwrap()
            } else {
                master.kill()
            }
            sleep(3 * SECOND).await;
            heard(&ear);
            hold_for_long(&other).await;
            assert!(heard(&ear), "{master:?} is up: {is_up}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_listener_looks_for_itself_once_the_client_is_shut_down() {
    let (_masters, redlock) = five_and_client().await;
    let notify = Arc::new(Notify::new());
    let _listening = redlock.driver.listen(KEY.into(), notify.clone());
    notify.notified().await;
    redlock.shutdown().await.unwrap();
    timeout(SECOND, notify.notified()).await.expect("a last message");
}

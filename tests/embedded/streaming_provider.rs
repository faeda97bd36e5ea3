//! A provider of the redis crate, taken as the documentation of `credentials` shows.

#[path = "../support/tokens.rs"]
mod tokens;

use quorumlock::Redlock;
use quorumlock::embedded::Masters;
use std::time::Duration;
use tokens::{Tokens, with_provider};
use tokio::time::sleep;

/// Returns why each master was not shown the latest token, or has refused it.
async fn not_renewed(redlock: &Redlock) -> Vec<Option<String>> {
    let status = redlock.status().await.unwrap();
    assert!(status.can_acquire(), "{status}");
    status.nodes().iter().map(|node| node.not_renewed.as_deref().map(str::to_owned)).collect()
}

#[tokio::test(start_paused = true)]
async fn a_rotated_token_reaches_masters_within_a_minute_on_connections_that_are_there() {
    let masters = Masters::start_in_virtual_time(3).unwrap();
    let tokens = Tokens::new("default", "first");
    let redlock = with_provider(masters.builder(), tokens.clone()).connect().await.unwrap();
    let guard = redlock.acquire("r").keep_alive().await.unwrap();
    sleep(Duration::from_secs(50)).await;
    assert_eq!(not_renewed(&redlock).await, [None, None, None]);

    // A user that no master admits: their refusal shows that the token has come there.
    tokens.rotate("another", "second");
    sleep(Duration::from_secs(50)).await;
    for refused in not_renewed(&redlock).await {
        assert!(refused.as_deref().is_some_and(|why| why.starts_with("WRONGPASS")), "{refused:?}");
    }
    tokens.rotate("default", "third");
    sleep(Duration::from_secs(5)).await;
    assert_eq!(not_renewed(&redlock).await, [None, None, None]);
    guard.release().await.unwrap();
}

//! What is reported of a lock that is kept warm: which acquire has asked no master, and why what was idle is
//! released.

use crate::capture::{Capture, Entry};
use crate::support::poll::eventually;
use quorumlock::embedded::Masters;
use quorumlock::{Acquire, Redlock};
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(60);

fn warm(redlock: &Redlock) -> Acquire {
    redlock.acquire("r").lock_delay(Duration::ZERO).keep_warm(PATIENCE).timeout(PATIENCE)
}

/// Returns the resource and the reason of each release of what was idle.
fn released(capture: &Capture) -> Vec<(String, String)> {
    let of = |event: Entry| (event.field("resource").to_owned(), event.field("reason").to_owned());
    capture.named("idle released").into_iter().map(of).collect()
}

#[tokio::test]
async fn an_acquire_that_asks_no_master_says_so_and_each_release_has_its_reason() {
    let masters = Masters::start_in_memory(3).unwrap();
    let builder =
        || masters.builder().max_ttl(PATIENCE).ttl(PATIENCE).operation_timeout(PATIENCE / 10);
    let (capture, _capturing) = Capture::set();
    let redlock = builder().key_prefix("app:").connect().await.unwrap();
    for _ in 0..2 {
        warm(&redlock).await.unwrap().release().await.unwrap();
    }
    let spans = capture.named("acquire");
    let reused: Vec<_> = spans.iter().map(|span| span.field("reused")).collect();
    assert_eq!(reused, ["false", "true"], "{spans:?}");
    assert_eq!(spans[1].field("attempts"), "0", "{spans:?}");
    assert!(released(&capture).is_empty());

    let mut expected = Vec::new();
    let mut expects = |reason: &str| {
        expected.push(("r".to_owned(), reason.to_owned()));
        expected.clone()
    };
    warm(&redlock).ttl(PATIENCE / 2).await.unwrap().release().await.unwrap();
    assert_eq!(released(&capture), expects("not_suited"));
    // As often as it takes to pay.
    for _ in 0..2 {
        warm(&redlock).ttl(PATIENCE / 2).await.unwrap().release().await.unwrap();
    }
    let other = builder().key_prefix("app:").connect().await.unwrap();
    drop(warm(&other).await.unwrap());
    assert_eq!(released(&capture), expects("asked"));
    warm(&redlock).keep_warm(Duration::from_millis(1)).await.unwrap().release().await.unwrap();
    let released_after = async |times: usize| released(&capture).len() == times;
    eventually("its time is over", PATIENCE, async || released_after(3).await).await;
    assert_eq!(released(&capture), expects("unused"));
    warm(&redlock).await.unwrap().release().await.unwrap();
    redlock.shutdown().await.unwrap();
    assert_eq!(released(&capture), expects("shutdown"));
    other.shutdown().await.unwrap();
}

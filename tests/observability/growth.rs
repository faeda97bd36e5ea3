//! What a long wait costs an observer: subscribers keep all that a span ever recorded, and many keep
//! its events, too. So neither may grow with the time that an acquire waits.

use crate::capture::Capture;
use crate::page;
use crate::support::poll::eventually;
use quorumlock::embedded::Masters;
use quorumlock::{Backoff, RedlockBuilder};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Bound on each wait; a wait takes a second or two.
const PATIENCE: Duration = Duration::from_secs(60);

/// Configures long timeouts, so that no attempt is slow only because the machine is busy.
fn client(masters: &Masters) -> RedlockBuilder {
    let builder = masters.builder().ttl(Duration::from_secs(30));
    builder.operation_timeout(PATIENCE / 10).connect_timeout(PATIENCE / 10)
}

/// Returns how often each event was reported in this span.
fn counts_in(capture: &Capture, span: Option<u64>) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for entry in capture.entries().into_iter().filter(|entry| entry.event.kind == "event") {
        if entry.span == span {
            *counts.entry(entry.event.name).or_default() += 1;
        }
    }
    counts
}

async fn attempts(capture: &Capture, count: usize) {
    let made = async || capture.named("attempt").len() >= count;
    eventually("so many attempts", PATIENCE, made).await;
}

#[tokio::test]
async fn a_span_does_not_grow_while_its_acquire_waits() {
    let masters = Masters::start_in_memory(3).unwrap();
    let holder = client(&masters).connect().await.unwrap();
    let guard = holder.acquire("r").timeout(PATIENCE).keep_alive_for(Duration::MAX).await.unwrap();

    let (capture, _capturing) = Capture::set();
    let moment = Duration::from_millis(1);
    let quick = Backoff { base: moment, cap: moment };
    let redlock = client(&masters).backoff(quick).wake_ups(false).connect().await.unwrap();
    let waits = tokio::spawn(redlock.acquire("r").timeout(Duration::MAX).into_future());
    attempts(&capture, 100).await;
    let span = capture.named("acquire").remove(0);
    let early = counts_in(&capture, span.span);
    attempts(&capture, 500).await;
    let late = counts_in(&capture, span.span);

    let now = capture.named("acquire").remove(0);
    assert_eq!((&now.recorded, &now.fields), (&Vec::new(), &span.fields), "while it waits");
    let grows = late.iter().filter(|(name, count)| early.get(*name) != Some(count));
    let grows: BTreeSet<String> = grows.map(|(name, _)| name.clone()).collect();
    assert_eq!(grows, page::recurring(), "{late:?}");
    // Once when the wait began, and once when a master had answered for how long.
    assert_eq!(late.get("waiting"), Some(&2), "{late:?}");

    guard.release().await.unwrap();
    let won = waits.await.unwrap().unwrap();
    let span = capture.named("acquire").remove(0);
    assert_eq!(span.recorded, ["attempts", "reused", "outcome", "waited_ms"], "once, at the end");
    assert!(span.field("attempts").parse::<usize>().unwrap() >= 500, "{span:?}");
    won.release().await.unwrap();
}

#[tokio::test]
async fn a_wait_is_reported_when_what_it_is_for_changes() {
    let masters = Masters::start_in_memory(3).unwrap();
    let (capture, _capturing) = Capture::set();
    let (redlock, other) = (client(&masters).connect().await, client(&masters).connect().await);
    let (redlock, other) = (redlock.unwrap(), other.unwrap());
    let guard = redlock.acquire("r").timeout(PATIENCE).keep_alive_for(Duration::MAX).await.unwrap();
    let waits = [&redlock, &redlock, &other]
        .map(|client| tokio::spawn(client.acquire("r").timeout(Duration::MAX).into_future()));
    let reasons = || -> BTreeSet<String> {
        let waiting = capture.named("waiting");
        waiting.iter().map(|entry| entry.field("waits_for").to_owned()).collect()
    };
    let both = BTreeSet::from(["own_guard", "holder"].map(str::to_owned));
    eventually("both are reported", PATIENCE, async || reasons() == both).await;
    (0..2).for_each(|node| masters[node].kill());
    eventually("an outage is reported", PATIENCE, async || reasons().contains("quorum")).await;
    for entry in capture.named("waiting") {
        assert_eq!((entry.event.level.as_str(), entry.field("resource")), ("DEBUG", "r"));
        assert!(
            entry.field("left_ms").is_empty() || entry.field("waits_for") == "holder",
            "{entry:?}"
        );
    }
    waits.iter().for_each(tokio::task::JoinHandle::abort);
    drop(guard);
}

#[tokio::test]
async fn a_wait_in_turn_reports_how_many_are_ahead_whenever_that_changes() {
    let masters = Masters::start_in_memory(3).unwrap();
    let (capture, _capturing) = Capture::set();
    let mut clients = Vec::new();
    for _ in 0..4 {
        clients.push(client(&masters).fair(true).connect().await.unwrap());
    }
    let guard = clients[0].acquire("r").keep_alive_for(Duration::MAX).await.unwrap();
    let mut waits = Vec::new();
    let places = || -> Vec<String> {
        let ahead =
            capture.named("waiting").into_iter().map(|entry| entry.field("ahead").to_owned());
        let mut places: Vec<String> = ahead.filter(|ahead| !ahead.is_empty()).collect();
        places.sort_unstable();
        places
    };
    for (place, redlock) in clients[1..].iter().enumerate() {
        waits.push(tokio::spawn(redlock.acquire("r").timeout(Duration::MAX).into_future()));
        eventually("its place is reported", PATIENCE, async || places().len() == place + 1).await;
    }
    assert_eq!(places(), ["0", "1", "2"]);
    waits[0].abort();
    let moved_up = ["0", "0", "1", "1", "2"];
    eventually("the others have moved up", PATIENCE, async || places() == moved_up).await;
    waits.iter().for_each(tokio::task::JoinHandle::abort);
    drop(guard);
}

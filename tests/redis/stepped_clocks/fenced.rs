//! With fencing tokens: they are taken from the masters' time, so they depend on it twice.

use super::world::{AN_HOUR, HOUR, LONG, MS, SOON, connect, set, two};
use crate::support::prelude::*;
use quorumlock::fencing::FenceCheck;
use quorumlock::report::{Answer, Refusal};
use quorumlock::{AcquireError, FencedGuard, FencingToken, FencingWindow, NodeStanding, Redlock};
use std::time::Duration;

/// Distance from the masters' clocks, each way.
const WINDOW: Duration = Duration::from_millis(500);
const AT_ONCE: Duration = Duration::from_secs(20);

async fn fenced(redlock: &Redlock) -> FencedGuard {
    redlock.try_acquire("r").ttl(LONG).fenced().await.unwrap()
}

/// Wins the lock and releases it at once.
async fn win(redlock: &Redlock, resource: &str) -> FencingToken {
    let guard = redlock.acquire(resource).timeout(AT_ONCE).fenced().await.unwrap();
    let token = guard.fencing_token();
    guard.release().await.unwrap();
    token
}

async fn everywhere(masters: &Masters) {
    let all = async || witness::holders(masters, "r").await.len() == masters.len();
    eventually("every master has the key", SOON, all).await;
}

/// Returns how far the first is above the second.
fn above(first: FencingToken, second: FencingToken) -> Duration {
    Duration::from_micros(first.as_u64().saturating_sub(second.as_u64()))
}

/// Returns how many masters refused because they had seen a greater token.
fn stale(error: &AcquireError) -> usize {
    let stale = error.nodes().iter().filter(|node| node.answer == Answer::Refused(Refusal::Stale));
    stale.count()
}

#[tokio::test]
async fn a_minority_with_other_clocks_costs_only_its_votes() {
    let Some(masters) = Masters::start_with_clocks(5) else { return };
    let clients = two(&masters).await;
    let mut last = None;
    for (odd, ahead) in [(1, HOUR), (2, HOUR), (1, -HOUR), (2, -HOUR), (0, 0)] {
        set(&masters, 0..odd, ahead).await;
        set(&masters, odd..5, 0).await;
        for client in &clients {
            let guard = fenced(client).await;
            let token = Some(guard.fencing_token());
            assert!(token > last, "{odd} at {ahead}: {token:?} after {last:?}");
            last = token;
            let right = async || witness::holders(&masters, "r").await.len() >= 5 - odd;
            eventually("those with the right time have the key", SOON, right).await;
            let holders = witness::holders(&masters, "r").await;
            assert!(holders.iter().all(|node| *node >= odd), "{odd} at {ahead}: {holders:?}");
            guard.release().await.unwrap();
        }
    }
}

/// Exclusion is lost as it is without fencing, but the first holder can do no more harm. The client
/// that meets the new time is corrected within its single attempt.
#[tokio::test]
async fn after_a_step_forward_the_second_holder_has_a_greater_token() {
    let Some(masters) = Masters::start_with_clocks(3) else { return };
    let [ours, theirs] = two(&masters).await;
    let first = fenced(&ours).await;
    everywhere(&masters).await;
    set(&masters, 0..2, HOUR).await;
    let second = fenced(&theirs).await;
    assert!(first.is_valid() && second.is_valid(), "two holders");
    let (before, after) = (first.fencing_token(), second.fencing_token());
    assert!(above(after, before) > AN_HOUR - LONG, "{after:?} after {before:?}");
    let mut resource = FenceCheck::new();
    resource.admit("r", before).unwrap();
    resource.admit("r", after).unwrap();
    assert!(resource.admit("r", before).is_err(), "the first one writes too late");
}

/// The tokens of the hour that never was are above those of the real one. Until that hour has come,
/// resources that were fenced then stay closed to clients that want a token. Everything else goes
/// on.
#[tokio::test]
async fn clocks_set_right_again_close_resources_fenced_in_between() {
    let Some(masters) = Masters::start_with_clocks(3) else { return };
    let [ours, theirs] = two(&masters).await;
    set(&masters, 0..3, HOUR).await;
    let ahead = win(&ours, "r").await;
    set(&masters, 0..3, 0).await;
    for client in [&ours, &theirs] {
        let refused = client.acquire("r").timeout(1_000 * MS).fenced().await.unwrap_err();
        assert!(refused.is_contended() && stale(&refused) >= 2, "{refused}");
        let text = refused.to_string();
        assert!(
            text.starts_with("a greater fencing token was already granted for \"r\": "),
            "{text}"
        );
        assert!(above(ahead, win(client, "s").await) > AN_HOUR - LONG, "another resource");
        client.try_acquire("r").await.unwrap().release().await.unwrap();
    }
    // Once the hour has come, it goes on from there.
    set(&masters, 0..3, HOUR).await;
    assert!(win(&theirs, "r").await > ahead);
}

#[tokio::test]
async fn clocks_set_back_by_less_than_the_window_cost_nothing() {
    let Some(masters) = Masters::start_with_clocks(3) else { return };
    let clients = two(&masters).await;
    let mut last = None;
    for ahead in [0, -500, -1_000, -1_500] {
        set(&masters, 0..3, ahead).await;
        for client in &clients {
            let token = Some(win(client, "r").await);
            assert!(token > last, "at {ahead}: {token:?} after {last:?}");
            last = token;
        }
    }
}

#[tokio::test]
async fn masters_of_which_no_quorum_agrees_on_the_time_are_distinguished() {
    let Some(masters) = Masters::start_with_clocks(3) else { return };
    let redlock = connect(masters.builder()).await;
    set(&masters, 0..1, HOUR).await;
    set(&masters, 1..2, -HOUR).await;
    // Repeatedly: each attempt leaves its fence on the masters that admitted it.
    for millis in [0, 20, 40, 80, 160, 320] {
        let error = redlock.acquire("r").timeout(millis * MS).fenced().await.unwrap_err();
        let AcquireError::Disagreement(_) = &error else { panic!("{error}") };
        let text = error.to_string();
        let (_, apart) = text.split_once("the masters' clocks are ").expect(&text);
        assert!(apart.starts_with("1 h") || apart.starts_with("59 min"), "{text}");
        assert!(apart.contains(" apart, the fencing window is 4 s wide"), "{text}");
    }
    let preflight = redlock.preflight().await.unwrap().to_string();
    assert!(preflight.contains(" ahead of that of "), "{preflight}");
    redlock.try_acquire("r").await.unwrap().release().await.unwrap();
    // Two agree: new names need not wait for an hour that these two never had.
    set(&masters, 1..2, 0).await;
    win(&redlock, "s").await;
}

/// The reason for that assumption: the fence is what prevents a smaller token, and the restart
/// guard measures time, not dates.
#[tokio::test]
async fn clocks_set_back_and_fences_lost_in_restarts_lower_a_token() {
    let Some(masters) = Masters::start_with_clocks(3) else { return };
    let guarded = || {
        let builder = Redlock::builder().nodes(masters.urls());
        let builder = builder.ttl(500 * MS).max_ttl(1_000 * MS).acquire_timeout(AT_ONCE);
        connect(builder.fencing_window(FencingWindow { back: WINDOW, ahead: WINDOW }))
    };
    let redlock = guarded().await;
    // A quorum votes by then. A third master that does not yet would refuse for another reason.
    let all_vote = async || {
        let status = redlock.status().await.unwrap();
        status.nodes().iter().all(|node| node.standing == NodeStanding::Voting)
    };
    eventually("every master votes", SOON, all_vote).await;
    let before = win(&redlock, "r").await;
    set(&masters, 0..3, -HOUR).await;
    let refused = redlock.try_acquire("r").fenced().await.unwrap_err();
    assert!(stale(&refused) >= 2, "not by itself: {refused}");
    masters.iter().for_each(|server| server.restart());
    let after = win(&guarded().await, "r").await;
    assert!(above(before, after) > AN_HOUR - LONG, "{after:?} after {before:?}");
}

/// It does not even need a restart, if the fence expires by a clock that is set forward and back
/// again.
#[tokio::test]
async fn clocks_set_forward_past_a_fence_and_back_lower_a_token() {
    let Some(masters) = Masters::start_with_clocks(3) else { return };
    let redlock = connect(masters.builder()).await;
    set(&masters, 0..3, HOUR).await;
    let before = win(&redlock, "r").await;
    // A release that comes later would raise the fence again.
    redlock.shutdown().await.unwrap();
    set(&masters, 0..3, 2 * HOUR).await;
    assert_eq!(witness::holders(&masters, "quorumlock:fence:r").await.len(), 0, "expired");
    set(&masters, 0..3, 0).await;
    let after = win(&connect(masters.builder()).await, "r").await;
    assert!(above(before, after) > AN_HOUR - LONG, "{after:?} after {before:?}");
}

//! Without fencing.

use super::world::{AN_HOUR, HOUR, LONG, MS, SOON, connect, set, two};
use crate::support::clock;
use crate::support::prelude::*;
use quorumlock::error::LossReason;
use quorumlock::report::Answer;
use quorumlock::{ExtendError, Released};
use std::time::Duration;

async fn holders(masters: &Masters) -> usize {
    witness::holders(masters, "r").await.len()
}

async fn everywhere(masters: &Masters) {
    let all = async || holders(masters).await == masters.len();
    eventually("every master has the key", SOON, all).await;
}

/// Makes sure that the tests below show what they claim: the clock is set, at once and only there.
#[tokio::test]
async fn a_master_goes_by_the_clock_that_it_was_given() {
    let Some(masters) = Masters::start_with_clocks(2) else { return };
    for ahead in [HOUR, -HOUR, 1_500, 0] {
        set(&masters, 0..1, ahead).await;
        let (here, there) = (clock::ahead(&masters[0]).await, clock::ahead(&masters[1]).await);
        assert!((here - ahead).abs() < 1_000 && there.abs() < 1_000, "{ahead}: {here} {there}");
    }
}

#[tokio::test]
async fn a_minority_set_forward_lets_no_client_in_and_gets_its_keys_back() {
    let Some(masters) = Masters::start_with_clocks(5) else { return };
    let [ours, theirs] = two(&masters).await;
    let guard = ours.acquire("r").ttl(LONG).await.unwrap();
    everywhere(&masters).await;
    set(&masters, 0..2, HOUR).await;
    assert_eq!(witness::holders(&masters, "r").await, [2, 3, 4], "expired early");
    for _ in 0..20 {
        assert!(theirs.try_acquire("r").await.unwrap_err().is_contended());
    }
    guard.extend().await.unwrap();
    everywhere(&masters).await;
    assert_eq!(guard.release().await, Ok(Released::Confirmed));
    assert!(theirs.try_acquire("r").await.is_ok());
}

/// Exclusion depends on the masters' clocks: here it is lost, and no client is notified.
#[tokio::test]
async fn a_quorum_set_forward_lets_a_second_holder_in() {
    let Some(masters) = Masters::start_with_clocks(3) else { return };
    let [ours, theirs] = two(&masters).await;
    let first = ours.acquire("r").ttl(LONG).await.unwrap();
    everywhere(&masters).await;
    set(&masters, 0..2, HOUR).await;
    let second = theirs.try_acquire("r").ttl(LONG).await.unwrap();
    assert!(first.is_valid() && second.is_valid());
    // Its next extension reports the loss, and destroys nothing of the other lock.
    let Err(ExtendError::Lost(lost)) = first.extend().await else { panic!("it is gone") };
    let LossReason::QuorumGone(nodes) = &lost.reason else { panic!("{lost}") };
    let taken = nodes.iter().filter(|node| node.answer == Answer::Taken).count();
    assert!(taken >= 2, "{lost}");
    assert!(!first.is_valid());
    assert_eq!(first.release().await, Err(lost));
    assert!(second.extend().await.is_ok(), "the second one's keys stand");
}

/// The keys of a lock with a lock-delay outlive what its holder relies on by more than the step.
#[tokio::test]
async fn a_lock_delay_above_the_clock_step_keeps_a_second_holder_out() {
    let Some(masters) = Masters::start_with_clocks(3) else { return };
    let [ours, theirs] = two(&masters).await;
    for (resource, delay, is_kept) in [("s", 0, false), ("r", 15, true)] {
        let acquire = ours.acquire(resource).ttl(Duration::from_secs(15));
        let guard = acquire.lock_delay(Duration::from_secs(delay)).await.unwrap();
        let all = async || witness::holders(&masters, resource).await.len() == 3;
        eventually("every master has the key", SOON, all).await;
        set(&masters, 0..3, 10_000).await;
        let left = witness::pttl(&masters[0], resource).await.unwrap_or_default();
        assert_eq!(left > guard.remaining(), is_kept, "{left:?} and {:?}", guard.remaining());
        assert!(theirs.try_acquire(resource).await.is_err() || !is_kept);
        set(&masters, 0..3, 0).await;
    }
}

#[tokio::test]
async fn a_holder_releases_and_extends_on_masters_that_were_set_back() {
    let Some(masters) = Masters::start_with_clocks(3) else { return };
    let [ours, theirs] = two(&masters).await;
    let guard = ours.acquire("r").ttl(LONG).await.unwrap();
    everywhere(&masters).await;
    set(&masters, 0..3, -HOUR).await;
    let before = guard.deadline();
    assert!(guard.extend().await.unwrap() > before);
    assert!(guard.remaining() <= LONG, "its own clock is not the masters'");
    assert!(witness::pttl(&masters[0], "r").await.unwrap() > AN_HOUR, "nor is a life shortened");
    assert!(theirs.try_acquire("r").await.unwrap_err().is_contended());
    assert_eq!(guard.release().await, Ok(Released::Confirmed));
    let next = theirs.try_acquire("r").ttl(LONG).await.unwrap();
    // Keys set from now on live as long as they should.
    for node in witness::holders(&masters, "r").await {
        assert!(witness::pttl(&masters[node], "r").await.unwrap() <= LONG);
    }
    assert!(next.is_valid());
}

/// The agreement among the clients of a master also expires there.
#[tokio::test]
async fn an_agreement_is_forgotten_by_a_master_that_is_set_forward() {
    let Some(masters) = Masters::start_with_clocks(3) else { return };
    let _ours = connect(masters.builder()).await;
    let other_terms = || masters.builder().max_ttl(LONG).ttl(1_000 * MS);
    assert!(other_terms().connect().await.is_err(), "refused, as long as it stands");
    set(&masters, 0..3, HOUR).await;
    assert!(other_terms().connect().await.is_ok());
}

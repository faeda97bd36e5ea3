//! A lock that goes from one client to another, as a value.

use crate::support::prelude::*;
use quorumlock::embedded::Masters;
use quorumlock::error::{AdoptErrorKind, LossReason};
use quorumlock::{ExtendError, Redlock, RestartGuard};
use std::time::Duration;

const KEY: &str = "orders:42";

async fn connect(masters: &Masters) -> Redlock {
    let builder = masters.builder().restart_guard(RestartGuard::Off);
    builder.ttl(Duration::from_secs(5)).connect().await.unwrap()
}

fn holders(masters: &Masters) -> usize {
    masters.iter().filter(|master| master.holder(KEY).is_some()).count()
}

#[tokio::test]
async fn a_lock_goes_from_one_client_to_another_without_being_free_in_between() {
    let masters = Masters::start_in_memory(5).unwrap();
    let [first, second, third] =
        [connect(&masters).await, connect(&masters).await, connect(&masters).await];
    let guard = first.acquire(KEY).keep_alive().await.unwrap();
    let lease = guard.lease();
    let detached = guard.detach().await.unwrap();
    assert_eq!(lease.check().unwrap_err().reason, LossReason::Detached);
    assert_eq!(lease.lost().await.reason, LossReason::Detached);
    assert_eq!((detached.resource(), detached.ttl()), (KEY, Duration::from_secs(5)));
    let token = masters[0].holder(KEY).unwrap();
    assert!(!format!("{detached:?}").contains(&token[..8]), "{detached:?} shows {token}");
    for other in [&first, &third] {
        assert!(other.try_acquire(KEY).await.unwrap_err().is_contended());
    }

    let guard = second.adopt(detached).await.unwrap();
    assert!(guard.check().unwrap() > Duration::from_secs(4));
    assert_eq!(masters[0].holder(KEY).as_deref(), Some(&*token));
    assert!(!lease.is_valid());
    for other in [&first, &second, &third] {
        assert!(other.try_acquire(KEY).await.unwrap_err().is_contended());
    }
    guard.release().await.unwrap();
    third.try_acquire(KEY).await.unwrap().release().await.unwrap();
}

#[tokio::test]
async fn the_number_of_a_fenced_lock_stays_and_the_next_is_above_it() {
    let masters = Masters::start_in_memory(3).unwrap();
    let (first, second) = (connect(&masters).await, connect(&masters).await);
    let guard = first.acquire_all(["a", "b"]).fenced().await.unwrap();
    let number = guard.fencing_token();
    let detached = guard.detach().await.unwrap();
    assert_eq!((detached.fencing_token(), detached.resource()), (number, "a, b"));
    let guard = second.adopt(detached).await.unwrap();
    assert_eq!((guard.fencing_token(), guard.resource()), (number, "a, b"));
    guard.release().await.unwrap();
    assert!(first.acquire("b").fenced().await.unwrap().fencing_token() > number);
}

#[tokio::test]
async fn what_comes_too_late_is_lost_and_deletes_nothing_of_others() {
    let masters = Masters::start_in_memory(3).unwrap();
    let (first, second) = (connect(&masters).await, connect(&masters).await);
    let guard = first.acquire(KEY).ttl(Duration::from_millis(300)).await.unwrap();
    let detached = guard.detach().await.unwrap();
    let next = first.acquire(KEY).await.unwrap();
    let refused = second.adopt(detached).await.unwrap_err();
    assert!(matches!(refused.kind, AdoptErrorKind::TooLate(_)), "{refused}");
    drop(second.adopt(refused.detached)); // a release, by the value
    second.shutdown().await.unwrap();
    next.check().unwrap();
    next.release().await.unwrap();
}

#[tokio::test]
async fn a_value_comes_back_while_too_few_masters_answer() {
    let masters = Masters::start_in_memory(3).unwrap();
    let (first, second) = (connect(&masters).await, connect(&masters).await);
    let guard = first.acquire(KEY).await.unwrap();
    masters.iter().take(2).for_each(|master| master.pause());
    let refused = guard.detach().await.unwrap_err();
    assert!(matches!(refused.error, ExtendError::Unextended(_)), "{refused}");
    refused.guard.check().unwrap();
    masters.iter().for_each(|master| master.resume());
    let mut guard = refused.guard;
    // Answers of the round before are under way.
    let mut detached = loop {
        match guard.detach().await {
            Ok(detached) => break detached,
            Err(refused) => guard = refused.guard,
        }
    };
    masters.iter().take(2).for_each(|master| master.pause());
    let refused = second.adopt(detached).await.unwrap_err();
    assert!(matches!(refused.kind, AdoptErrorKind::Unadopted(_)), "{refused}");
    masters.iter().for_each(|master| master.resume());
    detached = refused.detached;
    let guard = loop {
        match second.adopt(detached).await {
            Ok(guard) => break guard,
            Err(refused) => detached = refused.detached,
        }
    };
    guard.release().await.unwrap();
}

#[tokio::test]
async fn a_value_that_is_dropped_stays_and_an_adoption_that_is_dropped_releases() {
    let masters = Masters::start_in_memory(3).unwrap();
    let (first, second) = (connect(&masters).await, connect(&masters).await);
    let detached = first.acquire(KEY).await.unwrap().detach().await.unwrap();
    drop(second.adopt(detached));
    eventually("it is released", SOON, async || holders(&masters) == 0).await;
    drop(first.acquire(KEY).await.unwrap().detach().await.unwrap());
    assert!(first.try_acquire(KEY).await.unwrap_err().is_contended());
    first.shutdown().await.unwrap();
    assert_eq!(holders(&masters), 3);
}

#[tokio::test]
async fn another_prefix_or_a_closed_client_gives_the_value_back() {
    let masters = Masters::start_in_memory(3).unwrap();
    let first = masters.builder().key_prefix("app:").connect().await.unwrap();
    let other = masters.builder().key_prefix("app:x").connect().await.unwrap();
    let detached = first.acquire(KEY).await.unwrap().detach().await.unwrap();
    let refused = other.adopt(detached).await.unwrap_err();
    let AdoptErrorKind::InvalidSetting(invalid) = &refused.kind else { panic!("{refused}") };
    assert_eq!(invalid.field, "key_prefix");
    other.shutdown().await.unwrap();
    let same = masters.builder().key_prefix("app:").connect().await.unwrap();
    same.shutdown().await.unwrap();
    let refused = same.adopt(refused.detached).await.unwrap_err();
    assert!(matches!(refused.kind, AdoptErrorKind::Closed(_)), "{refused}");
    let guard = first.adopt(refused.detached).keep_alive_for(Duration::from_secs(60)).await;
    guard.unwrap().release().await.unwrap();

    let unprefixed = connect(&masters).await;
    let detached = first.acquire(KEY).fenced().await.unwrap().detach().await.unwrap();
    let refused = unprefixed.adopt(detached).await.unwrap_err();
    assert!(matches!(refused.kind, AdoptErrorKind::InvalidSetting(_)), "{refused}");
}

#[tokio::test]
async fn an_adopted_lock_keeps_the_label_of_its_first_holder() {
    let masters = Masters::start_in_memory(3).unwrap();
    let first = masters.builder().label("first").connect().await.unwrap();
    let second = masters.builder().label("second").connect().await.unwrap();
    let guard = first.acquire(KEY).await.unwrap();
    let guard = second.adopt(guard.detach().await.unwrap()).await.unwrap();
    let inspection = second.inspect(KEY).await.unwrap();
    assert_eq!(inspection.holder().unwrap().label(), Some("first"));
    guard.extend().await.unwrap();
    guard.release().await.unwrap();
}

#[test]
fn a_lock_goes_from_thread_to_thread() {
    use quorumlock::Wait;
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let _entered = runtime.enter();
    let masters = Masters::start(3).unwrap();
    let connect = || masters.builder().own_thread(true).connect().wait().unwrap();
    let (first, second) = (connect(), connect());
    let detached = first.acquire(KEY).wait().unwrap().detach().wait().unwrap();
    let guard = second.adopt(detached).keep_alive().wait().unwrap();
    assert!(first.try_acquire(KEY).wait().unwrap_err().is_contended());
    guard.release().wait().unwrap();
}

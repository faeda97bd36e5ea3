//! Owners over embedded masters in memory, on tokio's paused clock.

use super::*;
use crate::driver::clock::Clock;
use crate::embedded::Masters;
use crate::error::LostReason;
use futures::{FutureExt, poll};
use std::time::{Duration, SystemTime};
use tokio::task::yield_now;
use tokio::time::sleep;

const MS: Duration = Duration::from_millis(1);
const TTL: Duration = Duration::from_secs(10);
const R: &str = "r";

async fn three_and_client() -> (Masters, Redlock) {
    let masters = Masters::start_in_memory(3).await.unwrap();
    for master in masters.iter() {
        let since = || Duration::from_nanos(Clock::tokio().now().as_nanos());
        master.set_clock(move || SystemTime::UNIX_EPOCH + since());
    }
    let redlock = connect(&masters).await;
    (masters, redlock)
}

async fn connect(masters: &Masters) -> Redlock {
    masters.builder().ttl(TTL).connect_on(Clock::tokio()).await.unwrap()
}

/// Lets every task finish what it can do now.
async fn settle() {
    sleep(MS).await;
}

/// Returns what the masters have under the resource, and checks that they agree.
async fn token(masters: &Masters) -> Option<String> {
    settle().await;
    let token = masters[0].holder(R);
    assert!(masters.iter().all(|master| master.holder(R) == token));
    token
}

fn doors<K>(owner: &Owner<K>) -> usize {
    owner.doors.lock().unwrap().len()
}

fn invalid<T: fmt::Debug>(result: Result<T, OwnerError>) -> Invalid {
    match result {
        Err(OwnerError::NotAcquired(AcquireError::Invalid(invalid))) => invalid,
        other => panic!("{other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn what_an_owner_holds_it_may_enter_again_and_the_hold_stays_as_it_is() {
    let (masters, redlock) = three_and_client().await;
    let owner = redlock.owner();
    let outer = owner.acquire(R).await.unwrap();
    let (set, deadline) = (token(&masters).await, outer.deadline());
    assert!(set.is_some());
    assert_eq!(outer.hold_count(), 1);

    let with_options = redlock.acquire(R).ttl(2 * TTL).keep_alive();
    let inner = owner.clone().acquire_with(with_options).await.unwrap();
    let innermost = owner.acquire(String::from(R)).await.unwrap();
    assert_eq!([&outer, &inner, &innermost].map(OwnedGuard::hold_count), [3; 3]);
    assert_eq!([&outer, &inner, &innermost].map(|guard| guard.deadline()), [deadline; 3]);
    assert_eq!(token(&masters).await, set, "nothing was set anew");

    let extended = inner.extend().await.unwrap();
    assert!(extended > deadline);
    assert_eq!(outer.deadline(), extended);
}

#[tokio::test(start_paused = true)]
async fn the_last_one_out_releases_whichever_it_is() {
    let (masters, redlock) = three_and_client().await;
    let owner = redlock.owner();
    for last in 0..3 {
        let mut guards = Vec::new();
        for _ in 0..3 {
            guards.push(owner.acquire(R).await.unwrap());
        }
        let kept = guards.remove(last);
        let dropped = guards.remove(0);
        for given_up in guards {
            assert_eq!(given_up.release().await, None);
        }
        drop(dropped);
        assert_eq!(kept.hold_count(), 1);
        assert!(token(&masters).await.is_some(), "{last} is still in");
        kept.check().unwrap();
        if last == 0 {
            drop(kept);
        } else {
            assert_eq!(kept.release().await, Some(Released::Released));
        }
        assert_eq!(token(&masters).await, None);
        assert_eq!(doors(&owner), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn owners_exclude_each_other_and_everybody_else() {
    let (_masters, redlock) = three_and_client().await;
    let (owner, other) = (redlock.owner(), redlock.owner());
    let guard = owner.acquire(R).await.unwrap();
    let refused = other.acquire_with(redlock.try_acquire(R)).await.unwrap_err();
    assert!(matches!(refused, OwnerError::NotAcquired(AcquireError::Contended(_))), "{refused}");
    assert!(redlock.try_acquire(R).await.unwrap_err().is_contended());
    let elsewhere = owner.acquire_with(redlock.try_acquire("s")).await.unwrap();
    assert_eq!((elsewhere.hold_count(), guard.hold_count()), (1, 1));
    assert_eq!((doors(&owner), doors(&other)), (2, 0));
}

#[tokio::test(start_paused = true)]
async fn a_hold_that_has_lapsed_lets_nobody_in_until_all_of_its_guards_are_gone() {
    let (masters, redlock) = three_and_client().await;
    let owner = redlock.owner();
    let outer = owner.acquire(R).await.unwrap();
    let inner = owner.acquire(R).await.unwrap();
    sleep(TTL).await;
    let Err(OwnerError::Lost(lost)) = owner.acquire(R).await else { panic!("entered") };
    assert_eq!((lost.resource(), lost.reason()), (R, &LostReason::Lapsed));
    assert_eq!(inner.hold_count(), 2, "whoever is refused does not count");
    assert_eq!(outer.release().await, None);
    assert!(matches!(owner.acquire(R).await, Err(OwnerError::Lost(_))));
    assert_eq!(inner.release().await, Some(Released::Lost(LostReason::Lapsed)));
    let anew = owner.acquire(R).await.unwrap();
    assert_eq!(anew.hold_count(), 1);
    assert!(anew.is_valid() && token(&masters).await.is_some());
}

#[tokio::test(start_paused = true)]
async fn of_two_that_enter_at_the_same_time_one_acquires_and_the_other_joins_in() {
    let (masters, redlock) = three_and_client().await;
    masters.iter().for_each(|master| master.slow(20 * MS));
    let owner = redlock.owner();
    let mut first = Box::pin(owner.acquire(R));
    let mut second = Box::pin(owner.acquire_with(redlock.try_acquire(R)));
    assert!(poll!(&mut first).is_pending());
    assert!(poll!(&mut second).is_pending());
    let (first, second) = futures::try_join!(first, second).unwrap();
    assert_eq!((first.hold_count(), first.deadline()), (2, second.deadline()));
    let (one, other) = futures::join!(first.release(), second.release());
    assert_eq!([one, other], [None, Some(Released::Released)]);
}

#[tokio::test(start_paused = true)]
async fn when_the_first_is_dropped_the_second_becomes_the_outermost() {
    let (masters, redlock) = three_and_client().await;
    masters.iter().for_each(|master| master.slow(20 * MS));
    let owner = redlock.owner();
    for polls in 1..40 {
        let mut first = Box::pin(owner.acquire(R));
        let mut second = Box::pin(owner.acquire_with(redlock.try_acquire(R)));
        let mut won = None;
        for _ in 0..polls {
            won = won.or_else(|| (&mut first).now_or_never());
            assert!(won.is_some() || (&mut second).now_or_never().is_none(), "it waits its turn");
            if won.is_some() {
                break;
            }
            sleep(MS).await;
        }
        let was_won = won.is_some();
        drop((first, won));
        let guard = second.await.unwrap();
        assert_eq!(guard.hold_count(), 1);
        guard.check().unwrap();
        assert_eq!(guard.release().await, Some(Released::Released));
        sleep(60 * MS).await;
        assert_eq!((token(&masters).await, doors(&owner)), (None, 0), "after {polls} polls");
        if was_won {
            assert!(polls > 20, "a round trip takes that long");
            return;
        }
    }
    panic!("never won");
}

#[tokio::test(start_paused = true)]
async fn when_the_first_fails_the_second_tries_in_turn() {
    let (masters, redlock) = three_and_client().await;
    let somebody = connect(&masters).await.acquire(R).await.unwrap();
    let owner = redlock.owner();
    let (first, second, _) = futures::join!(
        owner.acquire_with(redlock.acquire(R).wait(100 * MS)),
        async {
            yield_now().await;
            owner.acquire_with(redlock.acquire(R).wait(TTL)).await
        },
        async {
            sleep(200 * MS).await;
            somebody.release().await
        }
    );
    assert!(matches!(first, Err(OwnerError::NotAcquired(AcquireError::Contended(_)))));
    assert_eq!(second.unwrap().hold_count(), 1);
}

/// The next acquire asks after the release on every connection. If it asked ahead of it, the owner
/// would refuse itself.
#[tokio::test(start_paused = true)]
async fn nobody_acquires_before_the_release_of_the_one_before_is_on_its_way() {
    let (masters, redlock) = three_and_client().await;
    let owner = redlock.owner();
    let leaving = owner.acquire(R).await.unwrap();
    let Outermost { guard, occupied, door } = Arc::into_inner(leaving.outermost).unwrap();
    let mut next = Box::pin(owner.acquire_with(redlock.try_acquire(R)));
    for _ in 0..20 {
        assert!(poll!(&mut next).is_pending());
        settle().await;
    }
    masters.iter().for_each(|master| master.slow(20 * MS));
    drop((guard, occupied, door));
    let next = next.await.unwrap();
    assert_eq!(next.hold_count(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn on_several_threads_it_never_gets_in_its_own_way_and_leaves_nothing_behind() {
    let masters = Masters::start_in_memory(3).await.unwrap();
    let redlock = masters.builder().connect().await.unwrap();
    let owner = redlock.owner();
    let tasks: Vec<_> = (0..4)
        .map(|task| {
            let (owner, redlock) = (owner.clone(), redlock.clone());
            tokio::spawn(async move {
                for round in 0..200 {
                    let guard = owner.acquire_with(redlock.try_acquire(R)).await.unwrap();
                    guard.check().unwrap();
                    if (round + task) % 3 == 0 {
                        guard.release().await;
                    }
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    assert_eq!(doors(&owner), 0);
    redlock.shutdown().await.unwrap();
    assert!(masters.iter().all(|master| master.keys().is_empty()));
}

#[tokio::test(start_paused = true)]
async fn nothing_is_remembered_of_resources_that_nobody_holds() {
    let (masters, redlock) = three_and_client().await;
    let owner = redlock.owner();
    let held = owner.acquire(R).await.unwrap();
    for n in 0..50 {
        drop(owner.acquire(format!("resource {n}")).await.unwrap());
        // One was given up unfinished, and one failed.
        assert!(owner.acquire(format!("other {n}")).now_or_never().is_none());
        invalid(owner.acquire("").await);
    }
    assert_eq!((doors(&owner), held.hold_count()), (1, 1));
    drop(held);
    assert_eq!((doors(&owner), token(&masters).await), (0, None));
}

/// Another caller makes a new door between the end of the old one and its removal from the list.
#[tokio::test]
async fn a_door_that_goes_leaves_the_one_that_was_made_since() {
    let (_masters, redlock) = three_and_client().await;
    let owner = redlock.owner();
    let old = owner.door(&R.into());
    let mut list = owner.doors.lock().unwrap();
    let going = std::thread::spawn(move || drop(old));
    while list[R].strong_count() > 0 {
        std::thread::yield_now();
    }
    let (doors, resource) = (owner.doors.clone(), R.into());
    let new = Door { doors, resource, hold: Queue::default(), occupied: Arc::default() };
    let new = Arc::new(new);
    list.insert(R.into(), Arc::downgrade(&new));
    drop(list);
    going.join().unwrap();
    assert!(Arc::ptr_eq(&owner.door(&R.into()), &new));
}

#[tokio::test(start_paused = true)]
async fn an_acquire_that_can_not_nest_says_why() {
    let (masters, redlock) = three_and_client().await;
    let owner = redlock.owner();
    let several = invalid(owner.acquire_with(redlock.acquire(["a", "b"])).await);
    let text = "resource: 2 in one call: an owner takes one, so that holds can nest";
    assert_eq!(several.to_string(), text);
    let foreign = invalid(owner.acquire_with(connect(&masters).await.acquire(R)).await);
    let text = "redlock: is not the one that this owner is of: make the acquire with that one";
    assert_eq!(foreign.to_string(), text);
    assert_eq!(owner.acquire_with(redlock.acquire([R, R])).await.unwrap().resource(), R);
}

#[tokio::test(start_paused = true)]
async fn a_fenced_owner_has_the_outermosts_token_in_every_guard() {
    let (_masters, redlock) = three_and_client().await;
    let owner = redlock.owner().fenced();
    let outer = owner.acquire_with(redlock.acquire(R).fenced()).await.unwrap();
    let inner = owner.acquire(R).await.unwrap();
    assert_eq!(outer.fencing_token(), inner.fencing_token());
    assert_eq!(inner.lease().fencing_token(), outer.fencing_token());
}

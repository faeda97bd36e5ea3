//! Re-entrant handles over embedded masters in memory, on tokio's paused clock.

use super::*;
use crate::driver::clock::Clock;
use crate::embedded::Masters;
use crate::failure::{AcquireError, InvalidSetting, LossReason};
use futures::{FutureExt, poll};
use std::time::{Duration, SystemTime};
use tokio::task::yield_now;
use tokio::time::sleep;

const MS: Duration = Duration::from_millis(1);
const TTL: Duration = Duration::from_secs(10);
const R: &str = "r";

async fn three_and_client() -> (Masters, Redlock) {
    let masters = Masters::start_in_memory(3).unwrap();
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

fn doors<K: Kind>(handle: &Reentrant<K>) -> usize {
    handle.doors.lock().unwrap().len()
}

fn invalid<T: std::fmt::Debug>(result: Result<T, ReentrantError>) -> InvalidSetting {
    match result {
        Err(ReentrantError::NotAcquired(AcquireError::InvalidSetting(invalid))) => invalid,
        other => panic!("{other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn a_nested_acquire_joins_the_hold_and_leaves_it_unchanged() {
    let (masters, redlock) = three_and_client().await;
    let handle = redlock.reentrant();
    let outer = handle.acquire(R).await.unwrap();
    let (set, deadline) = (token(&masters).await, outer.deadline());
    assert!(set.is_some());
    assert_eq!(outer.hold_count(), 1);

    let inner = handle.clone().acquire(R).ttl(2 * TTL).keep_alive().await.unwrap();
    let innermost = handle.acquire(String::from(R)).await.unwrap();
    assert_eq!([&outer, &inner, &innermost].map(ReentrantGuard::hold_count), [3; 3]);
    assert_eq!([&outer, &inner, &innermost].map(|guard| guard.deadline()), [deadline; 3]);
    assert_eq!(token(&masters).await, set, "nothing was set anew");

    let extended = inner.extend().await.unwrap();
    assert!(extended > deadline);
    assert_eq!(outer.deadline(), extended);
}

#[tokio::test(start_paused = true)]
async fn the_last_one_out_releases_whichever_it_is() {
    let (masters, redlock) = three_and_client().await;
    let handle = redlock.reentrant();
    for last in 0..3 {
        let mut guards = Vec::new();
        for _ in 0..3 {
            guards.push(handle.acquire(R).await.unwrap());
        }
        let kept = guards.remove(last);
        let dropped = guards.remove(0);
        for given_up in guards {
            assert_eq!(given_up.release().await, Ok(None));
        }
        drop(dropped);
        assert_eq!(kept.hold_count(), 1);
        assert!(token(&masters).await.is_some(), "{last} is still in");
        kept.check().unwrap();
        if last == 0 {
            drop(kept);
        } else {
            assert_eq!(kept.release().await, Ok(Some(Released::Confirmed)));
        }
        assert_eq!(token(&masters).await, None);
        assert_eq!(doors(&handle), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn handles_exclude_each_other_and_all_other_clients() {
    let (_masters, redlock) = three_and_client().await;
    let (handle, other) = (redlock.reentrant(), redlock.reentrant());
    let guard = handle.acquire(R).await.unwrap();
    let refused = other.try_acquire(R).await.unwrap_err();
    assert!(
        matches!(refused, ReentrantError::NotAcquired(AcquireError::Contended(_))),
        "{refused}"
    );
    assert!(redlock.try_acquire(R).await.unwrap_err().is_contended());
    let elsewhere = handle.try_acquire("s").await.unwrap();
    assert_eq!((elsewhere.hold_count(), guard.hold_count()), (1, 1));
    assert_eq!((doors(&handle), doors(&other)), (2, 0));
}

#[tokio::test(start_paused = true)]
async fn a_lapsed_hold_lets_no_caller_in_until_its_guards_are_gone() {
    let (masters, redlock) = three_and_client().await;
    let handle = redlock.reentrant();
    let outer = handle.acquire(R).await.unwrap();
    let inner = handle.acquire(R).await.unwrap();
    sleep(TTL).await;
    let Err(ReentrantError::Lost(lost)) = handle.acquire(R).await else { panic!("entered") };
    assert_eq!((&*lost.resource, &lost.reason), (R, &LossReason::Lapsed));
    assert_eq!(inner.hold_count(), 2, "a refused caller does not count");
    assert_eq!(outer.release().await, Err(lost.clone()), "each of its guards says so");
    assert!(matches!(handle.acquire(R).await, Err(ReentrantError::Lost(_))));
    assert_eq!(inner.release().await, Err(lost));
    let anew = handle.acquire(R).await.unwrap();
    assert_eq!(anew.hold_count(), 1);
    assert!(anew.is_valid() && token(&masters).await.is_some());
}

#[tokio::test(start_paused = true)]
async fn of_two_simultaneous_entries_one_acquires_and_the_other_joins() {
    let (masters, redlock) = three_and_client().await;
    masters.iter().for_each(|master| master.set_latency(20 * MS));
    let handle = redlock.reentrant();
    let mut first = handle.acquire(R).into_future();
    let mut second = handle.try_acquire(R).into_future();
    assert!(poll!(&mut first).is_pending());
    assert!(poll!(&mut second).is_pending());
    let (first, second) = futures::try_join!(first, second).unwrap();
    assert_eq!((first.hold_count(), first.deadline()), (2, second.deadline()));
    let released = futures::join!(first.release(), second.release());
    assert_eq!(released, (Ok(None), Ok(Some(Released::Confirmed))));
}

#[tokio::test(start_paused = true)]
async fn when_the_first_is_dropped_the_second_becomes_the_outermost() {
    let (masters, redlock) = three_and_client().await;
    masters.iter().for_each(|master| master.set_latency(20 * MS));
    let handle = redlock.reentrant();
    for polls in 1..40 {
        let mut first = handle.acquire(R).into_future();
        let mut second = handle.try_acquire(R).into_future();
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
        assert_eq!(guard.release().await, Ok(Some(Released::Confirmed)));
        sleep(60 * MS).await;
        assert_eq!((token(&masters).await, doors(&handle)), (None, 0), "after {polls} polls");
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
    let holder = connect(&masters).await.acquire(R).await.unwrap();
    let handle = redlock.reentrant();
    let (first, second, _) = futures::join!(
        handle.acquire(R).timeout(100 * MS).into_future(),
        async {
            yield_now().await;
            handle.acquire(R).timeout(TTL).await
        },
        async {
            sleep(200 * MS).await;
            holder.release().await
        }
    );
    assert!(matches!(first, Err(ReentrantError::NotAcquired(AcquireError::Contended(_)))));
    assert_eq!(second.unwrap().hold_count(), 1);
}

/// The next acquire asks after the release on every connection. If it asked ahead of it, the handle
/// would refuse itself.
#[tokio::test(start_paused = true)]
async fn an_owner_acquires_again_only_once_its_release_is_on_its_way() {
    let (masters, redlock) = three_and_client().await;
    let handle = redlock.reentrant();
    let leaving = handle.acquire(R).await.unwrap();
    let Outermost { guard, occupied, door } = Arc::into_inner(leaving.outermost).unwrap();
    let mut next = handle.try_acquire(R).into_future();
    for _ in 0..20 {
        assert!(poll!(&mut next).is_pending());
        settle().await;
    }
    masters.iter().for_each(|master| master.set_latency(20 * MS));
    drop((guard, occupied, door));
    let next = next.await.unwrap();
    assert_eq!(next.hold_count(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_owner_on_many_threads_never_refuses_itself_or_leaves_keys() {
    let masters = Masters::start_in_memory(3).unwrap();
    let redlock = masters.builder().connect().await.unwrap();
    let handle = redlock.reentrant();
    let tasks: Vec<_> = (0..4)
        .map(|task| {
            let handle = handle.clone();
            tokio::spawn(async move {
                for round in 0..200 {
                    let guard = handle.try_acquire(R).await.unwrap();
                    guard.check().unwrap();
                    if (round + task) % 3 == 0 {
                        guard.release().await.unwrap();
                    }
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    assert_eq!(doors(&handle), 0);
    redlock.shutdown().await.unwrap();
    assert!(masters.iter().all(|master| master.keys().is_empty()));
}

#[tokio::test(start_paused = true)]
async fn nothing_is_remembered_of_resources_without_a_holder() {
    let (masters, redlock) = three_and_client().await;
    let handle = redlock.reentrant();
    let held = handle.acquire(R).await.unwrap();
    for n in 0..50 {
        drop(handle.acquire(format!("resource {n}")).await.unwrap());
        // One was given up unfinished, and one failed.
        assert!(handle.acquire(format!("other {n}")).into_future().now_or_never().is_none());
        invalid(handle.acquire("").await);
    }
    assert_eq!((doors(&handle), held.hold_count()), (1, 1));
    drop(held);
    assert_eq!((doors(&handle), token(&masters).await), (0, None));
}

/// Another caller makes a new door between the end of the old one and its removal from the list.
#[tokio::test]
async fn a_door_that_goes_leaves_the_one_that_was_made_since() {
    let (_masters, redlock) = three_and_client().await;
    let handle = redlock.reentrant();
    let old = Door::of(&handle.doors, R.into());
    let mut list = handle.doors.lock().unwrap();
    let going = std::thread::spawn(move || drop(old));
    while list[R].strong_count() > 0 {
        std::thread::yield_now();
    }
    let (doors, resource) = (handle.doors.clone(), R.into());
    let new = Door { doors, resource, hold: Queue::default(), occupied: Arc::default() };
    let new = Arc::new(new);
    list.insert(R.into(), Arc::downgrade(&new));
    drop(list);
    going.join().unwrap();
    assert!(Arc::ptr_eq(&Door::of(&handle.doors, R.into()), &new));
}

#[tokio::test(start_paused = true)]
async fn the_outermost_has_the_options_of_its_call() {
    let (_masters, redlock) = three_and_client().await;
    let handle = redlock.reentrant();
    let kept = handle.acquire(R).ttl(TTL / 2).keep_alive().await.unwrap();
    assert!(kept.remaining() < TTL / 2);
    sleep(2 * TTL).await;
    kept.check().unwrap();
    let refused = invalid(handle.acquire("s").keep_alive_for(TTL / 2).await);
    let text = "keep_alive_for: 5s is below the ttl (10s): lengthen it, or shorten the ttl";
    assert_eq!(refused.to_string(), text);
}

#[tokio::test(start_paused = true)]
async fn a_fenced_handle_has_the_outermosts_token_in_every_guard() {
    let (_masters, redlock) = three_and_client().await;
    let handle = redlock.reentrant().fenced();
    let outer = handle.acquire(R).await.unwrap();
    let inner = handle.acquire(R).await.unwrap();
    assert_eq!(outer.fencing_token(), inner.fencing_token());
    assert_eq!(inner.lease().fencing_token(), outer.fencing_token());
}

#[tokio::test(start_paused = true)]
async fn a_handle_its_future_and_its_guard_show_what_they_are() {
    let (_masters, redlock) = three_and_client().await;
    let handle = redlock.reentrant();
    assert!(format!("{handle:?}").starts_with("Reentrant { redlock: Redlock {"));
    assert_eq!(format!("{:?}", handle.acquire(R).into_future()), "AcquireFuture { .. }");
    let guard = format!("{:?}", handle.acquire(R).await.unwrap());
    assert!(guard.starts_with("ReentrantGuard { guard: Guard {"), "{guard}");
    assert!(guard.ends_with("hold_count: 1, .. }"), "{guard}");
}

//! The exclusion by a lock, and the operations of its guard.

use super::*;
use quorumlock::{AcquireError, ExtendError, LockState, Released};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

#[test]
fn of_many_threads_one_is_inside_at_a_time() {
    const THREADS: usize = 6;
    const ROUNDS: usize = 10;
    let (masters, redlock) = three();
    // As far as locks are concerned, half of them are in another process.
    let clients = [redlock, connect(&masters)];
    let (inside, entered) = (AtomicUsize::new(0), AtomicUsize::new(0));
    thread::scope(|scope| {
        for number in 0..THREADS {
            let (client, inside, entered) = (&clients[number % 2], &inside, &entered);
            scope.spawn(move || {
                for _ in 0..ROUNDS {
                    let guard = client.acquire("r").timeout(Duration::MAX).wait().unwrap();
                    assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0, "two are inside");
                    thread::yield_now();
                    guard.check().unwrap();
                    inside.fetch_sub(1, Ordering::SeqCst);
                    entered.fetch_add(1, Ordering::SeqCst);
                    if number % 3 == 0 { drop(guard) } else { drop(guard.release().wait()) }
                }
            });
        }
    });
    assert_eq!(entered.load(Ordering::SeqCst), THREADS * ROUNDS);
    assert_nothing_stays(&masters);
}

#[test]
fn a_guard_tells_what_it_holds_extends_it_and_releases_it() {
    let (masters, redlock) = three();
    let guard = redlock.acquire("r").ttl(TTL / 2).timeout(SOON).wait().unwrap();
    let lease = guard.lease();
    assert_eq!((guard.resource(), lease.resource()), ("r", "r"));
    assert!(guard.is_valid() && guard.remaining() < TTL / 2 && guard.check().unwrap() < TTL / 2);
    let before = guard.deadline();
    let after = guard.extend().wait().unwrap();
    assert!(after > before && lease.deadline() == after);
    assert_eq!(guard.release().wait(), Ok(Released::Confirmed));
    assert!(!lease.is_valid() && lease.check().is_err());
    assert_nothing_stays(&masters);
}

#[test]
fn try_acquire_and_a_bounded_wait_give_up_on_a_held_lock() {
    let (masters, redlock) = three();
    let other = connect(&masters);
    let guard = redlock.acquire("r").keep_alive().wait().unwrap();
    for refused in [redlock.try_acquire("r"), other.try_acquire("r")] {
        assert!(refused.wait().unwrap_err().is_contended());
    }
    let (wait, began) = (Duration::from_millis(300), Instant::now());
    let refused = other.acquire("r").timeout(wait).wait().unwrap_err();
    assert!(refused.is_contended() && began.elapsed() >= wait, "{refused}");
    guard.release().wait().unwrap();
    other.acquire("r").wait().unwrap().release().wait().unwrap();
}

#[test]
fn several_resources_are_locked_together_and_each_of_them_alone() {
    let (masters, redlock) = three();
    let both = redlock.acquire_all(["b", "a"]).wait().unwrap();
    assert_eq!(both.resource(), "a, b");
    for name in ["a", "b"] {
        assert!(redlock.try_acquire(name).wait().unwrap_err().is_contended());
    }
    both.release().wait().unwrap();
    redlock.try_acquire("b").wait().unwrap().release().wait().unwrap();
    assert_nothing_stays(&masters);
}

#[test]
fn fencing_tokens_rise_from_holder_to_holder() {
    let (_masters, redlock) = three();
    let mut last = None;
    for _ in 0..3 {
        let guard = redlock.acquire("r").fenced().wait().unwrap();
        let token = guard.fencing_token();
        assert_eq!(guard.lease().fencing_token(), token);
        guard.extend().wait().unwrap();
        assert_eq!(guard.fencing_token(), token);
        guard.release().wait().unwrap();
        assert!(last.replace(token) < Some(token));
    }
}

#[test]
fn a_kept_lock_outlives_its_ttl_for_as_long_as_was_asked() {
    let (_masters, redlock) = three();
    let ttl = Duration::from_millis(1_500);
    let guard = redlock.acquire("r").ttl(ttl).keep_alive_for(Duration::MAX).wait().unwrap();
    assert_eq!(guard.lost().wait_within(ttl + ttl / 4), None);
    assert!(guard.is_valid());
    guard.release().wait().unwrap();
    let ttl = Duration::from_secs(1);
    let guard = redlock.acquire("r").ttl(ttl).keep_alive_for(ttl).wait().unwrap();
    let lost = guard.lost().wait().unwrap();
    assert!(lost.held_for <= ttl, "{lost}");
}

#[test]
fn a_forgotten_lock_stays_closed_until_it_expires() {
    let (_masters, redlock) = three();
    let ttl = Duration::from_secs(1);
    let guard = redlock.acquire("r").ttl(ttl).wait().unwrap();
    let lease = guard.lease();
    guard.forget();
    assert!(!lease.is_valid());
    assert!(redlock.try_acquire("r").wait().unwrap_err().is_contended());
    redlock.acquire("r").wait().unwrap().release().wait().unwrap();
}

#[test]
fn the_last_guard_of_a_reentrant_handle_releases() {
    let (masters, redlock) = three();
    let handle = redlock.reentrant();
    let outer = handle.acquire("r").keep_alive().wait().unwrap();
    let inner = handle.clone().try_acquire("r").wait().unwrap();
    assert_eq!((inner.hold_count(), inner.deadline()), (2, outer.deadline()));
    outer.extend().wait().unwrap();
    assert_eq!((inner.resource(), inner.lease().is_valid()), ("r", true));
    assert!(redlock.try_acquire("r").wait().unwrap_err().is_contended(), "it excludes others");
    assert_eq!(outer.release().wait(), Ok(None));
    assert_eq!(inner.release().wait(), Ok(Some(Released::Confirmed)));
    let fenced = handle.fenced();
    let acquire = || fenced.acquire("r").wait().unwrap();
    let (outer, inner) = (acquire(), acquire());
    assert_eq!(outer.fencing_token(), inner.fencing_token());
    drop((outer, inner));
    look(witness::eventually_none(&masters, |key| !key.contains("quorumlock:"), SOON));
}

#[test]
fn a_holder_is_inspected_and_its_lock_is_taken_away() {
    let (masters, redlock) = three();
    let other = patient(&masters).label("worker-7").connect().wait().unwrap();
    assert_eq!(redlock.inspect("r").wait().unwrap().state(), &LockState::Free);
    let guard = other.acquire("r").wait().unwrap();
    let found = redlock.inspect("r").wait().unwrap();
    assert_eq!(found.holder().unwrap().label(), Some("worker-7"));
    redlock.force_release(&found).wait().unwrap();
    assert!(matches!(guard.extend().wait(), Err(ExtendError::Lost(_))));
    assert_nothing_stays(&masters);
}

#[test]
fn a_resource_that_cannot_be_is_refused_before_anything_is_sent() {
    let (_masters, redlock) = three();
    let refused = redlock.acquire("").wait().unwrap_err();
    assert!(matches!(refused, AcquireError::InvalidSetting(_)), "{refused}");
    assert!(redlock.acquire("r").ttl(Duration::ZERO).wait().is_err());
    assert!(redlock.acquire("r").lock_delay(Duration::from_secs(3600)).wait().is_err());
    assert!(redlock.inspect("").wait().is_err());
}

#[test]
fn a_semaphore_shows_the_holders_of_its_permits() {
    let (masters, redlock) = three();
    let semaphore = redlock.semaphore("import", 2);
    let permit = semaphore.acquire().label("worker-7").wait().unwrap();
    let seen = semaphore.inspect().wait().unwrap();
    let held: Vec<_> = seen.iter().filter(|slot| slot.holder().is_some()).collect();
    assert_eq!((seen.len(), held.len(), held[0].slot()), (2, 1, Some(permit.slot())));
    assert_eq!(held[0].holder().and_then(|holder| holder.label()), Some("worker-7"));
    assert_eq!((semaphore.permits(), semaphore.available_permits().wait().unwrap()), (2, 1));
    redlock.force_release(held[0]).wait().unwrap();
    assert!(permit.extend().wait().is_err() && semaphore.available_permits().wait().unwrap() == 2);
    assert_nothing_stays(&masters);
}

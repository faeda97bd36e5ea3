//! Claims that must hold between ours and any other client.

use super::peer::Peer;
use super::world::{PATIENCE, TTL, World};
use crate::support::poll::eventually;
use quorumlock::report::{Answer, Refusal};
use quorumlock::{AcquireError, ExtendError, Released};
use std::time::Duration;

/// Makes the claims tests of a module that has the peer's name.
macro_rules! excludes {
    ($name:ident, $peer:ty, $ready:expr) => {
        mod $name {
            use super::*;
            excludes!(@ $peer, $ready,
                what_they_hold_is_contended_here,
                what_we_hold_is_refused_there,
                what_we_read_is_refused_there_until_the_last_reader_has_left,
                what_we_hold_in_turn_is_refused_there,
                what_we_keep_alive_is_refused_there_beyond_its_first_ttl,
                what_they_release_late_leaves_ours_alone,
                what_we_release_late_leaves_theirs_alone,
                a_race_that_one_side_lost_leaves_the_keys_of_the_other,
                with_a_master_down_they_exclude_each_other_all_the_same,
                many_of_both_kinds_lose_no_update_and_never_overlap,
            );
        }
    };
    (@ $peer:ty, $ready:expr, $($claim:ident,)*) => {
        $(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $claim() {
                if $ready {
                    super::scenes::$claim::<$peer>().await;
                }
            }
        )*
    };
}
pub(crate) use excludes;

pub(crate) use super::storm::many_of_both_kinds_lose_no_update_and_never_overlap;

pub(crate) async fn what_they_hold_is_contended_here<P: Peer>() {
    let world = World::<P>::start().await;
    let held = world.theirs("orders:42").await;
    let theirs = world.settled("orders:42").await;
    world.assert_contended_here("orders:42").await;

    // A waiter asks for the remaining ttl.
    let learnt = async || {
        let acquire = world.ours.acquire("orders:42").timeout(Duration::from_millis(500));
        match acquire.await {
            Err(AcquireError::Contended(error)) => error.nodes.iter().any(|node| {
                let Answer::Refused(Refusal::Held { remaining: Some(left) }) = node.answer else {
                    return false;
                };
                assert!(left <= TTL, "{left:?} is more than their ttl");
                true
            }),
            Err(AcquireError::NoQuorum(_)) => false,
            other => panic!("{other:?}"),
        }
    };
    eventually("the waiter learns how long yet", PATIENCE, learnt).await;

    let fenced = world.ours.try_acquire("orders:42").fenced().await.unwrap_err();
    assert!(fenced.is_contended(), "{fenced}");
    let several = world.ours.try_acquire_all(["another", "orders:42"]).await.unwrap_err();
    assert!(several.is_contended(), "{several}");
    world.assert_free("another").await;
    let inspection = world.ours.inspect("orders:42").await.unwrap();
    assert!(inspection.holder().is_some(), "{inspection}");
    assert_eq!(world.standing("orders:42").await, theirs, "theirs stands as it stood");

    world.theirs.release(held).await;
    world.assert_free("orders:42").await;
    world.ours.acquire("orders:42").await.unwrap().release().await.unwrap();
}

pub(crate) async fn what_we_hold_is_refused_there<P: Peer>() {
    let world = World::<P>::start().await;
    let plain = world.ours.acquire("plain").await.unwrap();
    let fenced = world.ours.acquire("fenced").fenced().await.unwrap();
    let several = world.ours.acquire_all(["a", "b"]).await.unwrap();
    let read = world.ours.rw_lock("read").read().await.unwrap();
    for resource in ["plain", "fenced", "a", "b", "read"] {
        let ours = world.settled(resource).await;
        world.assert_refused_there(resource).await;
        assert_eq!(world.standing(resource).await, ours, "{resource}");
    }
    plain.extend().await.unwrap();
    fenced.extend().await.unwrap();
    several.extend().await.unwrap();
    read.extend().await.unwrap();
    assert_eq!(plain.release().await, Ok(Released::Confirmed));
    assert_eq!(fenced.release().await, Ok(Released::Confirmed));
    assert_eq!(several.release().await, Ok(Released::Confirmed));
    assert_eq!(read.release().await, Ok(Released::Confirmed));
    for resource in ["plain", "fenced", "a", "b", "read"] {
        let held = world.theirs(resource).await;
        world.assert_contended_here(resource).await;
        let read = world.ours.rw_lock(resource).try_read().await;
        assert!(read.is_err_and(|error| error.is_contended()), "{resource}");
        world.theirs.release(held).await;
    }
}

pub(crate) async fn what_we_read_is_refused_there_until_the_last_reader_has_left<P: Peer>() {
    let world = World::<P>::start().await;
    let lock = world.ours.rw_lock("table");
    let (first, second) = (lock.read().await.unwrap(), lock.read().await.unwrap());
    let ours = world.settled("table").await;
    world.assert_refused_there("table").await;
    assert_eq!(first.release().await, Ok(Released::Confirmed));
    world.assert_refused_there("table").await;
    second.extend().await.unwrap();
    assert_eq!(world.standing("table").await, ours, "the mark stands while one reads");
    assert_eq!(second.release().await, Ok(Released::Confirmed));

    let held = world.theirs("table").await;
    let theirs = world.settled("table").await;
    for refused in [lock.try_read().await.err(), lock.try_write().await.err()] {
        let error = refused.expect("they hold it");
        assert!(error.is_contended(), "{error}");
    }
    assert_eq!(world.standing("table").await, theirs, "theirs stands as it stood");
    world.theirs.release(held).await;
    let write = lock.write().await.unwrap();
    world.assert_refused_there("table").await;
    let read = write.downgrade().await.unwrap();
    world.assert_refused_there("table").await;
    assert_eq!(read.release().await, Ok(Released::Confirmed));
    world.assert_free("table").await;
}

pub(crate) async fn what_we_hold_in_turn_is_refused_there<P: Peer>() {
    let world = World::<P>::start().await;
    let fair = || world.ours.acquire("printer").fair(true);
    let held = world.theirs("printer").await;
    let theirs = world.settled("printer").await;
    let refused = fair().timeout(Duration::from_millis(300)).await.unwrap_err();
    assert!(refused.is_contended(), "{refused}");
    assert_eq!(world.standing("printer").await, theirs, "theirs stands as it stood");
    let waits = tokio::spawn(fair().into_future());
    world.one_waits("printer").await;
    assert_eq!(world.standing("printer").await, theirs, "theirs stands as it stood");
    world.theirs.release(held).await;
    let guard = waits.await.unwrap().unwrap();
    // It may have won at a quorum, before theirs was gone everywhere; the extension sets ours there as well.
    let gone = async || world.standing("printer").await.iter().all(|value| *value != theirs[0]);
    eventually("theirs is gone", PATIENCE, gone).await;
    guard.extend().await.unwrap();
    let ours = world.settled("printer").await;
    world.assert_refused_there("printer").await;
    assert_eq!(world.standing("printer").await, ours);
    assert_eq!(guard.release().await, Ok(Released::Confirmed));
    let held = world.theirs("printer").await;
    world.assert_contended_here("printer").await;
    world.theirs.release(held).await;
    world.assert_free("printer").await;
}

pub(crate) async fn what_we_keep_alive_is_refused_there_beyond_its_first_ttl<P: Peer>() {
    let world = World::<P>::start().await;
    let ttl = Duration::from_secs(4);
    let guard = world.ours.acquire("kept").ttl(ttl).keep_alive().await.unwrap();
    let first = guard.deadline();
    let started = std::time::Instant::now();
    loop {
        let beyond = started.elapsed() > ttl;
        world.assert_refused_there("kept").await;
        if beyond {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    guard.check().unwrap();
    assert!(guard.deadline() > first);
    assert_eq!(guard.release().await, Ok(Released::Confirmed));
    let held = world.theirs("kept").await;
    world.theirs.release(held).await;
}

pub(crate) async fn what_they_release_late_leaves_ours_alone<P: Peer>() {
    let world = World::<P>::start().await;
    let mut late = world.theirs("r").await;
    world.lapse("r").await;
    let guard = world.ours.acquire("r").await.unwrap();
    let ours = world.settled("r").await;
    let extended = world.theirs.extend(&mut late, TTL).await;
    assert_ne!(extended, Some(true), "both hold it");
    assert_eq!(world.standing("r").await, ours);
    world.theirs.release(late).await;
    assert_eq!(world.standing("r").await, ours);
    guard.extend().await.unwrap();
    assert_eq!(guard.release().await, Ok(Released::Confirmed));
    world.assert_free("r").await;
}

pub(crate) async fn what_we_release_late_leaves_theirs_alone<P: Peer>() {
    let world = World::<P>::start().await;
    for is_asked_first in [true, false] {
        let late = world.ours.acquire("r").await.unwrap();
        world.lapse("r").await;
        let mut held = world.theirs("r").await;
        let theirs = world.settled("r").await;
        if is_asked_first {
            let lost = late.extend().await;
            assert!(matches!(lost, Err(ExtendError::Lost(_))), "{lost:?}");
            assert_eq!(world.standing("r").await, theirs);
        }
        assert_ne!(late.release().await, Ok(Released::Confirmed));
        assert_eq!(world.standing("r").await, theirs);
        // Still theirs, and their client agrees.
        assert_ne!(world.theirs.extend(&mut held, TTL).await, Some(false));
        world.theirs.release(held).await;
        world.assert_free("r").await;
    }
}

pub(crate) async fn a_race_that_one_side_lost_leaves_the_keys_of_the_other<P: Peer>() {
    let world = World::<P>::start().await;
    let held = world.theirs("r").await;
    let mut theirs = world.settled("r").await;
    let minority = world.take_from_a_minority("r").await;
    theirs[..minority].fill(None);
    world.assert_contended_here("r").await;
    let back = async || world.standing("r").await == theirs;
    eventually("what we had set is gone, theirs stands", PATIENCE, back).await;
    world.theirs.release(held).await;
    world.assert_free("r").await;

    let guard = world.ours.acquire("r").await.unwrap();
    let all = world.settled("r").await;
    world.take_from_a_minority("r").await;
    let mut ours = all.clone();
    ours[..minority].fill(None);
    world.assert_refused_there("r").await;
    let back = async || world.standing("r").await == ours;
    eventually("what they had set is gone, ours stands", PATIENCE, back).await;
    guard.extend().await.unwrap();
    // Where the key is gone, an extension that was won sets it again.
    let topped_up = async || world.standing("r").await == all;
    eventually("ours is back on all masters", PATIENCE, topped_up).await;
    assert_eq!(guard.release().await, Ok(Released::Confirmed));
    world.assert_free("r").await;
}

pub(crate) async fn with_a_master_down_they_exclude_each_other_all_the_same<P: Peer>() {
    let world = World::<P>::start().await;
    if P::MASTERS > 2 {
        world.masters.kill(P::MASTERS - 1);
    }
    let guard = world.ours.acquire("ours").await.unwrap();
    let ours = world.settled("ours").await;
    world.assert_refused_there("ours").await;
    assert_eq!(world.standing("ours").await, ours);
    guard.extend().await.unwrap();
    assert_eq!(guard.release().await, Ok(Released::Confirmed));
    if P::BEARS_A_DEAD_MASTER {
        let held = world.theirs("theirs").await;
        let theirs = world.settled("theirs").await;
        world.assert_contended_here("theirs").await;
        assert_eq!(world.standing("theirs").await, theirs);
        world.theirs.release(held).await;
    } else {
        // It reports failure, and leaves behind what it had set: the lock is closed until that
        // expires.
        world.assert_refused_there("theirs").await;
        world.assert_contended_here("theirs").await;
    }
}

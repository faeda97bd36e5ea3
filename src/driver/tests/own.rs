//! What an inspection and a list say of the locks that the client itself holds.

use super::*;
use crate::{Acquire, Holder, Inspection, NodeState};

const WARM: Duration = Duration::from_secs(4);

fn warm(redlock: &Redlock) -> Acquire {
    redlock.acquire(KEY).ttl(TTL).keep_warm(WARM)
}

/// Returns whether this client is the holder, and whether the lock is idle there.
fn of(holder: &Holder) -> (bool, bool) {
    assert_eq!(holder.to_string().contains(", idle in this client, "), holder.is_idle());
    (holder.is_this_client(), holder.is_idle())
}

/// Returns the same of the holder by quorum, once each master says the same.
fn known(found: &Inspection) -> (bool, bool) {
    let by_quorum = of(found.holder().unwrap());
    for node in found.nodes() {
        let NodeState::Held(holder) = &node.state else { panic!("{found}") };
        assert_eq!(of(holder), by_quorum, "{found}");
    }
    by_quorum
}

/// Inspects the lock, and lists it: returns what both say.
async fn looks(redlock: &Redlock) -> (bool, bool) {
    settle().await;
    let inspected = known(&redlock.inspect(KEY).await.unwrap());
    let mut list = redlock.list("");
    let listed = list.next().await.unwrap().unwrap();
    assert_eq!((known(listed.inspection()), of(listed.holder())), (inspected, inspected));
    assert!(list.next().await.is_none());
    inspected
}

const HELD: (bool, bool) = (true, false);
const IDLE: (bool, bool) = (true, true);
const ELSEWHERE: (bool, bool) = (false, false);

#[tokio::test(start_paused = true)]
async fn a_client_knows_which_locks_it_holds_and_which_are_idle() {
    let (masters, redlock) = five_and_client().await;
    let other = connect(masters.builder().key_prefix("").label("other")).await;
    let guard = warm(&redlock).await.unwrap();
    assert_eq!((looks(&redlock).await, looks(&other).await), (HELD, ELSEWHERE));
    guard.release().await.unwrap();
    assert_eq!((looks(&redlock).await, looks(&other).await), (IDLE, ELSEWHERE));
    assert_eq!(looks(&redlock.clone()).await, IDLE, "clones are one client");
    let guard = warm(&redlock).await.unwrap();
    assert_eq!(looks(&redlock).await, HELD, "a guard has it again");
    guard.release().await.unwrap();
    // Another client's hold is not idle, though one is idle here under the same key.
    let inspection = other.inspect(KEY).await.unwrap();
    other.force_release(&inspection).await.unwrap();
    let taken = other.try_acquire(KEY).await.unwrap();
    assert_eq!((looks(&redlock).await, looks(&other).await), (ELSEWHERE, HELD));
    drop(taken);
}

#[tokio::test(start_paused = true)]
async fn a_client_knows_which_reader_and_which_permit_is_its_own() {
    let (masters, redlock) = five_and_client().await;
    let other = connect(masters.builder().label("other")).await;
    let readers = [redlock.rw_lock("t").read().await, other.rw_lock("t").read().await];
    let permits = [
        redlock.semaphore("s", 3).acquire().await.unwrap(),
        other.semaphore("s", 3).acquire().await.unwrap(),
    ];
    let found = redlock.inspect("t").await.unwrap();
    let holder = found.holder().unwrap();
    assert!(!holder.is_this_client(), "there are others, too");
    let ours = |reader: &Holder| (reader.label() != Some("other"), false);
    assert_eq!(holder.readers().len(), 2);
    holder.readers().iter().for_each(|reader| assert_eq!(of(reader), ours(reader)));
    let found = redlock.semaphore("s", 3).inspect().await.unwrap();
    let held: Vec<_> =
        found.iter().filter_map(|permit| Some((permit.slot()?, permit.holder()?))).collect();
    assert_eq!(held.len(), 2);
    for (slot, holder) in held {
        assert_eq!(holder.is_this_client(), slot == permits[0].slot());
    }
    drop(readers);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_has_shut_down_knows_of_no_lock_and_lists_them() {
    let (masters, redlock) = five_and_client().await;
    let guard = redlock.acquire(KEY).ttl(TTL).await.unwrap();
    let listed = async |redlock: &Redlock| {
        let found = redlock.list("").next().await.unwrap().unwrap();
        assert!(found.is_held());
        of(found.holder())
    };
    assert_eq!(listed(&redlock).await, HELD);
    redlock.shutdown().await.unwrap();
    assert_eq!(listed(&redlock).await, ELSEWHERE);
    drop(guard);

    let redlock = connect(masters.builder()).await;
    redlock.acquire("idle").ttl(TTL).keep_warm(TTL).await.unwrap().release().await.unwrap();
    let list = redlock.list("");
    drop(redlock);
    settle().await;
    assert!(masters.iter().all(|master| master.holder("idle").is_none()), "no list keeps it alive");
    drop(list);
}

//! The migrations from a single Redis in `docs/cookbook.md` and `docs/one-managed-redis.md`:
//! clients that run side by side in them exclude each other.

use crate::support::prelude::*;
use quorumlock::{Redlock, RedlockBuilder};
use redis::{Value, cmd};
use std::time::Duration;

const NAME: &str = "orders:42";
const LONG: Duration = Duration::from_secs(600);

/// Allows for late answers from a busy machine.
fn patient(builder: RedlockBuilder) -> RedlockBuilder {
    builder.ttl(Duration::from_secs(20)).operation_timeout(Duration::from_secs(2))
}

/// Acquires like an old client; returns whether it has the lock then.
async fn old_client_acquires(single: &Server) -> bool {
    let mut set = cmd("SET");
    set.arg(NAME).arg("theirs").arg("NX").arg("PX").arg(LONG.as_millis().to_string());
    witness::ask::<Value>(single, &set).await.unwrap() == Value::Okay
}

async fn old_client_releases(single: &Server) {
    assert_eq!(witness::value(single, NAME).await.as_deref(), Some("theirs"));
    witness::ask::<i64>(single, cmd("DEL").arg(NAME)).await.unwrap();
}

async fn is_refused(redlock: &Redlock) -> bool {
    redlock.try_acquire(NAME).await.is_err_and(|error| error.is_contended())
}

#[tokio::test]
async fn old_and_new_clients_exclude_each_other_in_each_shared_phase() {
    let (single, five) = (Server::start(), Masters::start(5));
    let joint = patient(five.builder()).joint_with([single.url()]).connect().await.unwrap();

    assert!(old_client_acquires(&single).await);
    assert!(is_refused(&joint).await);
    old_client_releases(&single).await;
    for fenced in [false, true] {
        let acquire = joint.acquire(NAME);
        let (plain, numbered) = match fenced {
            true => (None, Some(acquire.fenced().await.unwrap())),
            false => (Some(acquire.await.unwrap()), None),
        };
        assert!(!old_client_acquires(&single).await, "fenced: {fenced}");
        if let Some(guard) = plain {
            guard.release().await.unwrap();
        }
        if let Some(guard) = numbered {
            guard.release().await.unwrap();
        }
    }
    assert!(old_client_acquires(&single).await);
    old_client_releases(&single).await;

    // The last phase begins: clients that use only the five masters, next to the joint ones.
    let new = patient(five.builder()).connect().await.unwrap();
    let guard = joint.acquire(NAME).await.unwrap();
    assert!(is_refused(&new).await);
    guard.release().await.unwrap();
    let _guard = new.acquire(NAME).await.unwrap();
    assert!(is_refused(&joint).await);
    // From now on an old client would no longer be kept out.
    assert!(old_client_acquires(&single).await);
}

/// The table of `docs/one-managed-redis.md`, for clients of ours in every phase.
#[tokio::test]
async fn from_one_master_to_five_neighbours_exclude_each_other() {
    let (single, five) = (Server::start(), Masters::start(5));
    let alone = || patient(builder()).nodes([single.url()]);
    let joint = || patient(five.builder()).joint_with([single.url()]);
    let deployments = [
        alone().connect().await.unwrap(),
        joint().connect().await.unwrap(),
        patient(five.builder()).connect().await.unwrap(),
    ];
    for neighbours in deployments.windows(2) {
        for (holder, other) in [(0, 1), (1, 0)] {
            let guard = neighbours[holder].acquire(NAME).await.unwrap();
            assert!(is_refused(&neighbours[other]).await);
            guard.release().await.unwrap();
        }
    }
    // The first and the last share no master, and nothing refuses either.
    let _guard = deployments[0].acquire(NAME).await.unwrap();
    let second = deployments[2].acquire(NAME).await.unwrap();
    assert!(second.is_valid());
    // Without the one, the phase between has no lock, and the last has.
    drop(second);
    single.kill();
    let without = deployments[1].try_acquire(NAME).await;
    assert!(without.is_err_and(|error| error.is_no_quorum()));
    deployments[2].acquire(NAME).await.unwrap().release().await.unwrap();
}

#[tokio::test]
async fn a_lock_without_an_expiry_is_seen() {
    let single = Server::start();
    let redlock = patient(builder()).node(single.url()).connect().await.unwrap();
    witness::ask::<()>(&single, cmd("SET").arg(NAME).arg("theirs").arg("NX")).await.unwrap();
    let inspection = redlock.inspect(NAME).await.unwrap();
    assert!(inspection.to_string().contains("never expires"), "{inspection}");
    assert!(is_refused(&redlock).await);
}

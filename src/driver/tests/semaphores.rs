//! Permits through the whole crate, over embedded masters in virtual time.

use super::{MS, SECOND, TTL, connect, five, five_and_client, now, settle};
use crate::embedded::Masters;
use crate::{AcquireError, InspectError, Permit, Redlock, Semaphore};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

fn full(error: AcquireError) -> String {
    assert!(error.is_contended(), "{error}");
    error.to_string()
}

async fn all(semaphore: &Semaphore) -> Vec<Permit> {
    let mut permits = Vec::new();
    for _ in 0..semaphore.permits() {
        permits.push(semaphore.try_acquire().await.unwrap());
    }
    permits
}

async fn clients(masters: &Masters, count: usize) -> Vec<Redlock> {
    let mut clients = Vec::new();
    for _ in 0..count {
        clients.push(connect(masters.builder()).await);
    }
    clients
}

#[tokio::test(start_paused = true)]
async fn so_many_permits_are_held_at_a_time_each_with_its_slot_and_no_more() {
    let masters = five();
    let clients = clients(&masters, 3).await;
    let semaphore = clients[0].semaphore("import", 10);
    let mut permits = Vec::new();
    for client in clients.iter().cycle().take(10) {
        permits.push(client.semaphore("import", 10).try_acquire().await.unwrap());
    }
    let slots: BTreeSet<usize> = permits.iter().map(|permit| permit.slot()).collect();
    assert_eq!(slots, (0..10).collect());
    assert_eq!(permits[0].resource(), "import");
    for client in &clients {
        let error = client.semaphore("import", 10).try_acquire().await.unwrap_err();
        let text = full(error);
        assert!(
            text.starts_with("all 10 permits of \"import\" are taken, the first expires in"),
            "{text}"
        );
    }
    assert_eq!(semaphore.available_permits().await.unwrap(), 0);
    let slot = permits.remove(4).release().await.map(drop);
    assert_eq!((slot, semaphore.available_permits().await.unwrap()), (Ok(()), 1));
    let eleventh = clients[0].semaphore("import", 11).try_acquire().await.unwrap();
    let again = clients[1].semaphore("import", 10).try_acquire().await;
    assert_ne!(eleventh.slot() == 10, again.is_err(), "the greatest number counts");
    // A lock of the same name is another thing.
    drop(clients[0].try_acquire("import").await.unwrap());
}

#[tokio::test(start_paused = true)]
async fn a_waiter_gets_the_permit_that_another_client_releases() {
    let masters = five();
    let clients = clients(&masters, 2).await;
    let mut held = all(&clients[0].semaphore("import", 3)).await;
    let waiting = tokio::spawn({
        let semaphore = clients[1].semaphore("import", 3);
        async move { semaphore.acquire().await.map(|permit| (permit.slot(), now(), permit)) }
    });
    tokio::time::sleep(2 * SECOND).await;
    let (released, at) = (held.remove(1), now());
    let slot = released.slot();
    drop(released);
    let (got, when, _permit) = waiting.await.unwrap().unwrap();
    assert_eq!(got, slot);
    assert!(when.since(at) < 5 * MS, "a message, and not a poll: {:?}", when.since(at));
}

#[tokio::test(start_paused = true)]
async fn the_permit_of_a_client_that_is_gone_expires_by_itself() {
    let masters = five();
    let clients = clients(&masters, 2).await;
    let held = all(&clients[0].semaphore("import", 2)).await;
    held.into_iter().for_each(Permit::forget);
    let began = now();
    let waits = clients[1].semaphore("import", 2).acquire().timeout(2 * TTL);
    let _permit = waits.await.unwrap();
    let waited = now().since(began);
    assert!(waited > TTL - SECOND && waited < TTL + SECOND, "{waited:?}");
}

#[tokio::test(start_paused = true)]
async fn waiters_of_a_client_are_served_in_their_order() {
    let (_masters, redlock) = five_and_client().await;
    let semaphore = redlock.semaphore("import", 2);
    let held = all(&semaphore).await;
    let (turn, mut tasks) = (Arc::new(AtomicUsize::new(0)), Vec::new());
    for place in 0..20 {
        let (semaphore, turn) = (semaphore.clone(), turn.clone());
        tasks.push(tokio::spawn(async move {
            let permit = semaphore.acquire().timeout(Duration::MAX).await.unwrap();
            assert_eq!(turn.fetch_add(1, SeqCst), place);
            tokio::time::sleep(10 * MS).await;
            permit.release().await.unwrap();
        }));
        settle().await;
    }
    drop(held);
    for task in tasks {
        task.await.unwrap();
    }
}

/// With messages lost or denied, too.
#[tokio::test(start_paused = true)]
async fn clients_take_turns_and_never_are_there_more_than_permits() {
    for wake_ups in [true, false] {
        let masters = five();
        let (valid, mut tasks) = (Arc::new(AtomicUsize::new(0)), Vec::new());
        for _ in 0..4 {
            let redlock = connect(masters.builder().wake_ups(wake_ups)).await;
            for _ in 0..4 {
                let (semaphore, valid) = (redlock.semaphore("import", 3), valid.clone());
                tasks.push(tokio::spawn(async move {
                    for _ in 0..20 {
                        let permit = semaphore.acquire().timeout(Duration::MAX).await.unwrap();
                        assert!(valid.fetch_add(1, SeqCst) < 3);
                        tokio::time::sleep(20 * MS).await;
                        valid.fetch_sub(1, SeqCst);
                        drop(permit);
                    }
                }));
            }
        }
        let began = now();
        for task in tasks {
            task.await.unwrap();
        }
        let (took, ideal) = (now().since(began), 16 * 20 * 20 * MS / 3);
        assert!(took < ideal * if wake_ups { 3 } else { 30 } / 2, "{took:?}, at best {ideal:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_a_semaphore_is_refused_before_anything_is_sent() {
    let (masters, redlock) = five_and_client().await;
    for (permits, problem) in [(0, "must be at least 1"), (65, "65 are more than 64")] {
        let semaphore = redlock.semaphore("import", permits);
        let refused = semaphore.acquire().await.unwrap_err();
        assert_eq!(refused.to_string(), format!("permits: {problem}"));
        let looked = semaphore.available_permits().await;
        assert!(matches!(looked, Err(InspectError::InvalidSetting(_))), "{looked:?}");
    }
    let named = redlock.semaphore("quorumlock:x", 2).acquire().await.unwrap_err();
    assert!(matches!(named, AcquireError::InvalidSetting(_)), "{named}");
    assert_eq!(masters[0].keys(), [""; 0]);
    drop(redlock.semaphore("import", 64).acquire().await.unwrap());
}

#[tokio::test(start_paused = true)]
async fn a_body_runs_under_a_permit() {
    let (masters, redlock) = five_and_client().await;
    let semaphore = redlock.semaphore("import", 2);
    let slot = semaphore.acquire().run(async |lease| lease.slot()).await.unwrap();
    assert!(slot < 2);
    settle().await;
    super::assert_no_keys(&masters, "released");
    redlock.shutdown().await.unwrap();
    let closed = semaphore.acquire().timeout(Duration::MAX).await;
    assert!(matches!(closed, Err(AcquireError::Closed(_))), "{closed:?}");
}

#[tokio::test(start_paused = true)]
async fn a_shutdown_ends_the_wait_for_a_permit() {
    let (_masters, redlock) = five_and_client().await;
    let semaphore = redlock.semaphore("import", 1);
    let held = semaphore.acquire().await.unwrap();
    let waits = semaphore.clone();
    let waiting =
        tokio::spawn(async move { waits.acquire().timeout(Duration::MAX).await.map(drop) });
    settle().await;
    redlock.shutdown().await.unwrap();
    assert!(matches!(waiting.await.unwrap(), Err(AcquireError::Closed(_))));
    drop(held);
}

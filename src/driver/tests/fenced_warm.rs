//! Fenced locks that are kept warm: each guard has a number of its own, and a store that checks them sees one
//! order, over guards of one client and of several.

use super::*;
use crate::embedded::Memory;
use crate::fencing::FenceCheck;
use crate::{Acquire, FencedGuard, FencingToken};

const WARM: Duration = Duration::from_secs(2);

fn warm(redlock: &Redlock) -> Acquire<FencedGuard> {
    redlock.acquire(KEY).ttl(TTL).keep_warm(WARM).fenced()
}

/// What a lock protects: it refuses a number below the greatest, and records each new one.
#[derive(Default)]
struct Store {
    check: FenceCheck<String>,
    admitted: Vec<FencingToken>,
}

impl Store {
    fn admit(&mut self, guard: &FencedGuard) -> FencingToken {
        let token = guard.fencing_token();
        self.check.admit(KEY, token).unwrap();
        assert!(!self.admitted.contains(&token), "{token} of two guards");
        self.admitted.push(token);
        token
    }
}

fn seen(masters: &Masters) -> Vec<Option<String>> {
    masters.iter().map(|master| master.holder(KEY)).collect()
}

/// Time stands still between the guards: the number of the other client is not above by its clock alone.
#[tokio::test(start_paused = true)]
async fn a_store_sees_one_order_over_guards_of_one_client_and_of_another() {
    let (masters, redlock) = five_and_client().await;
    let other = connect(masters.builder()).await;
    let mut store = Store::default();
    for _ in 0..3 {
        let first = warm(&redlock).await.unwrap();
        let before = seen(&masters);
        let token = store.admit(&first);
        first.release().await.unwrap();
        for further in 1..=3 {
            let guard = warm(&redlock).await.unwrap();
            assert_eq!(store.admit(&guard).as_u64(), token.as_u64() + further);
            guard.release().await.unwrap();
        }
        assert!(store.check.admit(KEY, token).is_err(), "the first guard's is stale");
        assert_eq!(seen(&masters), before, "no master was asked");
        drop(warm(&redlock).await.unwrap());
        for client in [&other, &redlock, &other] {
            let guard = warm(client).await.unwrap();
            store.admit(&guard);
            drop(guard);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn tasks_that_use_block_after_block_ask_the_masters_once_for_each() {
    const TASKS: usize = 2_500;
    let (masters, redlock) = five_and_client().await;
    let store = Arc::new(Mutex::new(Store::default()));
    let holders = Arc::new(Mutex::new(std::collections::BTreeSet::new()));
    let masters = Arc::new(masters);
    let tasks = (0..TASKS).map(|_| {
        let (acquire, store, holders) = (warm(&redlock), store.clone(), holders.clone());
        let masters = masters.clone();
        tokio::spawn(async move {
            let guard = acquire.timeout(Duration::MAX).await.unwrap();
            store.lock().unwrap().admit(&guard);
            holders.lock().unwrap().extend(seen(&masters).into_iter().flatten());
            guard.release().await.unwrap();
        })
    });
    for task in tasks.collect::<Vec<_>>() {
        task.await.unwrap();
    }
    assert_eq!(store.lock().unwrap().admitted.len(), TASKS);
    assert_eq!(holders.lock().unwrap().len(), 3, "a thousand numbers each");
    sleep(WARM + SECOND).await;
    assert_eq!(seen(&masters), [const { None }; 5], "released after its time");
}

#[tokio::test(start_paused = true)]
async fn a_lock_that_is_detached_takes_the_number_of_its_guard_along() {
    let (masters, redlock) = five_and_client().await;
    let other = connect(masters.builder()).await;
    let mut store = Store::default();
    store.admit(&warm(&redlock).await.unwrap());
    let guard = warm(&redlock).await.unwrap();
    let token = store.admit(&guard);
    let adopted = other.adopt(guard.detach().await.unwrap()).await.unwrap();
    assert_eq!(adopted.fencing_token(), token);
    assert!(redlock.try_acquire(KEY).fenced().await.unwrap_err().is_contended());
    adopted.release().await.unwrap();
    for client in [&redlock, &other] {
        let guard = warm(client).await.unwrap();
        store.admit(&guard);
        drop(guard);
    }
}

/// Clients that keep it warm and clients that do not, whose masters restart: a store refuses no holder.
#[tokio::test(start_paused = true)]
async fn whatever_happens_a_store_refuses_no_holder() {
    for seed in 0..3 {
        let masters = five();
        let store = Arc::new(Mutex::new(Store::default()));
        let mut tasks = Vec::new();
        for client in 0..3_u32 {
            let builder = masters.builder().max_ttl(SECOND).ttl(SECOND);
            let redlock = connect(builder).await;
            for task in 0..3_u32 {
                let (redlock, store) = (redlock.clone(), store.clone());
                tasks.push(tokio::spawn(async move {
                    let pause = (seed * 7 + client * 13 + task * 29) % 60;
                    for turn in 0..40_u32 {
                        sleep((pause + turn % 4) * MS).await;
                        let span = if client < 2 { 400 * MS } else { Duration::ZERO };
                        let acquire = redlock.acquire(KEY).ttl(SECOND).keep_warm(span).fenced();
                        let Ok(guard) = acquire.timeout(SECOND).await else { continue };
                        store.lock().unwrap().admit(&guard);
                        sleep((turn % 5) * MS).await;
                        match turn % 7 {
                            0 => drop(guard),
                            1 => guard.forget(),
                            _ => drop(guard.release().await),
                        }
                    }
                }));
            }
        }
        for turn in 0..8_usize {
            sleep(700 * MS).await;
            masters[turn % 2].restart(Memory::Lost).unwrap();
        }
        for task in tasks {
            task.await.unwrap();
        }
        let admitted = store.lock().unwrap().admitted.len();
        assert!(admitted > 100, "seed {seed}: {admitted} have got in");
    }
}

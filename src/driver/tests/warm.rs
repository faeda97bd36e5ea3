//! Locks that are kept warm: a hold that was given back goes to the next acquire here, and the masters see
//! nothing of that.

use super::*;
use crate::failure::LossReason;
use crate::{Acquire, AcquireError, RedlockBuilder, Released};
use std::future::pending;

const WARM: Duration = Duration::from_secs(2);

fn warm(redlock: &Redlock) -> Acquire {
    redlock.acquire(KEY).ttl(TTL).keep_warm(WARM)
}

/// Returns what is under the key on each master, and until when: another acquire has another token, and an
/// extension lives longer.
fn seen(masters: &Masters) -> Vec<(Option<String>, Option<u64>)> {
    let ends = |master: &Master| {
        let left = master.time_to_live(KEY)?;
        Some(now().after(left).as_nanos() / 1_000_000)
    };
    masters.iter().map(|master| (master.holder(KEY), ends(master))).collect()
}

#[tokio::test(start_paused = true)]
async fn a_lock_that_was_given_back_is_acquired_again_without_a_command() {
    let (masters, redlock) = five_and_client().await;
    let first = warm(&redlock).await.unwrap();
    let deadline = first.deadline();
    settle().await;
    let before = seen(&masters);
    let lease = first.lease();
    first.release().await.unwrap();
    assert_eq!(lease.check().unwrap_err().reason, LossReason::Released, "and every lease");
    let second = warm(&redlock).await.unwrap();
    assert_eq!(second.deadline(), deadline);
    assert!(lease.check().is_err() && second.check().is_ok());
    second.release().await.unwrap();
    redlock
        .acquire(KEY)
        .ttl(TTL)
        .keep_warm(WARM)
        .run(async |lease| lease.check())
        .await
        .unwrap()
        .unwrap();
    settle().await;
    assert_eq!(seen(&masters), before);
    sleep(WARM).await;
    assert_no_keys(&masters, "released after its time");
}

#[tokio::test(start_paused = true)]
async fn a_thousand_tasks_have_it_one_after_the_other_and_the_masters_see_nothing() {
    let (masters, redlock) = five_and_client().await;
    warm(&redlock).await.unwrap().release().await.unwrap();
    settle().await;
    let before = seen(&masters);
    let inside = Arc::new(AtomicUsize::new(0));
    let tasks = (0..1_000).map(|_| {
        let (acquire, inside) = (warm(&redlock), inside.clone());
        tokio::spawn(async move {
            let guard = acquire.await.unwrap();
            assert_eq!(inside.fetch_add(1, SeqCst), 0, "two at a time");
            tokio::task::yield_now().await;
            assert!(guard.is_valid());
            inside.fetch_sub(1, SeqCst);
            guard.release().await.unwrap();
        })
    });
    for task in tasks.collect::<Vec<_>>() {
        task.await.unwrap();
    }
    assert_eq!(seen(&masters), before);
}

#[tokio::test(start_paused = true)]
async fn a_lock_without_that_option_is_deleted_by_its_release() {
    let (masters, redlock) = five_and_client().await;
    redlock.acquire(KEY).await.unwrap().release().await.unwrap();
    settle().await;
    assert_no_keys(&masters, "given back");
}

#[tokio::test(start_paused = true)]
async fn a_guard_that_is_dropped_deletes_the_keys_of_a_lock_that_is_kept_warm() {
    let (masters, redlock) = five_and_client().await;
    // Of the masters, and then from the shelf.
    for is_idle in [false, true] {
        if is_idle {
            assert_eq!(warm(&redlock).await.unwrap().release().await, Ok(Released::KeptWarm));
        }
        drop(warm(&redlock).await);
        settle().await;
        assert_no_keys(&masters, "dropped");
    }
}

#[tokio::test(start_paused = true)]
async fn a_panic_releases_a_lock_that_is_kept_warm() {
    let (masters, redlock) = five_and_client().await;
    let guard = warm(&redlock).await.unwrap();
    let held = tokio::spawn(async move {
        let _guard = guard;
        panic!("in the work");
    });
    held.await.unwrap_err();
    settle().await;
    assert_no_keys(&masters, "a panic with a guard");
    let run = warm(&redlock);
    let run =
        tokio::spawn(
            async move { run.run(async |_| panic!("in the body")).await.map(|(): ()| ()) },
        );
    run.await.unwrap_err();
    settle().await;
    assert_no_keys(&masters, "a panic in run");
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_dropped_releases_a_lock_that_is_kept_warm() {
    let (masters, redlock) = five_and_client().await;
    let run = warm(&redlock).run(async |_| pending::<()>().await);
    tokio::time::timeout(SECOND, run).await.unwrap_err();
    settle().await;
    assert_no_keys(&masters, "dropped in the body");
}

#[tokio::test(start_paused = true)]
async fn a_shutdown_releases_what_is_idle_and_so_does_the_last_handle() {
    let (masters, redlock) = five_and_client().await;
    warm(&redlock).await.unwrap().release().await.unwrap();
    redlock.shutdown().await.unwrap();
    assert_no_keys(&masters, "shut down");
    let redlock = connect(masters.builder()).await;
    warm(&redlock).await.unwrap().release().await.unwrap();
    drop(redlock);
    sleep(SECOND).await;
    assert_no_keys(&masters, "no handle is left");
}

#[tokio::test(start_paused = true)]
async fn a_client_that_waits_has_the_lock_once_the_time_of_what_is_idle_is_over() {
    let (masters, redlock) = five_and_client().await;
    let other = connect(masters.builder()).await;
    warm(&redlock).await.unwrap().release().await.unwrap();
    let began = now();
    let guard = other.acquire(KEY).await.unwrap();
    assert!(now().since(began) < WARM + 300 * MS, "{:?}", now().since(began));
    drop(guard);
}

/// Tasks here that always want the lock, and a client that polls for it.
#[tokio::test(start_paused = true)]
async fn a_client_that_waits_is_not_kept_out_by_tasks_that_pass_the_lock_on() {
    let (masters, redlock) = five_and_client().await;
    let other = connect(masters.builder()).await;
    let tasks = [(); 8].map(|()| {
        let redlock = redlock.clone();
        tokio::spawn(async move {
            loop {
                let guard = warm(&redlock).await.unwrap();
                sleep(2 * MS).await;
                guard.release().await.unwrap();
            }
        })
    });
    sleep(SECOND).await;
    for _ in 0..3 {
        let began = now();
        let guard = other.acquire(KEY).timeout(Duration::MAX).await.unwrap();
        let waited = now().since(began);
        assert!(waited < TTL, "{waited:?}");
        drop(guard);
    }
    tasks.iter().for_each(tokio::task::JoinHandle::abort);
}

#[tokio::test(start_paused = true)]
async fn the_builders_span_is_that_of_each_acquire_of_one_resource() {
    let masters = five();
    let redlock = connect(masters.builder().keep_warm(WARM)).await;
    redlock.acquire(KEY).await.unwrap().release().await.unwrap();
    settle().await;
    assert_eq!(holders(&masters).len(), 5);
    drop(redlock.acquire_all([KEY, "other"]).await.unwrap());
    drop(redlock.semaphore("permits", 2).acquire().await.unwrap());
    drop(redlock.rw_lock("shared").write().await.unwrap());
    drop(redlock.election("leader").campaign("me").await.unwrap());
    sleep(SECOND).await;
    for master in masters.iter() {
        let left = master.keys();
        assert!(left.iter().all(|key| key.contains("quorumlock:fence:")), "{left:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_has_its_lock_released_is_refused_beside_keep_warm() {
    let (masters, redlock) = five_and_client().await;
    let acquires = [
        ("fair", warm(&redlock).fair(true)),
        ("lock_delay", warm(&redlock).lock_delay(SECOND)),
        ("min_hold", warm(&redlock).min_hold(SECOND)),
    ];
    for (other, acquire) in acquires {
        let AcquireError::InvalidSetting(refused) = acquire.await.unwrap_err() else {
            panic!("{other}")
        };
        assert_eq!(refused.field, "keep_warm");
        assert!(refused.problem.starts_with(&format!("{other} has ")), "{refused}");
    }
    let connects = async |builder: RedlockBuilder| builder.keep_warm(WARM).connect().await.is_ok();
    assert!(!connects(masters.builder().fair(true)).await);
    assert!(!connects(masters.builder().lock_delay(SECOND)).await);
    // The builder's span is for the acquires that it suits.
    let redlock = connect(masters.builder().keep_warm(WARM)).await;
    for acquire in [redlock.acquire(KEY).fair(true), redlock.acquire(KEY).lock_delay(SECOND)] {
        assert_eq!(acquire.await.unwrap().release().await, Ok(Released::Confirmed));
    }
}

/// Returns a number below `below` that follows from the one before.
fn draw(state: &mut u64, below: u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) % below
}

/// A task that locks and works, and ends its holds in one way after the other. Counts those inside.
async fn works(redlock: Redlock, seed: u64, inside: Arc<AtomicUsize>, is_warm: bool) -> u64 {
    let (mut state, mut won) = (seed, 0);
    for _ in 0..40 {
        sleep(draw(&mut state, 300) as u32 * MS).await;
        let span = if is_warm { draw(&mut state, 1_500) as u32 * MS } else { Duration::ZERO };
        let acquire = redlock.acquire(KEY).ttl(SECOND).keep_warm(span);
        let timeout = draw(&mut state, 900) as u32 * MS;
        let Ok(guard) = acquire.timeout(timeout).await else { continue };
        won += 1;
        let work = draw(&mut state, 200) as u32 * MS;
        assert_eq!(inside.fetch_add(1, SeqCst), 0, "two at a time");
        let ends = tokio::time::Instant::now() + work;
        tokio::select! {
            () = tokio::time::sleep_until(ends) => {}
            _ = guard.lost() => {}
        }
        inside.fetch_sub(1, SeqCst);
        match draw(&mut state, 6) {
            0 => drop(guard),
            1 => drop(guard.extend().await),
            2 => guard.forget(),
            _ => drop(guard.release().await),
        }
    }
    won
}

/// Warm clients and cold ones, whose masters come and go: no two are inside at a time, all of them get in,
/// and nothing is left of any.
#[tokio::test(start_paused = true)]
async fn whatever_happens_one_task_of_one_client_is_inside_and_nothing_is_left() {
    for seed in 0..12 {
        let masters = five();
        let inside = Arc::new(AtomicUsize::new(0));
        let mut tasks = Vec::new();
        for client in 0..3 {
            let builder = masters.builder().max_ttl(SECOND).ttl(SECOND);
            let redlock = connect(builder).await;
            for task in 0..3 {
                let seed = seed * 100 + client * 10 + task;
                let works = works(redlock.clone(), seed, inside.clone(), client < 2);
                tasks.push(tokio::spawn(works));
            }
        }
        let mut state = seed;
        for _ in 0..10 {
            let master = &masters[draw(&mut state, 5) as usize];
            let down = draw(&mut state, 1_500) as u32 * MS;
            match draw(&mut state, 3) {
                0 => master.pause(),
                1 => master.partition(),
                _ => master.set_latency(20 * MS),
            }
            sleep(down).await;
            master.resume();
            master.heal();
            master.set_latency(Duration::ZERO);
        }
        for task in tasks {
            assert!(task.await.unwrap() > 0, "seed {seed}: one has never got in");
        }
        sleep(10 * SECOND).await;
        assert_no_keys(&masters, &format!("seed {seed}"));
    }
}

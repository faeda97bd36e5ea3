//! A body run under the lock: the lock is released on every way out, the body is dropped if the
//! lock is lost, and its own result is never hidden.

use super::prelude::*;
use quorumlock::error::LossReason;
use quorumlock::{AcquireError, Redlock, RunError};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

const TTL: Duration = Duration::from_millis(600);

async fn three() -> (Masters, Redlock) {
    let masters = Masters::start(3);
    let redlock = masters.builder().ttl(TTL).connect().await.unwrap();
    (masters, redlock)
}

/// Counts its drops.
struct Dropped(Arc<AtomicUsize>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[tokio::test(start_paused = true)]
async fn the_bodys_result_comes_back_and_the_lock_was_kept_meanwhile() {
    let (masters, redlock) = three().await;
    let rival = redlock.clone();
    let run = redlock.acquire("r").run(async |lease| {
        tokio::time::sleep(TTL * 3).await;
        lease.check().unwrap();
        rival.try_acquire("r").await.unwrap_err().is_contended()
    });
    assert!(run.await.unwrap());
    witness::eventually_no_keys(&masters, SOON).await;
}

#[tokio::test(start_paused = true)]
async fn the_bodys_own_error_comes_out_also_when_the_release_fails() {
    let (masters, redlock) = three().await;
    let failed = redlock.acquire("r").run(async |_| {
        // The release of this body will find no quorum.
        masters[0].stop();
        masters[1].stop();
        Err::<(), _>("the body's own")
    });
    assert_eq!(failed.await.unwrap(), Err("the body's own"));
    masters[0].cont();
    masters[1].cont();
    witness::eventually_no_keys(&masters, SOON).await;
}

#[tokio::test(start_paused = true)]
async fn a_body_is_dropped_once_its_lock_is_lost() {
    let (masters, redlock) = three().await;
    let drops = Arc::new(AtomicUsize::new(0));
    let held = Dropped(drops.clone());
    let run = redlock.acquire("r").run(async |lease| {
        let _held = held;
        masters.kill(0);
        masters.kill(1);
        std::future::pending::<()>().await;
        drop(lease);
    });
    let Err(RunError::Lost { lost, result: None }) = run.await else { panic!("not lost") };
    assert_eq!(lost.reason, LossReason::Lapsed);
    assert_eq!(drops.load(Ordering::Relaxed), 1);
}

#[tokio::test(start_paused = true)]
async fn a_loss_before_the_body_returns_is_reported_with_its_result() {
    let (masters, redlock) = three().await;
    let run = redlock.acquire("r").keep_alive_for(TTL).run(async |lease| {
        // Blocks the task, as no body should: it can't be dropped in the meantime.
        tokio::time::advance(TTL * 2).await;
        assert!(!lease.is_valid());
        7
    });
    let error = run.await.unwrap_err();
    assert!(
        error.to_string().ends_with("its deadline has passed; the work had finished"),
        "{error}"
    );
    assert!(matches!(error, RunError::Lost { result: Some(7), .. }));
    witness::eventually_no_keys(&masters, SOON).await;
}

#[tokio::test(start_paused = true)]
async fn a_loss_that_the_release_finds_comes_with_the_bodys_result() {
    let (masters, redlock) = three().await;
    let run = redlock.acquire("r").ttl(Duration::from_secs(20)).run(async |lease| {
        for server in masters.iter() {
            witness::set_foreign(server, "r", "theirs", SOON).await;
        }
        assert!(lease.is_valid(), "no master was asked since");
        7
    });
    let error = run.await.unwrap_err();
    let RunError::Lost { lost, result: Some(7) } = error else { panic!("{error}") };
    assert!(matches!(lost.reason, LossReason::QuorumGone(_)), "{lost}");
}

#[tokio::test(start_paused = true)]
async fn a_body_that_panics_or_is_dropped_releases() {
    let (masters, redlock) = three().await;
    let panics = redlock.acquire("r").run(async |_| panic!("on purpose"));
    let joined: Result<Result<(), _>, _> = tokio::spawn(panics).await;
    assert!(joined.unwrap_err().is_panic());
    witness::eventually_no_keys(&masters, SOON).await;
    let hangs = redlock.acquire("s").run(async |_| std::future::pending::<()>().await);
    tokio::time::timeout(TTL, hangs).await.unwrap_err();
    witness::eventually_no_keys(&masters, SOON).await;
}

#[tokio::test(start_paused = true)]
async fn a_body_is_not_run_without_the_lock() {
    let (_masters, redlock) = three().await;
    let held = redlock.acquire("r").await.unwrap();
    let run = redlock.try_acquire("r").run(async |_| panic!("run without the lock"));
    let refused: RunError<()> = run.await.unwrap_err();
    assert!(matches!(refused, RunError::NotAcquired(AcquireError::Contended(_))));
    held.release().await.unwrap();
}

//! What the probe does with writes that wait, fail or run in tasks of their own, and with closures
//! that it was not given.

use crate::right_stores::Guarded;
use quorumlock_fencing::probe::{Attempt, Case, FenceProbe, Rule, StoreError};
use quorumlock_fencing::{FenceError, FencingToken, StaleToken};
use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::task::spawn;

fn guarded() -> FenceProbe<'static, Arc<Guarded>> {
    FenceProbe::new(
        async |_| Ok(Arc::default()),
        async |store: &Arc<Guarded>| Ok(store.read().await),
    )
    .patience(Duration::ZERO)
}

#[tokio::test]
async fn a_case_that_only_fails_is_an_error_and_no_success() {
    // The refusal comes as an error like any other, so nothing shows that it is one.
    let probe = guarded().write(async |store, attempt| match store.write(attempt, false).await {
        Err(StoreError::Stale) => Err(StoreError::Failed("rolled back".to_owned())),
        written => written,
    });
    let error = probe.play(0..500).await.unwrap_err();
    assert_eq!((error.rule, error.case), (None, Some(Case::StaleAfterNew)), "{error}");
    assert!(error.to_string().contains("rolled back"), "{error}");
    assert!(error.to_string().contains("StoreError::Stale"), "{error}");
}

#[tokio::test]
async fn errors_now_and_then_break_no_rule_and_are_reported() {
    let writes = AtomicU64::new(0);
    let probe = guarded().update(async |store, attempt| {
        if writes.fetch_add(1, Ordering::Relaxed) % 31 == 30 {
            return Err(StoreError::Failed("connection reset".to_owned()));
        }
        store.write(attempt, true).await
    });
    let report = probe.play(0..1_000).await.unwrap();
    assert!(report.cases.values().any(|plays| plays.whole < plays.all), "{report}");
    let mut errors = report.cases.values().filter_map(|plays| plays.error.as_ref());
    assert!(errors.all(|error| error.ends_with("connection reset")), "{report}");
    assert!(report.to_string().contains("; seed "), "{report}");
}

#[tokio::test]
async fn nothing_to_play_is_an_error() {
    let probe = guarded().write(async |store, attempt| store.write(attempt, false).await);
    for nothing in [guarded().play(0..10).await, probe.play([]).await] {
        let error = nothing.unwrap_err();
        assert_eq!((error.rule, error.case, error.seed), (None, None, None));
        assert!(error.to_string().starts_with("nothing was played"), "{error}");
    }
}

#[tokio::test]
async fn only_an_update_can_show_that_the_raise_comes_before_the_read() {
    let probe = guarded().write(async |store, attempt| store.write(attempt, false).await);
    let report = probe.play(0..100).await.unwrap();
    let [Case::RaiseBeforeRead, Case::Restart, Case::Cleanup, Case::Unfenced, Case::Tokens] =
        report.left_out[..]
    else {
        panic!("{report}")
    };
    assert!(report.to_string().contains("was not given: [RaiseBeforeRead, "), "{report}");
}

#[tokio::test(start_paused = true)]
async fn a_store_that_never_answers_ends_the_play_by_an_error() {
    let probe = guarded().write(async |_, _| pending().await);
    let error = probe.play([0]).await.unwrap_err().to_string();
    assert!(error.contains("no end within 10s"), "{error}");
}

#[tokio::test]
async fn a_write_in_a_task_of_its_own_is_held_at_its_gates() {
    let write = async |attempt: Attempt, store: Arc<Guarded>| {
        attempt.pass("before the read").await?;
        let read = store.read().await;
        attempt.pass("read").await?;
        // No fence at all between the read and the write.
        let next = Attempt::applied_to(&attempt, read);
        store.set(next).await;
        Ok(())
    };
    let probe = guarded()
        .update(async |store, attempt| match spawn(write(attempt, Arc::clone(store))).await {
            Ok(written) => written,
            Err(error) => Err(error.into()),
        })
        .patience(Duration::from_millis(1));
    let begun = Instant::now();
    let found = probe.play(0..50).await.unwrap_err();
    assert_eq!((found.rule, found.case), (Some(Rule::RefuseSmaller), Some(Case::StaleAfterNew)));
    assert!(begun.elapsed() < Duration::from_secs(9), "no gate was opened");
}

#[test]
fn a_refusal_is_found_among_the_causes_of_an_error() {
    let token = FencingToken::MIN;
    let stale = StaleToken { presented: token, greatest: token };
    assert_eq!(StoreError::from(stale), StoreError::Stale);
    let caused: FenceError<std::io::Error> = stale.into();
    assert_eq!(StoreError::from(caused), StoreError::Stale);
    let error = "x".parse::<FencingToken>().unwrap_err();
    assert_eq!(StoreError::from(error.clone()), StoreError::Failed(error.to_string()));
}

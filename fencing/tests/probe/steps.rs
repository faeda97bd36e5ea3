//! What the probe does with writes that wait, fail or run in tasks of their own, and with calls that
//! it was not given.

use crate::right_stores::Guarded;
use quorumlock_fencing::probe::{
    Attempt, Case, Probed, Report, Rule, StoreError, StoreResult, play,
};
use quorumlock_fencing::{FenceError, FencingToken, StaleToken};
use std::future::pending;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::task::spawn;

/// A right store with a write of the test.
struct With<'t, W> {
    inside: Arc<Guarded>,
    write: &'t W,
}

impl<W: AsyncFn(&Arc<Guarded>, Attempt) -> StoreResult> Probed for With<'_, W> {
    fn updates(&self) -> bool {
        self.inside.updates()
    }

    async fn write(&self, attempt: Attempt) -> StoreResult {
        (self.write)(&self.inside, attempt).await
    }

    async fn read(&self) -> StoreResult<u64> {
        self.inside.read().await
    }
}

async fn probe(
    updates: bool,
    write: impl AsyncFn(&Arc<Guarded>, Attempt) -> StoreResult,
    seeds: Range<u64>,
) -> Result<Report, Report> {
    let open = async |_| {
        let inside = Arc::new(Guarded::new(updates));
        Ok(With { inside, write: &write })
    };
    play(open, seeds).await
}

#[tokio::test(start_paused = true)]
async fn a_case_that_only_fails_is_an_error_and_no_success() {
    // The refusal comes as an error like any other, so nothing shows that it is one.
    let write = async |store: &Arc<Guarded>, attempt| match store.write(attempt).await {
        Err(StoreError::Stale) => Err(StoreError::Failed("rolled back".to_owned())),
        written => written,
    };
    let error = probe(false, write, 0..500).await.unwrap_err();
    assert_eq!((error.rule, error.case), (None, Some(Case::StaleAfterNew)), "{error}");
    assert!(error.to_string().contains("rolled back"), "{error}");
    assert!(error.to_string().contains("StoreError::Stale"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn errors_now_and_then_break_no_rule_and_are_reported() {
    let writes = AtomicU64::new(0);
    let write = async |store: &Arc<Guarded>, attempt| {
        if writes.fetch_add(1, Ordering::Relaxed) % 31 == 30 {
            return Err(StoreError::Failed("connection reset".to_owned()));
        }
        store.write(attempt).await
    };
    let report = probe(true, write, 0..1_000).await.unwrap();
    assert!(report.cases.values().any(|plays| plays.whole < plays.all), "{report}");
    let mut errors = report.cases.values().filter_map(|plays| plays.error.as_ref());
    assert!(errors.all(|error| error.ends_with("connection reset")), "{report}");
    assert!(report.to_string().contains("; seed "), "{report}");
}

#[tokio::test(start_paused = true)]
async fn nothing_to_play_is_an_error() {
    let write = async |store: &Arc<Guarded>, attempt| store.write(attempt).await;
    let error = probe(false, write, 0..0).await.unwrap_err();
    assert_eq!((error.rule, error.case, error.seed), (None, None, None));
    assert!(error.to_string().starts_with("nothing was played"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_store_that_cannot_be_opened_is_an_error_and_no_success() {
    let open = async |_| Err::<Guarded, _>(StoreError::Failed("connection refused".to_owned()));
    let error = play(open, 0..20).await.unwrap_err();
    assert_eq!(error.rule, None);
    assert!(error.to_string().contains("connection refused"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_not_given_and_must_be_is_an_error_and_no_success() {
    let write = async |_: &Arc<Guarded>, _| Err(StoreError::NotGiven);
    let error = probe(false, write, 0..20).await.unwrap_err();
    assert!(error.to_string().starts_with("nothing was played"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn only_an_update_can_show_that_the_raise_comes_before_the_read() {
    let write = async |store: &Arc<Guarded>, attempt| store.write(attempt).await;
    let report = probe(false, write, 0..100).await.unwrap();
    let left_out = "not given: {RaiseBeforeRead, Restart, Cleanup, Unfenced, Tokens}\n";
    assert!(report.to_string().contains(left_out), "{report}");
}

#[tokio::test(start_paused = true)]
async fn a_store_that_never_answers_ends_the_play_by_an_error() {
    let error = probe(false, async |_, _| pending().await, 0..1).await.unwrap_err().to_string();
    assert!(error.contains("no end within 60s"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_write_in_a_task_of_its_own_is_held_at_its_gates() {
    let write = async |attempt: Attempt, store: Arc<Guarded>| {
        attempt.pass("before the read").await?;
        let read = store.read().await?;
        attempt.pass("read").await?;
        // No fence at all between the read and the write.
        let next = Attempt::applied_to(&attempt, read);
        store.set(next).await;
        Ok(())
    };
    let spawned = async |store: &Arc<Guarded>, attempt| match spawn(write(
        attempt,
        Arc::clone(store),
    ))
    .await
    {
        Ok(written) => written,
        Err(error) => Err(error.into()),
    };
    let begun = tokio::time::Instant::now();
    let found = probe(true, spawned, 0..50).await.unwrap_err();
    assert_eq!((found.rule, found.case), (Some(Rule::RefuseSmaller), Some(Case::StaleAfterNew)));
    assert!(begun.elapsed().as_secs() < 9, "no gate was opened");
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

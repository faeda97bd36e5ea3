//! No play of a right store reports anything.

use crate::right_stores::{Conditional, Guarded, Transactional};
use quorumlock_fencing::FencingToken;
use quorumlock_fencing::probe::{Case, FenceProbe, Report, StoreError};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

const PLAYS: u64 = 10_000;

fn assert_whole(report: &Report, left_out: &[Case]) {
    let plays = report.cases.values();
    assert!(
        plays
            .clone()
            .all(|plays| plays.all > 300 && plays.whole == plays.all && plays.error.is_none()),
        "{report}"
    );
    assert_eq!(plays.map(|plays| plays.all).sum::<u64>(), PLAYS, "{report}");
    assert_eq!(report.left_out, left_out, "{report}");
}

#[tokio::test]
async fn a_critical_section_breaks_no_rule() {
    let wins = AtomicU64::new(1);
    let probe = FenceProbe::new(
        async |_| Ok(Guarded::default()),
        async |store: &Guarded| Ok(store.read().await),
    )
    .write(async |store, attempt| store.write(attempt, false).await)
    .update(async |store, attempt| store.write(attempt, true).await)
    .unfenced(async |_, _| Err(StoreError::Failed("no token".to_owned())))
    .restart(async |store| {
        store.restart().await;
        Ok(())
    })
    .cleanup(async |store| {
        store.cleanup().await;
        Ok(())
    })
    .tokens(async |_| Ok(FencingToken::try_from(wins.fetch_add(1, Ordering::Relaxed))?))
    .patience(Duration::ZERO);
    let report = probe.play(0..PLAYS).await.unwrap();
    assert_whole(&report, &[]);
    assert!(report.blocked > 500, "{report}");
}

#[tokio::test]
async fn transactions_that_lock_the_row_break_no_rule() {
    let probe = FenceProbe::new(
        async |_| Ok(Transactional::default()),
        async |store: &Transactional| Ok(store.read().await),
    )
    .write(async |store, attempt| store.write(attempt, false).await)
    .update(async |store, attempt| store.write(attempt, true).await)
    .restart(async |_| Ok(()))
    .patience(Duration::ZERO);
    let report = probe.play(0..PLAYS).await.unwrap();
    assert_whole(&report, &[Case::Cleanup, Case::Unfenced, Case::Tokens]);
    assert!(report.blocked > 500, "{report}");
}

#[tokio::test]
async fn conditional_puts_break_no_rule() {
    let probe = FenceProbe::new(
        async |_| Ok(Conditional::default()),
        async |store: &Conditional| Ok(store.read().await),
    )
    .write(async |store, attempt| store.write(attempt, false).await)
    .update(async |store, attempt| store.write(attempt, true).await)
    .patience(Duration::ZERO);
    let report = probe.play(0..PLAYS).await.unwrap();
    assert_whole(&report, &[Case::Restart, Case::Cleanup, Case::Unfenced, Case::Tokens]);
}

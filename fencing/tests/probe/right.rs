//! No play of a right store reports anything.

use crate::right_stores::{Conditional, Guarded, Transactional};
use quorumlock_fencing::probe::{Case, Probed, play};

const PLAYS: u64 = 10_000;

/// Plays on stores with a write and on stores with an update. Returns how often a write was blocked.
async fn assert_whole<S: Probed>(open: impl Fn(bool) -> S, left_out: &[Case]) -> u64 {
    let mut blocked = 0;
    for updates in [false, true] {
        let report = play(async |_| Ok(open(updates)), 0..PLAYS).await.unwrap();
        for plays in report.cases.values() {
            assert!(plays.all > 500 && plays.whole == plays.all, "{report}");
            assert_eq!(plays.error, None, "{report}");
        }
        assert_eq!(report.cases.values().map(|plays| plays.all).sum::<u64>(), PLAYS, "{report}");
        for case in left_out {
            assert!(!report.cases.contains_key(case), "{report}");
        }
        assert_eq!(report.cases.contains_key(&Case::RaiseBeforeRead), updates, "{report}");
        assert_eq!(report.cases.len(), 9 + usize::from(updates) - left_out.len(), "{report}");
        blocked += report.blocked;
    }
    blocked
}

#[tokio::test(start_paused = true)]
async fn a_critical_section_breaks_no_rule() {
    assert!(assert_whole(Guarded::new, &[]).await > 1_000);
}

#[tokio::test(start_paused = true)]
async fn transactions_that_lock_the_row_break_no_rule() {
    assert!(
        assert_whole(Transactional::new, &[Case::Cleanup, Case::Unfenced, Case::Tokens]).await
            > 1_000
    );
}

#[tokio::test(start_paused = true)]
async fn conditional_puts_break_no_rule() {
    let left_out = [Case::Restart, Case::Cleanup, Case::Unfenced, Case::Tokens];
    assert_eq!(assert_whole(Conditional::new, &left_out).await, 0);
}

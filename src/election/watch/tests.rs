//! The judgement of an observer, look by look.

use super::Terms;
use proptest::prelude::*;
use quorumlock_core::quorum::Instant;
use std::time::Duration;

const D: Duration = Duration::from_secs(30);

/// Plays looks, each a second after the last: a term, `0` for vacant, `-1` for unclear. Returns the
/// news of each: a term, `0` for none.
fn news(looks: &[i64]) -> Vec<Option<u64>> {
    let mut terms = Terms { forget_after: D, ..Terms::default() };
    let mut now = Instant::from_nanos(1);
    let look = |look: &i64| {
        now = now.after(Duration::from_secs(1));
        // An observer ignores what is unclear.
        let seen = u64::try_from(*look).ok()?;
        let news = terms.see(now, (seen > 0).then_some(seen))?;
        Some(news.unwrap_or_default())
    };
    looks.iter().map(look).collect()
}

#[test]
fn each_change_is_reported_once() {
    for (looks, expected) in [
        (vec![0, 0, 7, 7, 0, 9], vec![Some(0), None, Some(7), None, Some(0), Some(9)]),
        (vec![7, 9], vec![Some(7), Some(9)]),
        (vec![-1, -1, 7, -1, 7], vec![None, None, Some(7), None, None]),
        // Seen again: it led all the time, and its key was not on a quorum for a moment.
        (vec![7, 0, 7], vec![Some(7), Some(0), Some(7)]),
        (vec![7, 0, -1, 0], vec![Some(7), Some(0), None, None]),
    ] {
        assert_eq!(news(&looks), expected, "{looks:?}");
    }
}

#[test]
fn a_lower_term_is_no_leader_until_the_higher_one_is_long_gone() {
    let mut looks = vec![99, 5];
    looks.extend([5; 29]);
    let mut expected = vec![Some(99), Some(0)];
    expected.extend([None; 29]);
    assert_eq!(news(&looks), expected, "not within 30 s");
    looks.push(5);
    expected.push(Some(5));
    assert_eq!(news(&looks), expected, "the hostile one no longer counts");
}

#[test]
fn an_observer_starts_anew_after_a_quorum_was_vacant_for_long() {
    let looks = |vacant: usize| [vec![99], vec![0; vacant], vec![5]].concat();
    assert_eq!(news(&looks(30)).last(), Some(&Some(5)));
    assert_eq!(news(&looks(29)).last(), Some(&None), "29 s after it was seen to be vacant");
}

#[test]
fn what_is_unclear_is_neither_vacant_nor_a_leader() {
    assert_eq!(news(&[vec![99], vec![-1; 60], vec![5]].concat()).last(), Some(&Some(0)));
    let across = [vec![99, 0], vec![-1; 60], vec![5]].concat();
    assert_eq!(news(&across).last(), Some(&Some(5)));
    let seen_again = [vec![99], vec![0; 20], vec![99], vec![0; 20], vec![5]].concat();
    assert_eq!(news(&seen_again).last(), Some(&None), "it was there in between");
}

proptest! {
    #[test]
    fn terms_never_go_back_within_the_quarantine(
        looks in prop::collection::vec(-1_i64..6, 0..30),
    ) {
        let mut greatest = 0;
        let mut last = None;
        for term in news(&looks).into_iter().flatten() {
            prop_assert!(term == 0 || term >= greatest, "{:?}", looks);
            prop_assert_ne!(Some(term), last, "{:?}", looks);
            (greatest, last) = (greatest.max(term), Some(term));
        }
    }
}

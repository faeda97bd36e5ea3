//! Which guard has what from the shelf, and until when.

use super::*;
use std::time::Duration;

#[derive(Clone, Debug)]
struct Guard(Arc<Lent<Self>>);

fn at(millis: u64) -> Instant {
    Instant::from_nanos(millis * 1_000_000)
}

fn terms(label: Option<&str>) -> WarmTerms {
    let label = label.map(|label| Arc::new(Label::Holder(label.into())));
    let [ttl, warm] = [10, 2].map(Duration::from_secs);
    WarmTerms { ttl: Millis::from(ttl), label, warm: Nanos::of(warm) }
}

/// Returns a shelf with one hold, idle from the start on for two seconds.
fn shelf(label: Option<&str>) -> Shelf<Guard> {
    let shelf = Shelf::default();
    let (deadline, passes_until) = (at(9_000), at(4_500));
    let hold = IdleHold { attempt: AttemptId::NONE, terms: terms(label), deadline, passes_until };
    shelf.put(&"r".into(), hold, at(2_000));
    shelf
}

fn take(shelf: &Shelf<Guard>, terms: &WarmTerms, now: Instant) -> Option<Guard> {
    shelf.take("r", terms, now, |lent| Guard(lent.clone()))
}

#[test]
fn a_hold_goes_to_callers_who_want_it_on_the_same_terms() {
    for (label, other) in [(None, Some("b")), (Some("a"), Some("b")), (Some("a"), None)] {
        let shelf = shelf(label);
        assert!(take(&shelf, &terms(other), at(0)).is_none(), "{label:?} for {other:?}");
        assert!(take(&shelf, &terms(label), at(0)).is_some());
    }
    let (shelf, same) = (shelf(None), terms(None));
    let [ttl, warm] = [20, 1].map(Duration::from_secs);
    assert!(take(&shelf, &WarmTerms { ttl: Millis::from(ttl), ..same.clone() }, at(0)).is_none());
    assert!(take(&shelf, &WarmTerms { warm: Nanos::of(warm), ..same }, at(0)).is_none());
}

/// The coordinator may be late to take it down.
#[test]
fn a_hold_whose_time_to_stay_idle_is_over_goes_to_no_caller() {
    let (shelf, terms) = (shelf(None), terms(None));
    let guard = take(&shelf, &terms, at(1_999)).unwrap();
    assert!(take(&shelf, &terms, at(1_999)).is_none(), "one guard has it");
    assert!(guard.0.give_back(at(2_000)));
    assert!(take(&shelf, &terms, at(4_000)).is_none());
    let guard = take(&shelf, &terms, at(3_999)).unwrap();
    assert!(guard.0.give_back(at(4_000)));
    assert!(take(&shelf, &terms, at(4_500)).is_none(), "half of its validity is over");
    assert!(take(&shelf, &terms, at(4_499)).is_some());
}

/// The coordinator is about to hold it for its guard, and is the one to end that.
#[test]
fn a_hold_that_its_guard_has_claimed_does_not_come_back() {
    let (shelf, terms) = (shelf(None), terms(None));
    let guard = take(&shelf, &terms, at(0)).unwrap();
    assert!(guard.0.claim() && !guard.0.claim());
    assert!(!guard.0.give_back(at(1)));
    assert!(take(&shelf, &terms, at(1)).is_none());
    let recalled = shelf.recall("r").unwrap();
    assert_eq!(recalled, Recalled { idle_until: None, taken: 1 });
}

//! Clocks that run at another speed than ours.

use super::*;
use proptest::prelude::*;

/// Returns the speed that is found wrong where these questions were asked, each with its moment here, what its round
/// trip took, and what the clock there showed: in microseconds.
fn speed(asked: impl IntoIterator<Item = (u64, u64, u64)>) -> Option<(Duration, Duration)> {
    let mut heard = heard([]);
    for (at, round_trip, shown) in asked {
        let [at, round_trip] = [at, round_trip].map(Duration::from_micros);
        let reply = shows(i64::try_from(1_000_000_000 + shown).unwrap());
        heard.times.push(TimeSample { asked: NOW.after(at), asked_at: at, round_trip, reply });
    }
    kinds(&judged(&heard)).into_iter().find_map(|kind| match kind {
        FindingKind::ClockSpeed { ours, theirs } => Some((ours, theirs)),
        _ => None,
    })
}

#[test]
fn a_speed_is_wrong_if_drift_and_round_trips_do_not_explain_it() {
    for (later, round_trip, shown, is_wrong) in [
        (20_000, 100, 20_000, false),
        (20_000, 100, 0, true),
        (20_000, 100, 40_000, true),
        (20_000, 100, 10_000, true),
        // 1 % and 2 ms of what has passed here at most, or at least.
        (20_000, 100, 22_301, false),
        (20_000, 100, 22_302, true),
        (20_000, 100, 17_701, false),
        (20_000, 100, 17_700, true),
        // Long round trips explain more.
        (20_000, 18_000, 40_000, false),
        (20_000, 18_000, 0, false),
        // In 2 ms a clock may tick once.
        (2_000, 100, 0, false),
        (10_000_000, 100, 10_090_000, false),
        (10_000_000, 100, 10_110_000, true),
    ] {
        let found = speed([(0, round_trip, 0), (later, round_trip, shown)]);
        let wrong = [later, shown].map(Duration::from_micros);
        assert_eq!(found, is_wrong.then_some(wrong.into()), "{shown} in {later}, {round_trip}");
    }
    assert_eq!(speed([(0, 100, 0)]), None);
}

#[test]
fn one_pair_of_quick_answers_suffices() {
    let slow = (0, 30_000, 50_000);
    assert!(speed([slow, (30_000, 100, 60_000), (50_000, 100, 100_000)]).is_some());
    assert!(speed([slow, (50_000, 100, 100_000)]).is_none());
}

#[test]
fn a_clock_that_stands_still_or_went_back_is_told_from_a_fast_one() {
    let [ours, theirs] = [20, 41].map(Duration::from_millis);
    let kind = |theirs| FindingKind::ClockSpeed { ours, theirs };
    assert_eq!(kind(theirs).to_string(), "its clock moved on by 41 ms in 20 ms");
    assert_eq!(kind(Duration::ZERO).to_string(), "its clock stood still for 20 ms");
    assert_eq!(speed([(0, 0, 50_000), (20_000, 0, 40_000)]), Some((ours, Duration::ZERO)));
    let finding = Finding::from(kind(theirs));
    assert!(finding.is_failure() && finding.remedy.contains("A2"), "{finding}");
}

proptest! {
    /// On a busy machine every step is held up: here before the question is written, in the server, and before the
    /// answer is read.
    #[test]
    fn a_right_clock_is_never_found_wrong_however_its_answers_are_held_up(
        steps in prop::collection::vec(prop::array::uniform4(0..200_000_u64), 2..6), ppm in 990_000..=1_010_000_u64,
    ) {
        let mut at = 0;
        let asked = steps.into_iter().map(|[pause, there, back, until_read]| {
            let asked = at + pause;
            let read = asked + there;
            at = read + back + until_read;
            (asked, at - asked, read * ppm / 1_000_000)
        });
        prop_assert_eq!(speed(asked.collect::<Vec<_>>()), None);
    }
}

//! The conclusions from the nodes' clocks about ours, and about each other.

use super::super::clocks::Apart;
use super::super::{Clocks, FencingWindow};
use super::{cases, masters, ms};
use proptest::prelude::*;
use std::time::Duration;

/// Our wall clock, in microseconds.
const WALL: u64 = 1_800_000_000_000_000;

/// 4 s from end to end.
const WINDOW: FencingWindow = FencingWindow::DEFAULT;

/// Returns the clocks of nodes that are, by place, this many seconds ahead of us; `None` has not
/// reported.
fn reported(ahead_secs: &[Option<i64>]) -> Clocks {
    let mut clocks = Clocks::default();
    for (node, ahead) in ahead_secs.iter().enumerate() {
        if let Some(ahead) = ahead {
            clocks.record(node, WALL.saturating_add_signed(ahead * 1_000_000), WALL);
        }
    }
    clocks
}

const HOUR: i64 = 3_600;

/// The nodes' clocks, the offset learned from them, and the spread if no ballot can win; seconds.
type Row = (&'static [Option<i64>], Option<i64>, Option<u64>);
const REPORTED: [Row; 19] = [
    (&[None], None, None),
    (&[Some(7)], Some(7), None),
    // Fewer nodes than a quorum teach nothing.
    (&[Some(0), None, None], None, None),
    (&[Some(0), Some(0), None, None, None], None, None),
    (&[Some(0), Some(0), None, None], None, None),
    // One node that has stepped drags nothing, in either direction and whichever node is silent.
    (&[Some(1), Some(2), Some(HOUR)], Some(2), None),
    (&[Some(1), Some(2), Some(-HOUR)], Some(1), None),
    (&[Some(1), None, Some(2), Some(HOUR), None], Some(2), None),
    (&[Some(1), Some(2), Some(3), Some(HOUR), Some(-HOUR)], Some(2), None),
    // Of two in the middle, the lower one.
    (&[Some(5), Some(4)], Some(4), None),
    (&[Some(5), Some(4), Some(HOUR), Some(6)], Some(5), None),
    // All are a day ahead: that is our clock.
    (&[Some(86_400), Some(86_401), Some(86_402)], Some(86_401), None),
    // Four seconds are within the window, five are not.
    (&[Some(0), Some(4), Some(-HOUR)], Some(0), None),
    (&[Some(0), Some(5), Some(-HOUR)], Some(0), Some(5)),
    (&[Some(0), Some(5)], Some(0), Some(5)),
    // A silent node may still agree with one of the others.
    (&[Some(0), Some(HOUR), None], Some(0), None),
    (&[Some(0), Some(HOUR), Some(2 * HOUR), None, None], Some(HOUR), None),
    (&[Some(0), Some(HOUR), Some(2 * HOUR + 1), None, Some(-HOUR)], Some(0), Some(3_600)),
    // The closest quorum: the nearest three of five, also with both ends left out.
    (&[Some(0), Some(9), Some(20), Some(40), Some(90)], Some(20), Some(20)),
];

#[test]
fn a_quorum_teaches_the_median_and_says_when_no_ballot_can_win() {
    for (ahead, offset, apart) in REPORTED {
        let clocks = reported(ahead);
        let membership = masters(ahead.len());
        let offset = offset.map(|secs| i128::from(secs) * 1_000_000);
        assert_eq!(clocks.offset_us(membership), offset, "{ahead:?}");
        let apart = apart.map(|secs| Apart { spread: Duration::from_secs(secs) });
        assert_eq!(clocks.apart(membership, WINDOW), apart, "{ahead:?}");
    }
}

#[test]
fn a_microsecond_more_than_the_window_is_too_far() {
    let narrow = FencingWindow { back: ms(1), ahead: ms(2) };
    for (ahead_us, apart) in [(3_000, None), (3_001, Some(3_001))] {
        let mut clocks = Clocks::default();
        clocks.record(0, WALL, WALL);
        clocks.record(1, WALL + ahead_us, WALL);
        let apart = apart.map(|us| Apart { spread: Duration::from_micros(us) });
        assert_eq!(clocks.apart(masters(2), narrow), apart, "{ahead_us} us");
    }
}

/// The bound of 2 s on both sides of our ballot that a grant puts on a clock, next to the clocks
/// that others report.
#[test]
fn a_grant_bounds_a_clock_by_the_window_around_its_ballot() {
    let rows: [(&[Option<i64>], Option<u64>); 8] = [
        // All three are apart, and the closest quorum is two of them.
        (&[None, Some(HOUR), Some(-HOUR)], Some(3_598)),
        (&[None, Some(HOUR), Some(7)], Some(5)),
        (&[None, Some(HOUR), Some(-7)], Some(5)),
        // The node that granted may be two seconds off, and the window has another four.
        (&[None, Some(HOUR), Some(6)], None),
        (&[None, Some(HOUR), Some(-6)], None),
        (&[None, Some(HOUR), Some(HOUR + 4)], None),
        (&[None, Some(HOUR), None, None, Some(-HOUR)], None),
        (&[None, Some(HOUR), Some(2 * HOUR), Some(3 * HOUR), Some(-HOUR)], Some(3_600 + 3_598)),
    ];
    for (ahead, apart) in rows {
        let mut clocks = reported(ahead);
        let wall = WALL - 400_000..=WALL + 500_000;
        clocks.record_grant(
            0,
            WALL + 500_000,
            FencingWindow { back: ms(1_100), ahead: ms(2_000) },
            wall,
        );
        let apart = apart.map(|secs| Apart { spread: Duration::from_secs(secs) });
        assert_eq!(clocks.apart(masters(ahead.len()), WINDOW), apart, "{ahead:?}");
    }
}

/// The clocks that nodes have reported, in seconds; the nodes that have let a ballot of ours in,
/// two seconds either way; and the offset that is learned.
type Half = (&'static [Option<i64>], &'static [usize], Option<i64>);
const HALF_LET_IN: [Half; 8] = [
    // Where it is nearest to the clock that the other has reported; of two, the lower one.
    (&[None, Some(-3)], &[0], Some(-3)),
    (&[None, Some(3)], &[0], Some(2)),
    (&[None, Some(1)], &[0], Some(1)),
    (&[None, None, Some(-3), Some(-4)], &[0, 1], Some(-3)),
    (&[None, None, Some(-3), None, None], &[0, 1], Some(-2)),
    // A node that has reported is where its clock says.
    (&[Some(3), Some(3)], &[0], Some(3)),
    // Too few have reported anything, or none has reported its clock.
    (&[None, Some(-3), None, None, None], &[0], None),
    (&[None, None], &[0, 1], None),
];

#[test]
fn a_ballot_only_some_let_in_is_corrected_by_the_others_clocks() {
    for (ahead, granted, offset) in HALF_LET_IN {
        let mut clocks = reported(ahead);
        for &node in granted {
            clocks.record_grant(node, WALL, WINDOW, WALL..=WALL);
        }
        let offset = offset.map(|secs| i128::from(secs) * 1_000_000);
        assert_eq!(clocks.offset_us(masters(ahead.len())), offset, "{ahead:?} {granted:?}");
    }
}

#[test]
fn a_grant_says_nothing_of_a_reported_clock() {
    for reported_first in [true, false] {
        let mut clocks = reported(&[None, Some(HOUR)]);
        let grant = |clocks: &mut Clocks| clocks.record_grant(0, WALL, WINDOW, WALL..=WALL);
        if !reported_first {
            grant(&mut clocks);
        }
        clocks.record(0, WALL + 3_600_000_000, WALL);
        grant(&mut clocks);
        clocks.record_grant(64, WALL, WINDOW, WALL..=WALL);
        assert_eq!(clocks.apart(masters(2), WINDOW), None);
    }
}

#[test]
fn a_clock_is_compared_with_ours_at_the_time_it_was_reported() {
    let mut clocks = Clocks::default();
    clocks.record(0, WALL, WALL);
    clocks.record(1, WALL + 60_000_000, WALL + 60_000_000);
    assert_eq!(clocks.offset_us(masters(2)), Some(0));
    assert_eq!(clocks.apart(masters(2), WINDOW), None);
}

#[test]
fn a_node_is_heard_once_and_strangers_are_no_quorum() {
    let mut clocks = reported(&[Some(0), None, None]);
    clocks.record(0, WALL + 1, WALL);
    clocks.record(64, WALL, WALL);
    clocks.record(usize::MAX, WALL, WALL);
    assert_eq!(clocks.offset_us(masters(3)), None);
    clocks.record(7, WALL, WALL);
    assert_eq!(clocks.offset_us(masters(3)), None, "node 7 of three");
    clocks.record(2, WALL, WALL);
    assert_eq!(clocks.offset_us(masters(3)), Some(0));
}

#[test]
fn the_ends_of_the_clocks_do_not_overflow() {
    let mut clocks = Clocks::default();
    clocks.record(0, 0, u64::MAX);
    clocks.record(1, u64::MAX, 0);
    assert_eq!(clocks.offset_us(masters(2)), Some(-i128::from(u64::MAX)));
    let apart =
        clocks.apart(masters(2), FencingWindow { back: Duration::MAX, ahead: Duration::MAX });
    assert_eq!(apart, Some(Apart { spread: Duration::from_micros(u64::MAX) }));
}

proptest! {
    #![proptest_config(cases(1_024))]

    #[test]
    fn a_minority_of_mad_clocks_cannot_lead_out_of_the_others_range(
        sane in prop::collection::vec(-1_000_000..1_000_000_i64, 2..4),
        mad in prop::collection::vec(any::<u64>(), 0..2),
    ) {
        // There are more sane nodes than mad ones, and all have reported. Every order of places is
        // as good as the one in which they were drawn, since the median knows no places.
        let mut clocks = Clocks::default();
        for (node, ahead_us) in sane.iter().enumerate() {
            clocks.record(node, WALL.saturating_add_signed(*ahead_us), WALL);
        }
        for (node, node_us) in mad.iter().enumerate() {
            clocks.record(sane.len() + node, *node_us, WALL);
        }
        let offset = clocks.offset_us(masters(sane.len() + mad.len()));
        let (least, most) = (sane.iter().min().copied(), sane.iter().max().copied());
        prop_assert!(offset >= least.map(i128::from) && offset <= most.map(i128::from));
    }

    #[test]
    fn apart_means_that_no_ballot_whatever_is_let_in_by_a_quorum(
        ahead in prop::collection::vec(prop::option::of(-8..8_i64), 1..8),
    ) {
        let (clocks, membership) = (reported(&ahead), masters(ahead.len()));
        let window = FencingWindow { back: Duration::from_secs(1), ahead: Duration::from_secs(2) };
        // The best case: a silent node lets it in.
        let lets_in = |ballot: i64| {
            let may = |ahead: &Option<i64>| {
                ahead.is_none_or(|ahead| (ahead - 1..=ahead + 2).contains(&ballot))
            };
            let nodes = ahead.iter().enumerate().filter(|(_, ahead)| may(ahead));
            membership.is_quorum(nodes.map(|(node, _)| node).collect())
        };
        let can_win = (-16..16).any(lets_in);
        prop_assert_eq!(clocks.apart(membership, window).is_none(), can_win, "{:?}", ahead);
    }

    #[test]
    fn clocks_are_never_apart_if_a_quorum_fits_into_the_window(
        nodes in prop::collection::vec((-8..8_i64, any::<bool>()), 1..8),
    ) {
        let membership = masters(nodes.len());
        let window = FencingWindow { back: Duration::from_secs(1), ahead: Duration::from_secs(2) };
        let lets_in = |ahead: i64, ballot: i64| (ahead - 1..=ahead + 2).contains(&ballot);
        let mut clocks = Clocks::default();
        for (node, &(ahead, answers)) in nodes.iter().enumerate() {
            if answers && lets_in(ahead, 0) {
                clocks.record_grant(node, WALL, window, WALL..=WALL);
            } else if answers {
                clocks.record(node, WALL.saturating_add_signed(ahead * 1_000_000), WALL);
            }
        }
        let can_win = (-16..16).any(|ballot| {
            let willing = nodes.iter().enumerate().filter(|(_, node)| lets_in(node.0, ballot));
            membership.is_quorum(willing.map(|(node, _)| node).collect())
        });
        prop_assert!(!can_win || clocks.apart(membership, window).is_none(), "{:?}", nodes);
    }
}

#[test]
fn the_first_grant_of_a_node_is_the_one_that_counts() {
    let narrow = FencingWindow { back: ms(1), ahead: ms(1) };
    // Each is within a millisecond of its ballot, and the ballots are ten apart.
    let (early, late) = (WALL, WALL + 10_000);
    for (ballots, apart) in [([(0, early), (1, late)], true), ([(0, early), (1, early)], false)] {
        let mut clocks = Clocks::default();
        for (node, ballot) in ballots {
            clocks.record_grant(node, ballot, narrow, WALL..=WALL);
        }
        for node in [0, 1] {
            clocks.record_grant(node, early, narrow, WALL..=WALL);
        }
        assert_eq!(clocks.apart(masters(2), narrow).is_some(), apart, "{ballots:?}");
    }
}

//! Turns: tickets, what the answers of a round come to, and what a waiter does. That the table is the
//! one that people read is a test of the model, `proof/model/tests/turns.rs`.

use super::super::turns::{Does, Event, Phase, TABLE, combined, ticket, turn};
use super::super::{Membership, NodeSet};
use super::membership::{set, sets};

fn lists() -> impl Iterator<Item = Membership> {
    let alone = [1, 2, 3, 4, 5].into_iter().filter_map(Membership::of);
    let joint = Membership::joint(set(0b1_1100), set(0b0_0111));
    alone.chain(joint)
}

/// Of up to five masters, each has given one of these stamps or none.
const STAMPS: [Option<u64>; 4] = [None, Some(0), Some(3), Some(8)];

#[test]
fn a_ticket_is_the_least_stamp_that_a_quorum_does_not_exceed() {
    let mut cases = 0;
    for membership in lists() {
        for case in 0..4_usize.pow(5) {
            let stamps: Vec<_> = (0..5).map(|node| STAMPS[case / 4_usize.pow(node) % 4]).collect();
            let quorum_within = |ticket: u64| {
                let within = |node: &usize| stamps[*node].is_some_and(|stamp| stamp <= ticket);
                membership.is_quorum((0..5).filter(within).collect())
            };
            let expected = (0..=8).find(|ticket| quorum_within(*ticket));
            assert_eq!(ticket(membership, &stamps), expected, "{membership:?} {stamps:?}");
            cases += usize::from(expected.is_some());
        }
    }
    assert!(cases > 3_000, "{cases} tickets");
}

#[test]
fn silence_is_not_inability() {
    let three = Membership::of(3).unwrap();
    let event = |able, silent| combined(three, set(able), set(silent), set(able), set(able));
    assert_eq!(event(0b000, 0b111), Event::Silent);
    assert_eq!(event(0b001, 0b010), Event::Silent);
    assert_eq!(event(0b001, 0b000), Event::Unable, "two say that they cannot");
    assert_eq!(event(0b000, 0b100), Event::Unable);
    assert_eq!(event(0b011, 0b100), Event::Would, "a quorum has answered");
}

/// Of three masters: which accept the waiter, which would have granted, which have none before it.
const OUTCOMES: [(u32, u32, u32, Event); 10] = [
    (0b111, 0b000, 0b000, Event::Others),
    (0b011, 0b000, 0b000, Event::Others),
    (0b001, 0b000, 0b000, Event::Unable),
    (0b001, 0b111, 0b111, Event::Unable),
    (0b000, 0b000, 0b000, Event::Unable),
    (0b111, 0b001, 0b001, Event::Others),
    (0b111, 0b001, 0b011, Event::First),
    (0b111, 0b000, 0b111, Event::First),
    (0b111, 0b011, 0b111, Event::Would),
    (0b110, 0b110, 0b110, Event::Would),
];

#[test]
fn what_a_quorum_tells_counts() {
    let three = Membership::of(3).unwrap();
    for (able, would, first, expected) in OUTCOMES {
        let event = combined(three, set(able), NodeSet::EMPTY, set(would), set(first));
        assert_eq!(event, expected, "{able:03b} {would:03b} {first:03b}");
    }
    // With two lists, a quorum of one of them is none.
    let joint = Membership::joint(set(0b1_1100), set(0b0_0111)).unwrap();
    let (all, none) = (set(0b1_1111), NodeSet::EMPTY);
    for (some, is_quorum) in sets(5).map(|bits| (set(bits), joint.is_quorum(set(bits)))) {
        let expected = |event, other| if is_quorum { event } else { other };
        assert_eq!(combined(joint, some, none, all, all), expected(Event::Would, Event::Unable));
        assert_eq!(combined(joint, none, some, all, all), expected(Event::Silent, Event::Unable));
        assert_eq!(combined(joint, all, none, some, all), expected(Event::Would, Event::First));
        assert_eq!(combined(joint, all, none, none, some), expected(Event::First, Event::Others));
    }
}

#[test]
fn a_waiter_does_what_the_row_of_the_event_says() {
    for row in TABLE {
        for phase in [Phase::Behind, Phase::First, Phase::Called] {
            assert_eq!(turn(phase, row.event), row.does[phase as usize], "{}", row.words);
        }
    }
    assert_eq!(turn(Phase::Behind, Event::Named), (Does::Try, Phase::Called));
    assert_eq!(turn(Phase::Behind, Event::Freed), (Does::Sleep, Phase::Behind));
    assert_eq!(turn(Phase::First, Event::Freed), (Does::Try, Phase::First));
    assert_eq!(turn(Phase::Called, Event::Pause), (Does::Try, Phase::Called));
    assert_eq!(turn(Phase::Called, Event::Kept), (Does::Sleep, Phase::First));
}

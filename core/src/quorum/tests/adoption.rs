//! The first extension of an adopted lock: what counts, and from when it is held.

use super::super::{ClockDrift, Extension, NodeSet, Progress};
use super::extension::{letter, report};
use super::{at, masters, ms};
use crate::quorum::Instant;

const DRIFT: ClockDrift = ClockDrift { rate_ppm: 10_000, constant: ms(2) };

/// Returns the result of a round that began at 100 ms, at `now`. The masters whose reports are in
/// capitals may yet get a late SET.
fn adopted(reports: &str, now: Instant) -> Progress {
    let mut round = Extension::new(masters(reports.len()), at(100), ms(1_000), NodeSet::EMPTY);
    for (node, glyph) in reports.chars().enumerate() {
        if let Some(report) = report(glyph.to_ascii_lowercase()) {
            round.record(node, report);
        }
    }
    let never = reports.char_indices().filter(|(_, glyph)| glyph.is_ascii_uppercase());
    round.adopted(never.map(|(node, _)| node).collect(), now, DRIFT)
}

#[test]
fn a_quorum_that_holds_the_token_gives_a_deadline_from_the_start_of_the_round() {
    let adopted = |reports: &str| adopted(reports, at(150));
    assert_eq!(adopted("hh_"), Progress::Extended(at(1_088)));
    assert_eq!(adopted("hhhvt"), Progress::Extended(at(1_088)));
}

#[test]
fn there_is_no_deadline_before_the_round_is_won_nor_after_its_ttl() {
    assert_eq!(adopted("h__", at(150)), Progress::Pending);
    assert_eq!(adopted("hh_", at(1_087)), Progress::Extended(at(1_088)));
    assert_eq!(adopted("hh_", at(1_088)), Progress::Unconfirmed);
}

#[test]
fn the_masters_of_a_late_set_count_for_nothing_whatever_they_say() {
    for (reports, expected) in [
        ("hH_", 'P'),
        ("hHh", 'E'),
        ("hHv", 'L'),
        ("hHu", 'U'),
        ("HH_", 'L'),
        ("hV_", 'P'),
        ("hhhVV", 'E'),
        ("hhvHH", 'L'),
    ] {
        assert_eq!(letter(adopted(reports, at(150))), expected, "{reports}");
    }
}

#[test]
fn a_master_that_is_warming_up_counts_as_unknown() {
    let mut round = Extension::new(masters(3), at(100), ms(1_000), NodeSet::first(2));
    (0..2).for_each(|node| round.record(node, report('h').expect("held")));
    assert_eq!(round.adopted(NodeSet::EMPTY, at(150), DRIFT), Progress::Unconfirmed);
    let mut round = Extension::new(masters(3), at(100), ms(1_000), NodeSet::first(2));
    (0..2).for_each(|node| round.record(node, report('v').expect("vacant")));
    assert_eq!(round.adopted(NodeSet::EMPTY, at(150), DRIFT), Progress::Unconfirmed);
}

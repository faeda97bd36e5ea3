//! The result of every extension round of up to five masters, as a table.

use super::super::{Extension, Progress, Report};
use super::drift::HABIT;
use super::{at, masters, ms};
use crate::quorum::NodeSet;

/// The results of a round of `masters` masters before the old deadline.
pub(super) struct Rule {
    pub(super) masters: usize,
    /// A block for each number of masters where the key is gone, vacant or taken; in it a row for
    /// each number that hold it, a column for each number of unknown, all from 0:
    /// `P`ending, `E`xtended, `U`nconfirmed, `L`ost.
    blocks: &'static [&'static str],
}

pub(super) const RULES: [Rule; 5] = [
    Rule { masters: 1, blocks: &["PU E", "L"] },
    Rule { masters: 2, blocks: &["PUU PU E", "LL L", "L"] },
    Rule { masters: 3, blocks: &["PPUU PPU EE E", "PUU PU E", "LL L", "L"] },
    Rule { masters: 4, blocks: &["PPUUU PPUU PPU EE E", "PUUU PUU PU E", "LLL LL L", "LL L", "L"] },
    Rule {
        masters: 5,
        blocks: &[
            "PPPUUU PPPUU PPPU EEE EE E",
            "PPUUU PPUU PPU EE E",
            "PUUU PUU PU E",
            "LLL LL L",
            "LL L",
            "L",
        ],
    },
];

impl Rule {
    /// Returns the table's entry for so many reports.
    pub(super) fn progress(&self, gone: usize, held: usize, unknown: usize) -> char {
        let row = self.blocks.get(gone).and_then(|block| block.split(' ').nth(held));
        let entry = row.and_then(|row| row.chars().nth(unknown));
        entry.unwrap_or_else(|| panic!("no entry for {gone}, {held}, {unknown}"))
    }
}

pub(super) const REPORTS: [(char, Report); 4] =
    [('h', Report::Held), ('v', Report::Vacant), ('t', Report::Taken), ('u', Report::Unknown)];

pub(super) fn report(glyph: char) -> Option<Report> {
    REPORTS.iter().find(|(letter, _)| *letter == glyph).map(|(_, report)| *report)
}

pub(super) fn letter(progress: Progress) -> char {
    match progress {
        Progress::Pending => 'P',
        Progress::Extended(_) => 'E',
        Progress::Unconfirmed => 'U',
        Progress::Lost => 'L',
    }
}

/// Returns the round that has received `reports`: held, vacant, taken, unknown, or `_` for none
/// yet. It began at 100 ms, for a ttl of 500 ms.
fn round(reports: &str) -> Extension {
    let mut round = Extension::new(masters(reports.len()), at(100), ms(500), NodeSet::EMPTY);
    for (node, glyph) in reports.chars().enumerate() {
        report(glyph).into_iter().for_each(|report| round.record(node, report));
    }
    round
}

const SITUATIONS: [(&str, &str, char); 18] = [
    ("none has answered", "_____", 'P'),
    ("all hold it", "hhhhh", 'E'),
    ("a quorum answered first", "hhh__", 'E'),
    ("two of five answered", "hh___", 'P'),
    ("a minority is down", "uhhhu", 'E'),
    ("a minority was restarted empty", "vhhhv", 'E'),
    ("a minority was never won", "thhht", 'E'),
    ("a majority is silent: nothing is destroyed", "hhuuu", 'U'),
    ("all are silent", "uuuuu", 'U'),
    ("two gone and one silent: still possible, not confirmed", "hhvtu", 'U'),
    ("two gone, three to come", "vt___", 'P'),
    ("a majority was restarted empty", "vvv__", 'L'),
    ("a majority is another client's", "hhttt", 'L'),
    ("a majority is gone, some vacant and some taken", "vth_t", 'L'),
    ("half of four is gone", "hhvv", 'L'),
    ("half of four is silent", "hhuu", 'U'),
    ("a single master is silent", "u", 'U'),
    ("a single master was restarted empty", "v", 'L'),
];

#[test]
fn each_situation_has_its_outcome() {
    for (situation, reports, expected) in SITUATIONS {
        let progress = round(reports).progress(at(490), at(150), HABIT);
        assert_eq!(letter(progress), expected, "{situation}: {reports} is {progress:?}");
    }
}

#[test]
fn every_round_ends_at_the_old_deadline_whatever_was_reported() {
    for (situation, reports, _) in SITUATIONS {
        for now in [490, 491, 10_000] {
            let progress = round(reports).progress(at(490), at(now), HABIT);
            assert_eq!(progress, Progress::Lost, "{situation}: {reports} at {now} ms");
        }
    }
}

/// Deadline before, time of the answer, deadline after, for a round from 100 ms with a ttl of
/// 500 ms and 7 ms of drift.
const DEADLINES: [(u64, u64, u64); 6] = [
    (200, 101, 593),
    (200, 199, 593),
    (592, 591, 593),
    (593, 592, 593),
    (594, 593, 594),
    (5_000, 150, 5_000),
];

#[test]
fn a_deadline_moves_to_start_plus_ttl_less_drift_and_never_back() {
    for (before, now, after) in DEADLINES {
        let progress = round("hhh__").progress(at(before), at(now), HABIT);
        assert_eq!(progress, Progress::Extended(at(after)), "{before} at {now}");
    }
}

#[test]
fn a_round_knows_which_nodes_were_warming_up_when_asked() {
    let warming: NodeSet = [0, 2].into_iter().collect();
    let round = Extension::new(masters(3), at(0), ms(100), warming);
    assert_eq!([0, 1, 2].map(|node| round.warming.contains(node)), [true, false, true]);
    assert_eq!(round.warming, warming);
}

#[test]
fn a_master_lacks_the_key_if_it_is_vacant_or_taken_there() {
    assert_eq!(round("hvtu_").lacking(), [1, 2].into_iter().collect());
}

#[test]
fn each_result_has_a_word_of_its_own() {
    let until = at(1);
    let results =
        [Progress::Pending, Progress::Extended(until), Progress::Unconfirmed, Progress::Lost];
    assert_eq!(
        results.map(Progress::as_str),
        ["pending", "extended", "unconfirmed", "lost"],
        "the values of a metric's label"
    );
}

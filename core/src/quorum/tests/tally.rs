//! The verdict of every round of up to seven masters, as a table, and the table checked against the
//! meaning of its words.

use super::super::{Tally, Verdict, Vote};
use super::masters;

/// The results of a round of `masters` masters.
pub(super) struct Rule {
    pub(super) masters: usize,
    /// This many grants win.
    pub(super) quorum: usize,
    /// This many refusals or unknowns lose.
    pub(super) losing: usize,
    /// A row for each number of grants, a column for each number of votes against, from 0:
    /// `P`ending, `W`on, `L`ost.
    rows: &'static str,
}

pub(super) const RULES: [Rule; 7] = [
    Rule { masters: 1, quorum: 1, losing: 1, rows: "PL W" },
    Rule { masters: 2, quorum: 2, losing: 1, rows: "PLL PL W" },
    Rule { masters: 3, quorum: 2, losing: 2, rows: "PPLL PPL WW W" },
    Rule { masters: 4, quorum: 3, losing: 2, rows: "PPLLL PPLL PPL WW W" },
    Rule { masters: 5, quorum: 3, losing: 3, rows: "PPPLLL PPPLL PPPL WWW WW W" },
    Rule { masters: 6, quorum: 4, losing: 3, rows: "PPPLLLL PPPLLL PPPLL PPPL WWW WW W" },
    Rule { masters: 7, quorum: 4, losing: 4, rows: "PPPPLLLL PPPPLLL PPPPLL PPPPL WWWW WWW WW W" },
];

impl Rule {
    /// Returns the verdict that the table gives for so many votes.
    pub(super) fn verdict(&self, granted: usize, against: usize) -> Verdict {
        let row = self.rows.split(' ').nth(granted).unwrap_or_default();
        match row.chars().nth(against) {
            Some('P') => Verdict::Pending,
            Some('W') => Verdict::Won,
            Some('L') => Verdict::Lost,
            _ => panic!("no entry for {granted} + {against} of {}", self.masters),
        }
    }
}

pub(super) const VOTES: [(char, Vote); 3] =
    [('g', Vote::Granted), ('r', Vote::Refused), ('u', Vote::Unknown)];

pub(super) fn vote(glyph: char) -> Option<Vote> {
    VOTES.iter().find(|(letter, _)| *letter == glyph).map(|(_, vote)| *vote)
}

/// A situation, each master's vote (in the order of arrival), the verdict.
const SITUATIONS: [(&str, &str, Verdict); 14] = [
    ("none has answered", "_____", Verdict::Pending),
    ("all well", "ggggg", Verdict::Won),
    ("won before the stragglers answer", "ggg__", Verdict::Won),
    ("two grants of five wait", "gg___", Verdict::Pending),
    ("a minority is down", "guugg", Verdict::Won),
    ("a minority holds another client's key", "rrggg", Verdict::Won),
    ("another client holds it", "rrr__", Verdict::Lost),
    ("a majority is down", "gguuu", Verdict::Lost),
    ("three contenders split five", "grrgr", Verdict::Lost),
    ("two contenders tie on four", "rr__", Verdict::Lost),
    ("two contenders tie on four, heard to the end", "ggrr", Verdict::Lost),
    ("one of two is down", "u_", Verdict::Lost),
    ("a single master grants", "g", Verdict::Won),
    ("a single master is silent", "u", Verdict::Lost),
];

#[test]
fn each_situation_has_its_verdict() {
    for (situation, votes, expected) in SITUATIONS {
        let mut tally = Tally::new(masters(votes.len()));
        for (node, glyph) in votes.chars().enumerate() {
            vote(glyph).map(|vote| tally.record(node, vote));
        }
        assert_eq!(tally.verdict(), expected, "{situation}: {votes}");
    }
}

#[test]
fn the_table_is_complete_and_its_numbers_say_what_its_rows_say() {
    for rule in &RULES {
        let rows: Vec<&str> = rule.rows.split(' ').collect();
        assert_eq!(rows.len(), rule.masters + 1);
        for (granted, row) in rows.into_iter().enumerate() {
            assert_eq!(row.len(), rule.masters + 1 - granted, "N={} row {row}", rule.masters);
            for (against, glyph) in row.chars().enumerate() {
                let expected = match (granted >= rule.quorum, against >= rule.losing) {
                    (true, false) => 'W',
                    (false, true) => 'L',
                    (false, false) => 'P',
                    (true, true) => '!',
                };
                assert_eq!(glyph, expected, "N={} {granted} + {against}", rule.masters);
            }
        }
    }
}

#[test]
fn the_table_decides_once_the_missing_votes_cannot_change_it() {
    for rule in &RULES {
        for granted in 0..=rule.masters {
            for against in 0..=rule.masters - granted {
                let out = rule.masters - granted - against;
                // Every way in which the missing votes can turn out, counted to the end.
                let ends = (0..=out)
                    .map(|more| rule.verdict(granted + more, rule.masters - granted - more));
                let wins = ends.filter(|end| *end == Verdict::Won).count();
                let expected = match wins {
                    0 => Verdict::Lost,
                    all if all == out + 1 => Verdict::Won,
                    _ => Verdict::Pending,
                };
                let verdict = rule.verdict(granted, against);
                assert_eq!(verdict, expected, "N={}: {granted} + {against}", rule.masters);
            }
        }
    }
}

#[test]
fn a_master_votes_once() {
    let mut tally = Tally::new(masters(3));
    let votes = [(0, Vote::Granted), (0, Vote::Refused), (1, Vote::Refused), (1, Vote::Granted)];
    for (node, vote) in votes {
        assert_eq!(tally.record(node, vote), Verdict::Pending, "{node}");
    }
}

#[test]
fn strangers_votes_never_count() {
    let mut tally = Tally::new(masters(3));
    for stranger in [3, 4, 63, 64, usize::MAX] {
        assert_eq!(tally.record(stranger, Vote::Granted), Verdict::Pending, "{stranger}");
    }
    let mut tally = Tally::new(masters(3));
    for stranger in [3, 4, 63, 64, usize::MAX] {
        assert_eq!(tally.record(stranger, Vote::Refused), Verdict::Pending, "{stranger}");
    }
}

//! Rounds of two lists: each list's verdict as its own table gives it, and the combination of the
//! two as a table.

use super::super::{Extension, Membership, NodeSet, Tally, Verdict};
use super::extension::{REPORTS, RULES as EXTENSIONS, letter};
use super::permutations::{Hears, every_state};
use super::tally::{RULES as TALLIES, vote};
use super::{Picture, at, drift, ms};

/// A row for the verdict of the new list, a column for the old one, in the order of `PWL`.
const VERDICTS: [&str; 3] = ["PPL", "PWL", "LLL"];

/// The same for an extension, in the order of `PEUL`.
const OUTCOMES: [&str; 4] = ["PPUL", "PEUL", "UUUL", "LLLL"];

/// Returns the table's entry for the results of the new and the old list.
fn together(table: &[&str], order: &str, new: char, old: char) -> char {
    let place = |glyph| order.find(glyph).unwrap_or_else(|| panic!("no {glyph} in {order}"));
    let row = table[place(new)];
    row.chars().nth(place(old)).unwrap_or_else(|| panic!("{row} is too short"))
}

/// Lists of up to five masters with up to five in all, and the usual case: one of five replaced.
fn lists() -> Vec<String> {
    let mut all = vec!["bbbbno".to_owned()];
    for (both, new) in (0..=5).flat_map(|both| (0..=5).map(move |new| (both, new))) {
        for old in 0..=5 {
            let filled = both + new > 0 && both + old > 0;
            if filled && both + new + old <= 5 {
                all.push("b".repeat(both) + &"n".repeat(new) + &"o".repeat(old));
            }
        }
    }
    all
}

/// Returns the votes of the masters of one list: those that are in both, and those with this
/// letter.
fn votes(lists: &str, letter: char, picture: &Picture) -> Picture {
    let members = lists.chars().zip(&picture.0).filter(|(list, _)| [letter, 'b'].contains(list));
    Picture(members.map(|(_, glyph)| *glyph).collect())
}

const fn glyph(verdict: Verdict) -> char {
    match verdict {
        Verdict::Pending => 'P',
        Verdict::Won => 'W',
        Verdict::Lost => 'L',
    }
}

#[test]
fn every_round_of_two_lists_is_judged_by_each_list() {
    let mut seen = std::collections::BTreeSet::new();
    for lists in lists() {
        let start = Tally::new(Membership::pictured(&lists));
        every_state(&start, lists.len(), &mut |step| {
            let [new, old] = ['n', 'o'].map(|letter| {
                let votes = votes(&lists, letter, step.next);
                glyph(TALLIES[votes.0.len() - 1].verdict(votes.count("g"), votes.count("ru")))
            });
            let expected = together(&VERDICTS, "PWL", new, old);
            let is = glyph(step.after.verdict());
            assert_eq!(is, expected, "{lists} {}: new {new}, old {old}", step.next);
            let was = glyph(step.before.verdict());
            assert!(was == 'P' || was == is, "{lists} {}: a verdict turned back", step.next);
            seen.insert((new, old));
        });
    }
    assert_eq!(seen.len(), 9, "not every pair of verdicts was met: {seen:?}");
}

#[test]
fn every_extension_of_two_lists_is_judged_by_each_list() {
    let mut seen = std::collections::BTreeSet::new();
    for lists in lists().into_iter().filter(|lists| lists.len() < 5) {
        let masters = u32::try_from(lists.len()).unwrap_or_else(|_| panic!("{lists}"));
        // Each master has made one of four reports, or none.
        for code in 0..5_usize.pow(masters) {
            let mut picture = Picture::blank(lists.len());
            let mut round =
                Extension::new(Membership::pictured(&lists), at(100), ms(500), NodeSet::EMPTY);
            for node in 0..lists.len() {
                let spoken = code / 5_usize.pow(u32::try_from(node).unwrap_or(0)) % 5;
                if let Some((letter, report)) = REPORTS.get(spoken) {
                    round.record(node, *report);
                    picture = picture.with(node, *letter);
                }
            }
            let [new, old] = ['n', 'o'].map(|letter| {
                let votes = votes(&lists, letter, &picture);
                let rule = &EXTENSIONS[votes.0.len() - 1];
                rule.progress(votes.count("vt"), votes.count("h"), votes.count("u"))
            });
            let expected = together(&OUTCOMES, "PEUL", new, old);
            let is = letter(round.progress(at(490), at(150), drift::HABIT));
            assert_eq!(is, expected, "{lists} {picture}: new {new}, old {old}");
            seen.insert((new, old));
        }
    }
    assert_eq!(seen.len(), 16, "not every pair of outcomes was met: {seen:?}");
}

/// A situation of the usual change, one of five replaced: the fifth is new, the sixth is old.
const SITUATIONS: [(&str, &str, char); 9] = [
    ("all well", "ggg___", 'W'),
    ("two in common and both others", "gg__gg", 'W'),
    ("a majority of the new list alone", "gg__g_", 'P'),
    ("a majority of the old list alone", "gg___g", 'P'),
    ("the new list has agreed, the old one waits for one", "gg_ugu", 'P'),
    ("three of the old list are out, two of the new one", "ggrr_r", 'L'),
    ("three of the new list are out, two of the old one", "ug_uu_", 'L'),
    ("the master that goes is down", "ggg__u", 'W'),
    ("the master that comes is down", "gggru_", 'W'),
];

#[test]
fn each_situation_of_a_change_has_its_verdict() {
    for (situation, votes, expected) in SITUATIONS {
        let mut tally = Tally::new(Membership::pictured("bbbbno"));
        for (node, char) in votes.chars().enumerate().filter(|(_, char)| vote(*char).is_some()) {
            tally.hear(node, char);
        }
        assert_eq!(glyph(tally.verdict()), expected, "{situation}: {votes}");
    }
}

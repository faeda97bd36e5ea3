//! Every assignment of votes, in every order of arrival, for one to seven masters.

use super::super::{Tally, Verdict};
use super::permutations::{Hears, Step, every_order, every_state};
use super::tally::{RULES, Rule, VOTES, vote};
use super::{Picture, all_of, masters};

impl Hears for Tally {
    const GLYPHS: &'static str = "gru";

    fn hear(&mut self, node: usize, glyph: char) {
        let vote = vote(glyph).unwrap_or_else(|| panic!("{glyph} is no vote"));
        let verdict = self.record(node, vote);
        assert_eq!(verdict, self.verdict(), "what record returns is the verdict");
    }
}

/// Asserts what has to hold after every vote.
fn holds(rule: &Rule, step: &Step<'_, Tally>) {
    let (was, is, next) = (step.before.verdict(), step.after.verdict(), step.next);
    let expected = rule.verdict(next.count("g"), next.count("ru"));
    assert_eq!(is, expected, "{} then {next}, quorum {}", step.picture, rule.quorum);
    if was != Verdict::Pending {
        assert_eq!(is, was, "{} then {next}: a verdict turned back", step.picture);
    }
}

/// Asserts what else has to hold in every state.
fn no_second_vote_counts(step: &Step<'_, Tally>) {
    let (tally, picture) = (step.after, step.next);
    let whole = all_of(tally);
    for node in (0..picture.0.len()).filter(|node| !picture.silent().contains(node)) {
        for (glyph, second) in VOTES {
            let mut again = tally.clone();
            again.record(node, second);
            assert_eq!(all_of(&again), whole, "{picture}: a second {glyph} of master {node}");
        }
    }
}

#[test]
fn votes_of_one_to_five_masters_in_any_order_match_the_table() {
    // N! * 3^N complete orders.
    let expected = [3, 18, 162, 1_944, 29_160];
    for (rule, expected) in RULES.iter().zip(expected) {
        let start = Tally::new(masters(rule.masters));
        let orders = every_order(&start, &Picture::blank(rule.masters), &mut |step| {
            holds(rule, step);
            no_second_vote_counts(step);
        });
        assert_eq!(orders, expected, "orders of {}", rule.masters);
    }
}

#[test]
fn every_order_of_arrival_of_six_masters_ends_as_the_table_says() {
    let rule = &RULES[5];
    let start = Tally::new(masters(rule.masters));
    let orders = every_order(&start, &Picture::blank(rule.masters), &mut |step| holds(rule, step));
    assert_eq!(orders, 720 * 729);
}

#[test]
fn what_one_to_seven_masters_said_is_all_that_matters() {
    // 4^N: each master has cast one of three votes, or none.
    let expected = [4, 16, 64, 256, 1_024, 4_096, 16_384];
    for (rule, expected) in RULES.iter().zip(expected) {
        let start = Tally::new(masters(rule.masters));
        assert_eq!(start.verdict(), Verdict::Pending, "before the first vote");
        let states = every_state(&start, rule.masters, &mut |step| holds(rule, step));
        assert_eq!(states, expected, "states of {}", rule.masters);
    }
}

#[test]
fn more_grants_never_hurt() {
    let rank = |verdict| match verdict {
        Verdict::Lost => 0,
        Verdict::Pending => 1,
        Verdict::Won => 2,
    };
    for rule in RULES.iter().filter(|rule| rule.masters <= 5) {
        every_state(&Tally::new(masters(rule.masters)), rule.masters, &mut |step| {
            // The last vote unchanged, and the same step with a grant in its place.
            let place = (0..rule.masters).find(|&node| step.picture.0[node] != step.next.0[node]);
            let place = place.unwrap_or_else(|| panic!("{} is no step", step.next));
            let mut better = step.before.clone();
            better.hear(place, 'g');
            let (worse, better) = (rank(step.after.verdict()), rank(better.verdict()));
            assert!(better >= worse, "{}: a grant of master {place} hurt", step.next);
        });
    }
}

#[test]
fn two_rounds_that_share_no_grant_never_both_win() {
    // Each master grants the one, grants the other, or is silent.
    const GRANTS: [(char, char, char); 3] = [('1', 'g', 'r'), ('2', 'r', 'g'), ('-', 'u', 'u')];
    for rule in RULES.iter().filter(|rule| rule.masters <= 5) {
        for code in 0..GRANTS.len().pow(5) {
            let blank = Tally::new(masters(rule.masters));
            let (mut first, mut second) = (blank.clone(), blank);
            let mut picture = Picture::blank(rule.masters);
            for node in 0..rule.masters {
                let (glyph, to_first, to_second) = GRANTS[code / [1, 3, 9, 27, 81][node] % 3];
                first.hear(node, to_first);
                second.hear(node, to_second);
                picture = picture.with(node, glyph);
            }
            let both = first.verdict() == Verdict::Won && second.verdict() == Verdict::Won;
            assert!(!both, "{picture}: two winners");
        }
    }
}

//! Every extension round of one to five masters, in every order of arrival.

use super::super::Extension;
use super::drift::HABIT;
use super::extension::{REPORTS, RULES, Rule, letter, report};
use super::permutations::{Hears, Step, every_order, every_state};
use super::{Picture, all_of, at, masters, ms};
use crate::quorum::NodeSet;

impl Hears for Extension {
    const GLYPHS: &'static str = "hvtu";

    fn hear(&mut self, node: usize, glyph: char) {
        self.record(node, report(glyph).unwrap_or_else(|| panic!("{glyph} is no report")));
    }
}

fn start(rule: &Rule) -> Extension {
    Extension::new(masters(rule.masters), at(100), ms(500), NodeSet::EMPTY)
}

/// Returns the outcome in time, as a letter.
fn outcome(round: &Extension) -> char {
    letter(round.progress(at(490), at(150), HABIT))
}

/// Asserts what has to hold after every report.
fn holds(rule: &Rule, step: &Step<'_, Extension>) {
    let (was, is, next) = (outcome(step.before), outcome(step.after), step.next);
    let expected = rule.progress(next.count("vt"), next.count("h"), next.count("u"));
    assert_eq!(is, expected, "{} then {next}", step.picture);
    let vacant: Vec<usize> = step.after.vacant().iter().collect();
    assert_eq!(vacant, next.places('v'), "{next}: the nodes to be topped up");
    let may_follow = match was {
        'P' => "PEUL",
        'U' => "UL",
        'E' => "E",
        _ => "L",
    };
    assert!(may_follow.contains(is), "{} then {next}: {was} became {is}", step.picture);
}

/// Asserts what else has to hold in every state.
fn no_second_report_counts(step: &Step<'_, Extension>) {
    let (round, picture) = (step.after, step.next);
    let whole = all_of(round);
    for node in (0..picture.0.len()).filter(|node| !picture.silent().contains(node)) {
        for (glyph, second) in REPORTS {
            let mut again = round.clone();
            again.record(node, second);
            assert_eq!(all_of(&again), whole, "{picture}: a second {glyph} of master {node}");
        }
    }
}

#[test]
fn reports_of_one_to_four_masters_in_any_order_match_the_table() {
    // N! * 4^N complete orders.
    let expected = [4, 32, 384, 6_144];
    for (rule, expected) in RULES.iter().zip(expected) {
        let blank = Picture::blank(rule.masters);
        let orders = every_order(&start(rule), &blank, &mut |step| {
            holds(rule, step);
            no_second_report_counts(step);
        });
        assert_eq!(orders, expected, "orders of {}", rule.masters);
    }
}

#[test]
fn reports_of_five_masters_in_any_order_match_the_table() {
    let rule = &RULES[4];
    let blank = Picture::blank(rule.masters);
    let orders = every_order(&start(rule), &blank, &mut |step| holds(rule, step));
    assert_eq!(orders, 120 * 1_024);
}

#[test]
fn what_one_to_five_masters_reported_is_all_that_matters() {
    // 5^N: each master has made one of four reports, or none.
    let expected = [5, 25, 125, 625, 3_125];
    for (rule, expected) in RULES.iter().zip(expected) {
        assert_eq!(outcome(&start(rule)), 'P', "before the first report");
        let states = every_state(&start(rule), rule.masters, &mut |step| {
            holds(rule, step);
            no_second_report_counts(step);
        });
        assert_eq!(states, expected, "states of {}", rule.masters);
    }
}

#[test]
fn strangers_reports_never_count() {
    for (glyph, report) in REPORTS {
        let mut round = start(&RULES[2]);
        for stranger in [3, 4, 63, 64, usize::MAX] {
            round.record(stranger, report);
        }
        assert_eq!(outcome(&round), 'P', "three strangers said {glyph}");
    }
}

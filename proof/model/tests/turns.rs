//! Turns: the table that people read is the one that the model is driven by, the order of tickets
//! in every case, and each broken rule beside the same run without it.

use model::checker::{Bounds, explore};
use model::named::Named;
use model::run::{Kind, Part};
use model::turns::config::Config;
use model::turns::mutants::Mutant;
use model::turns::table;
use model::turns::{Turns, runs};
use quorumlock_core::quorum::turns::{Does, Event, Phase, TABLE, ticket, turn};
use quorumlock_core::quorum::{Membership, NodeSet};

const README: &str = include_str!("../README.md");

#[test]
fn the_readme_has_the_table_that_the_model_is_driven_by() {
    let table = table::markdown();
    assert!(README.contains(&table), "the README lacks:\n{table}");
}

#[test]
fn every_event_has_one_row_and_each_row_its_words() {
    for (at, row) in TABLE.iter().enumerate() {
        assert!(TABLE[..at].iter().all(|other| other.event != row.event), "{row:?} comes twice");
        assert!(TABLE[..at].iter().all(|other| other.words != row.words), "{row:?} has no words");
        let phases = [Phase::Behind, Phase::First, Phase::Called];
        for (phase, does) in phases.into_iter().zip(row.does) {
            assert_eq!(turn(phase, row.event), does);
        }
    }
}

#[test]
fn only_a_name_or_a_quorum_makes_one_that_is_behind_try() {
    let tries = |phase| {
        let rows = TABLE.iter().filter(move |row| turn(phase, row.event).0 == Does::Try);
        rows.map(|row| row.event).collect::<Vec<_>>()
    };
    assert_eq!(tries(Phase::Behind), [Event::Named, Event::Would]);
    assert_eq!(tries(Phase::First), [Event::Named, Event::Freed, Event::Would]);
}

fn bits(mask: u32) -> NodeSet {
    (0..5).filter(|node| mask >> node & 1 == 1).collect()
}

type Rule = fn(Membership, &[Option<u64>]) -> Option<u64>;

/// Counts the cases, and those in which the later one has not the greater ticket. One waiter is
/// stored with its ticket at a quorum, then another gets stamps from a quorum: any two quorums, any
/// clocks of four readings.
fn out_of_order(members: Membership, rule: Rule, is_behind: bool) -> (u32, u32) {
    const STORED: u64 = 3;
    let quorums: Vec<u32> = (0..32).filter(|mask| members.is_quorum(bits(*mask))).collect();
    let (mut cases, mut wrong) = (0, 0);
    for first in &quorums {
        for later in &quorums {
            for clocks in 0..4_u32.pow(5) {
                let stamp = |node: u32| {
                    let clock = u64::from(clocks >> (2 * node) & 3) + 1;
                    let behind = is_behind && first >> node & 1 == 1;
                    let stamp = if behind { clock.max(STORED + 1) } else { clock };
                    (later >> node & 1 == 1).then_some(stamp)
                };
                let stamps: Vec<Option<u64>> = (0..5).map(stamp).collect();
                cases += 1;
                wrong += u32::from(rule(members, &stamps).is_none_or(|ticket| ticket <= STORED));
            }
        }
    }
    (cases, wrong)
}

fn least(_: Membership, stamps: &[Option<u64>]) -> Option<u64> {
    stamps.iter().flatten().min().copied()
}

#[test]
fn a_waiter_stored_at_a_quorum_is_before_all_later_waiters() {
    let five = Membership::of(5).expect("five nodes");
    assert_eq!(out_of_order(five, ticket, true), (262_144, 0));
    assert_eq!(out_of_order(five, least, true), (262_144, 170_880));
    assert_eq!(out_of_order(five, ticket, false), (262_144, 144_288));
}

#[test]
fn so_it_is_while_one_list_takes_over_from_another() {
    for (list, also) in [(0b00111, 0b11100), (0b00111, 0b11110), (0b01111, 0b11110), (1, 0b11110)] {
        let joint = Membership::joint(bits(list), bits(also)).expect("two lists");
        let (cases, wrong) = out_of_order(joint, ticket, true);
        assert!(cases > 0 && wrong == 0, "{list:b} and {also:b}: {wrong} of {cases}");
        assert!(out_of_order(joint, ticket, false).1 > 0, "the clocks alone do not order them");
    }
}

#[test]
fn a_ticket_needs_the_stamps_of_a_quorum() {
    let three = Membership::of(3).expect("three nodes");
    assert_eq!(ticket(three, &[Some(5), None, None]), None);
    assert_eq!(ticket(three, &[Some(5), None, Some(9)]), Some(9));
    assert_eq!(ticket(three, &[Some(5), Some(7), Some(9)]), Some(7));
    let joint = Membership::joint(bits(0b00111), bits(0b11100)).expect("two lists");
    assert_eq!(ticket(joint, &[Some(1), Some(2), Some(3), Some(9), Some(8)]), Some(8));
}

fn is_same(config: &Config, other: &Config) -> bool {
    format!("{config:?}") == format!("{other:?}")
}

#[test]
fn every_broken_rule_is_explored_where_the_rule_holds() {
    let all = runs::all();
    for mutant in Mutant::ALL {
        let breaks = |run: &&runs::Run| run.config.is(*mutant);
        let run = all.iter().find(breaks).expect("a run for each mutant");
        assert!(run.violates.is_some() || run.kind == Kind::Margin, "{}", run.name());
        let config = Config { mutant: None, ..run.config.clone() };
        let holds =
            |other: &&runs::Run| other.kind == Kind::Holds && is_same(&other.config, &config);
        assert!(all.iter().any(|run| holds(&run)), "{}, without the mutant", run.name());
    }
}

#[test]
fn a_trace_shows_a_broken_rule_step_by_step() {
    let uncompared = |run: &runs::Run| run.config.is(Mutant::HeadTakesHeld);
    let run = runs::all().into_iter().find(uncompared).expect("a run");
    let turns = Turns::new(run.config);
    let found = explore(&turns, Bounds { states: 20_000 }, |_| ()).violation.expect("two holders");
    let trace = turns.in_words(&found.trace);
    assert_eq!(Some(found.property), run.violates);
    assert_eq!(trace.first().map(String::as_str), Some("B comes"));
    assert!(trace.last().is_some_and(|step| step.ends_with("B wins")), "{trace:?}");
}

//! The search itself: it finds what is planted, by a shortest way, and counts what is the same once.

use model::checker::{Bounds, Model, Outcome, explore};

const ENOUGH: Bounds = Bounds { states: 1000 };

/// A number that grows by one or by three, up to twenty. One number is wrong.
struct Steps {
    wrong: u64,
}

impl Model for Steps {
    type State = u64;
    type Action = u64;

    fn initial(&self) -> u64 {
        0
    }

    fn successors(&self, state: &u64, mut emit: impl FnMut(u64, u64)) {
        for by in [1, 3] {
            if state + by <= 20 {
                emit(by, state + by);
            }
        }
    }

    fn canonical(&self, state: u64) -> u64 {
        state
    }

    fn digest(&self, state: &u64) -> u64 {
        *state
    }

    fn violated(&self, state: &u64) -> Option<&'static str> {
        (*state == self.wrong).then_some("not that one")
    }
}

fn steps_to(wrong: u64) -> Outcome<u64> {
    explore(&Steps { wrong }, ENOUGH, |_| ())
}

#[test]
fn a_planted_violation_is_found_by_a_shortest_way() {
    for wrong in 1..=20 {
        let found = steps_to(wrong).violation.expect("a number that can be reached");
        assert_eq!(found.trace.iter().sum::<u64>(), wrong);
        let shortest = usize::try_from(wrong / 3 + wrong % 3).expect("a small number");
        assert_eq!(found.trace.len(), shortest, "to {wrong} by {:?}", found.trace);
        assert_eq!(found.property, "not that one");
    }
}

#[test]
fn a_violation_in_the_first_state_takes_no_step() {
    assert!(steps_to(0).violation.expect("it is the first one").trace.is_empty());
}

#[test]
fn without_a_violation_every_state_is_met_once() {
    let outcome = steps_to(21);
    assert!(outcome.complete && outcome.violation.is_none());
    assert_eq!(
        (outcome.states, outcome.depth),
        (21, 8),
        "0 to 20, and 20 takes 6 threes and 2 ones"
    );
}

#[test]
fn a_search_that_ends_at_its_bound_says_how_far_it_is_complete() {
    let outcome = explore(&Steps { wrong: 20 }, Bounds { states: 7 }, |_| ());
    assert!(!outcome.complete && outcome.violation.is_none());
    assert_eq!(outcome.depth, 2, "0; 1, 3; 2, 4, 6; and the seventh state is on the next level");
}

/// As many places, each of which is lit once, in any order. They differ by place alone.
struct Lamps {
    places: usize,
    alike: bool,
}

impl Model for Lamps {
    type State = [bool; 4];
    type Action = usize;

    fn initial(&self) -> [bool; 4] {
        [false; 4]
    }

    fn successors(&self, state: &[bool; 4], mut emit: impl FnMut(usize, [bool; 4])) {
        for place in (0..self.places).filter(|place| !state[*place]) {
            let mut lit = *state;
            lit[place] = true;
            emit(place, lit);
        }
    }

    fn canonical(&self, mut state: [bool; 4]) -> [bool; 4] {
        if self.alike {
            state[..self.places].sort_unstable();
        }
        state
    }

    fn digest(&self, state: &[bool; 4]) -> u64 {
        state.iter().fold(0, |digest, lit| digest << 1 | u64::from(*lit))
    }

    fn violated(&self, state: &[bool; 4]) -> Option<&'static str> {
        state[..self.places].iter().all(|lit| *lit).then_some("all are lit")
    }
}

#[test]
fn states_differing_in_names_count_once_but_traces_keep_names() {
    for (alike, states) in [(false, 16), (true, 5)] {
        let outcome = explore(&Lamps { places: 4, alike }, ENOUGH, |_| ());
        assert_eq!(outcome.states, states);
        let mut trace = outcome.violation.expect("all can be lit").trace;
        trace.sort_unstable();
        assert_eq!(trace, [0, 1, 2, 3], "no lamp is lit twice");
    }
}

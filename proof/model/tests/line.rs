//! The line: the table that people read is that which drives the model, and means what is said by hand below.

use model::line::rules::{Does, Event, Phase, TABLE, next};
use model::line::table;

const README: &str = include_str!("../README.md");

const PHASES: [Phase; 7] = [
    Phase::Out,
    Phase::Asking,
    Phase::Behind,
    Phase::First,
    Phase::Trying,
    Phase::Called,
    Phase::Alone,
];

#[test]
fn the_readme_has_the_table_of_the_line() {
    let table = table::markdown();
    assert!(README.contains(&table), "the README lacks:\n{table}");
}

#[test]
fn every_event_has_one_row_and_every_phase_one_step_in_it() {
    for (at, row) in TABLE.iter().enumerate() {
        assert!(TABLE[..at].iter().all(|other| other.event != row.event), "{row:?} comes twice");
        for phase in PHASES {
            let steps = row.steps.iter().filter(|(phases, ..)| phases.contains(&phase));
            assert!(steps.count() < 2, "{phase:?} has two steps in {row:?}");
        }
    }
}

#[test]
fn a_waiter_tries_only_if_it_is_let_go_or_none_is_ahead_of_it() {
    let tries = |phase| {
        let rows = TABLE.iter().filter(move |row| next(phase, row.event).0 == Does::Try);
        rows.map(|row| row.event).collect::<Vec<_>>()
    };
    assert_eq!(tries(Phase::Out), [Event::Comes]);
    assert_eq!(tries(Phase::Asking), [Event::Go, Event::Named]);
    assert_eq!(tries(Phase::Behind), [Event::Go, Event::Named]);
    assert_eq!(tries(Phase::First), [Event::Go, Event::Named, Event::Due]);
    assert_eq!(tries(Phase::Alone), [Event::Go, Event::Named, Event::Due]);
    assert_eq!(tries(Phase::Trying), []);
    assert_eq!(tries(Phase::Called), [Event::Refused]);
}

#[test]
fn who_does_not_wait_passes_on_a_call_and_does_nothing_else() {
    for row in TABLE {
        let expected = match row.event {
            Event::Begins => (Does::Ask, Phase::Asking),
            Event::Comes => (Does::Try, Phase::Trying),
            Event::Go | Event::Named => (Does::PassOn, Phase::Out),
            _ => (Does::Sleep, Phase::Out),
        };
        assert_eq!(next(Phase::Out, row.event), expected, "{}", row.words);
    }
}

#[test]
fn an_event_means_what_its_row_says_and_changes_nothing_in_another_phase() {
    let go = [
        (Phase::Out, (Does::PassOn, Phase::Out)),
        (Phase::Asking, (Does::Try, Phase::Trying)),
        (Phase::Behind, (Does::Try, Phase::Trying)),
        (Phase::First, (Does::Try, Phase::Trying)),
        (Phase::Trying, (Does::Sleep, Phase::Called)),
        (Phase::Called, (Does::Sleep, Phase::Called)),
        (Phase::Alone, (Does::Try, Phase::Trying)),
    ];
    for (phase, expected) in go {
        assert_eq!(next(phase, Event::Go), expected, "{phase:?}");
        assert_eq!(next(phase, Event::Named), expected, "{phase:?}");
    }
    let due = [
        (Phase::Behind, (Does::Ask, Phase::Asking)),
        (Phase::First, (Does::Try, Phase::Trying)),
        (Phase::Alone, (Does::Try, Phase::Trying)),
    ];
    due.iter().for_each(|(phase, expected)| assert_eq!(next(*phase, Event::Due), *expected));
    for phase in [Phase::Out, Phase::Asking, Phase::Trying, Phase::Called] {
        assert_eq!(next(phase, Event::Due), (Does::Sleep, phase));
    }
    assert_eq!(next(Phase::Trying, Event::Won), (Does::Hold, Phase::Out));
    assert_eq!(next(Phase::Behind, Event::Won), (Does::Sleep, Phase::Behind));
    assert_eq!(next(Phase::Trying, Event::Refused), (Does::Ask, Phase::Asking));
    assert_eq!(next(Phase::Called, Event::Refused), (Does::Try, Phase::Trying));
    assert_eq!(next(Phase::First, Event::Ends), (Does::Leave, Phase::Out));
    assert_eq!(next(Phase::Out, Event::Ends), (Does::Sleep, Phase::Out));
}

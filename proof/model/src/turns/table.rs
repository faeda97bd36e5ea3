//! What a waiter does, phase by event: the specification of turns.
//!
//! The model is driven by [`TABLE`], and a test compares it with the table in the README.

use std::fmt::Write as _;

/// What a waiter knows of its place.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
pub enum Phase {
    /// Others are first, or it does not know.
    #[default]
    Behind,
    /// No quorum has others before it.
    First,
    /// A message has named it, or a quorum would have granted. Lasts as long as a key is kept.
    Called,
}

/// What a waiter learns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Event {
    Named,
    Freed,
    Would,
    First,
    Others,
    Life,
    Kept,
    Pause,
    Second,
    Won,
    Unable,
}

/// What a waiter does. A step that sends waits for the end of the round under way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Does {
    Sleep,
    Look,
    Try,
    Enter,
    Withdraw,
}

#[derive(Clone, Copy, Debug)]
pub struct Row {
    pub event: Event,
    pub words: &'static str,
    /// By phase: what it does, and its next phase.
    pub does: [(Does, Phase); 3],
}

const fn row(event: Event, words: &'static str, does: [(Does, Phase); 3]) -> Row {
    Row { event, words, does }
}

use Does::{Enter, Look, Sleep, Try, Withdraw};
use Phase::{Behind, Called, First};

/// A row for each event.
#[rustfmt::skip]
pub const TABLE: [Row; 11] = [
    row(Event::Named, "a message names it", [(Try, Called), (Try, Called), (Try, Called)]),
    row(Event::Freed, "an empty message", [(Sleep, Behind), (Try, First), (Try, Called)]),
    row(Event::Would, "a quorum would grant (-3)", [(Try, Called), (Try, Called), (Try, Called)]),
    row(Event::First, "a quorum has none before it (0)", [(Sleep, First), (Sleep, First), (Sleep, Called)]),
    row(Event::Others, "neither: others are first (1)", [(Sleep, Behind), (Sleep, Behind), (Sleep, Called)]),
    row(Event::Life, "the lives that a quorum told are over", [(Sleep, Behind), (Look, First), (Sleep, Called)]),
    row(Event::Kept, "the time that a key is kept is over", [(Sleep, Behind), (Sleep, First), (Sleep, First)]),
    row(Event::Pause, "the pause after a lost try is over", [(Sleep, Behind), (Sleep, First), (Try, Called)]),
    row(Event::Second, "a second is over", [(Look, Behind), (Look, First), (Look, Called)]),
    row(Event::Won, "a quorum has granted", [(Enter, Behind), (Enter, First), (Enter, Called)]),
    row(Event::Unable, "no quorum can grant", [(Withdraw, Behind), (Withdraw, First), (Withdraw, Called)]),
];

/// Returns what a waiter does, and its next phase.
pub fn turn(phase: Phase, event: Event) -> (Does, Phase) {
    let row = TABLE.iter().find(|row| row.event == event);
    row.map_or((Sleep, phase), |row| row.does[phase as usize])
}

/// Returns the table as the README shows it.
pub fn markdown() -> String {
    let mut text = "| event | behind | first | called |\n|---|---|---|---|\n".to_owned();
    for Row { words, does, .. } in TABLE {
        let _ = write!(text, "| {words} |");
        for (at, (does, next)) in does.into_iter().enumerate() {
            let same = next as usize == at;
            let _ = match (does, same) {
                (Sleep, true) => write!(text, " |"),
                (Sleep, false) => write!(text, " {next:?} |"),
                (Enter | Withdraw, _) | (_, true) => write!(text, " {} |", verb(does)),
                (_, false) => write!(text, " {}, {next:?} |", verb(does)),
            };
        }
        text.push('\n');
    }
    text.replace("Behind", "behind").replace("First", "first").replace("Called", "called")
}

const fn verb(does: Does) -> &'static str {
    match does {
        Sleep => "",
        Look => "look",
        Try => "try",
        Enter => "enter",
        Withdraw => "withdraw",
    }
}

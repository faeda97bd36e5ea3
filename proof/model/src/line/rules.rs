//! The line at one master: what a client does that waits there, phase by event.
//!
//! [`TABLE`] is the specification, which the model explores. A line gives no vote: it says who tries next, and an
//! attempt that follows is won at a quorum or not at all.

/// What a client knows of its wait.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub enum Phase {
    /// It does not wait: it holds, has given up, or has not begun.
    #[default]
    Out,
    /// Its question has no answer yet.
    Asking,
    /// It has a place, and others are ahead.
    Behind,
    /// It has a place, and no other waiter is ahead.
    First,
    /// Its attempt is under way.
    Trying,
    /// The same, and it has been called since the attempt began.
    Called,
    /// No master has a line for it.
    Alone,
}

/// What a client learns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Event {
    /// It begins, and asks before it tries: it is fair, or the lock is known to be waited for.
    Begins,
    /// It begins by trying.
    Comes,
    /// The answer lets it go.
    Go,
    /// The answer has others ahead of it.
    Behind,
    /// The answer has no other waiter ahead of it, and it may not go.
    First,
    /// The answer has no place for it: the line is full.
    Full,
    /// A message calls it.
    Named,
    /// Its timer is due.
    Due,
    /// The master of the line has not answered in time, or has answered with an error.
    Silent,
    /// No master is left to ask.
    None,
    /// The connection to the master of the line has ended, or another master is the one to ask.
    Moved,
    /// A quorum has granted.
    Won,
    /// No quorum can grant.
    Refused,
    /// Its caller has gone, or its time is over.
    Ends,
}

/// What a client does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Does {
    Sleep,
    /// Asks at the master of its line.
    Ask,
    /// Asks at the next master, and says for how long it has waited.
    Move,
    /// Asks all masters for the lock.
    Try,
    /// Holds the lock.
    Hold,
    /// Calls the next, since it does not wait any more.
    PassOn,
    /// Leaves the line, and rolls back what is under way.
    Leave,
}

/// What an event means to a client in some phases; in any other, it changes nothing.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    pub event: Event,
    pub words: &'static str,
    /// Phases, what the client does in them, and its next phase.
    pub steps: &'static [(&'static [Phase], Does, Phase)],
}

const fn row(
    event: Event,
    words: &'static str,
    steps: &'static [(&'static [Phase], Does, Phase)],
) -> Row {
    Row { event, words, steps }
}

use Does::{Ask, Hold, Leave, Move, PassOn, Sleep, Try};
use Phase::{Alone, Asking, Behind, Called, First, Out, Trying};

const OUT: &[Phase] = &[Out];
const ATTEMPT: &[Phase] = &[Trying, Called];
const LOOSE: &[Phase] = &[Asking, Behind, First, Alone];
const ALL: &[Phase] = &[Asking, Behind, First, Trying, Called, Alone];

/// A row for each event.
#[rustfmt::skip]
pub const TABLE: [Row; 14] = [
    row(Event::Begins, "it begins, and asks first", &[(OUT, Ask, Asking)]),
    row(Event::Comes, "it begins, and tries first", &[(OUT, Try, Trying)]),
    row(Event::Go, "the answer lets it go", &[(OUT, PassOn, Out), (LOOSE, Try, Trying), (ATTEMPT, Sleep, Called)]),
    row(Event::Behind, "the answer has others ahead", &[(LOOSE, Sleep, Behind)]),
    row(Event::First, "the answer has none ahead", &[(LOOSE, Sleep, First)]),
    row(Event::Full, "the line is full", &[(LOOSE, Sleep, Alone)]),
    row(Event::Named, "a message calls it", &[(OUT, PassOn, Out), (LOOSE, Try, Trying), (ATTEMPT, Sleep, Called)]),
    row(Event::Due, "its timer is due", &[(&[Behind], Ask, Asking), (&[First, Alone], Try, Trying)]),
    row(Event::Silent, "the line's master is silent, or answers with an error", &[(&[Asking], Move, Asking)]),
    row(Event::None, "no master is left to ask", &[(&[Asking], Sleep, Alone)]),
    row(Event::Moved, "another master has the line", &[(LOOSE, Move, Asking)]),
    row(Event::Won, "a quorum has granted", &[(ATTEMPT, Hold, Out)]),
    row(Event::Refused, "no quorum can grant", &[(&[Trying], Ask, Asking), (&[Called], Try, Trying)]),
    row(Event::Ends, "its caller has gone, or its time is over", &[(ALL, Leave, Out)]),
];

/// Returns what a client does, and its next phase.
pub fn next(phase: Phase, event: Event) -> (Does, Phase) {
    let rows = TABLE.iter().filter(|row| row.event == event);
    let mut steps = rows.flat_map(|row| row.steps);
    let step = steps.find(|(phases, _, _)| phases.contains(&phase));
    step.map_or((Sleep, phase), |(_, does, next)| (*does, *next))
}

//! Turns: what a client does that waits in turn, phase by event, and where it stands.
//!
//! The specification is [`TABLE`]: the coordinator does what it says, the model explores it, and a test
//! compares it with the table in the model's README. A waiter that is stored at a quorum with its
//! ticket when the lock is released is served before all that come later, while its place lives.

use super::readiness::quorum_in;
use super::{Membership, NodeSet};

/// What a waiter knows of its place.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
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
    /// A message names it.
    Named,
    /// A message says that the key is free, and names no one.
    Freed,
    /// A quorum would grant a try.
    Would,
    /// A quorum has none before it.
    First,
    /// Neither: others are first.
    Others,
    /// The lives that a quorum has reported are over.
    Life,
    /// The time is over for which a key is kept.
    Kept,
    /// The pause after a lost try is over.
    Pause,
    /// It is time to look again.
    Due,
    /// A quorum has granted.
    Won,
    /// No quorum has answered.
    Silent,
    /// None has for as long as a place lives.
    Unheard,
    /// No quorum can grant: so many masters say that they do not.
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
pub const TABLE: [Row; 13] = [
    row(Event::Named, "a message names it", [(Try, Called), (Try, Called), (Try, Called)]),
    row(Event::Freed, "an empty message", [(Sleep, Behind), (Try, First), (Try, Called)]),
    row(Event::Would, "a quorum would grant (-3)", [(Try, Called), (Try, Called), (Try, Called)]),
    row(Event::First, "a quorum has none before it (0)", [(Sleep, First), (Sleep, First), (Sleep, Called)]),
    row(Event::Others, "neither: others are first (1)", [(Sleep, Behind), (Sleep, Behind), (Sleep, Called)]),
    row(Event::Life, "the lives that a quorum reported are over", [(Sleep, Behind), (Look, First), (Sleep, Called)]),
    row(Event::Kept, "the time that a key is kept is over", [(Sleep, Behind), (Sleep, First), (Sleep, First)]),
    row(Event::Pause, "the pause after a lost try is over", [(Sleep, Behind), (Sleep, First), (Try, Called)]),
    row(Event::Due, "a look is due", [(Look, Behind), (Look, First), (Look, Called)]),
    row(Event::Won, "a quorum has granted", [(Enter, Behind), (Enter, First), (Enter, Called)]),
    row(Event::Silent, "no quorum has answered", [(Sleep, Behind), (Sleep, First), (Sleep, Called)]),
    row(Event::Unheard, "none has for as long as a place lives", [(Withdraw, Behind), (Withdraw, First), (Withdraw, Called)]),
    row(Event::Unable, "no quorum can grant", [(Withdraw, Behind), (Withdraw, First), (Withdraw, Called)]),
];

/// Returns what a waiter does, and its next phase.
pub fn turn(phase: Phase, event: Event) -> (Does, Phase) {
    let row = TABLE.iter().find(|row| row.event == event);
    row.map_or((Sleep, phase), |row| row.does[phase as usize])
}

/// Returns the smallest number that the stamps of a quorum do not exceed; `None` if no quorum has
/// given a stamp.
///
/// The stamps are by place in the list of masters. Those of a master that may not vote are left out.
pub fn ticket(membership: Membership, stamps: &[Option<u64>]) -> Option<u64> {
    quorum_in(membership, stamps)
}

/// Returns what the answers of a round come to: which masters have answered and accept the waiter, which
/// have not answered, which would have granted, and which have none before it.
///
/// Silence is not inability: a waiter that cannot know keeps its place.
pub fn combined(
    membership: Membership,
    able: NodeSet,
    silent: NodeSet,
    would: NodeSet,
    first: NodeSet,
) -> Event {
    if !membership.is_quorum(able) {
        if membership.is_quorum(able.union(silent)) { Event::Silent } else { Event::Unable }
    } else if membership.is_quorum(would) {
        Event::Would
    } else if membership.is_quorum(first) {
        Event::First
    } else {
        Event::Others
    }
}

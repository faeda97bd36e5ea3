//! Ways that are too long for a search, written down. Both clients have five masters, of which the
//! first four are common. A client that learns of the other needs three shields to go on.

use crate::agreement::protocol::Action::{
    self, Acquire, Ask, Grant, Quit, Restart, TakeBack, Tick,
};

pub(super) const A: usize = 0;
pub(super) const B: usize = 1;
/// A's own master, and B's.
pub(super) const OF_A: usize = 4;
pub(super) const OF_B: usize = 5;

pub(super) const fn ask(client: usize, node: usize) -> Action {
    Ask { client, node }
}

pub(super) const fn grant(client: usize, node: usize) -> Action {
    Grant { client, node }
}

/// The client that shuts down in the next way.
pub(super) const OTHER_A: usize = 2;

/// Two clients have the list {1,2,3}, and a third one has {2,3,4}. One of the two wins, and the other
/// shuts down. A is the third one here: it is the one that is refused.
pub(super) const BESIDE_ONE_THAT_LEAVES: &[Action] = &[
    ask(B, 0),
    ask(B, 1),
    ask(B, 2),
    ask(OTHER_A, 1),
    ask(OTHER_A, 2),
    Acquire { client: B },
    grant(B, 0),
    grant(B, 1),
    Quit { client: OTHER_A },
    TakeBack { client: OTHER_A, node: 1 },
    TakeBack { client: OTHER_A, node: 2 },
    ask(A, 1),
    ask(A, 2),
    ask(A, 3),
    Acquire { client: A },
    grant(A, 2),
    grant(A, 3),
];

/// B's lock is lost with the second master's memory, where A is then the first to note.
pub(super) const WARMING: &[Action] = &[
    ask(B, 0),
    ask(B, 1),
    ask(B, OF_B),
    Acquire { client: B },
    grant(B, 0),
    grant(B, 1),
    grant(B, OF_B),
    Restart { node: 1, unseen: 0 },
    ask(A, 0),
    ask(A, 1),
    ask(A, 2),
    ask(A, 3),
    ask(A, OF_A),
    Acquire { client: A },
    grant(A, 2),
    grant(A, 3),
    grant(A, OF_A),
];

/// The first master has confirmed A, and then restarts unseen by A. It votes for B before A's lock
/// is over.
pub(super) const UNSEEN: &[Action] = &[
    ask(B, 3),
    ask(B, OF_B),
    ask(A, 3),
    ask(A, 0),
    ask(A, 1),
    ask(A, 2),
    ask(A, OF_A),
    Restart { node: 0, unseen: 1 << A },
    ask(B, 0),
    Tick,
    Acquire { client: A },
    grant(A, 1),
    grant(A, 2),
    grant(A, OF_A),
    Tick,
    ask(B, 0),
    ask(B, 3),
    ask(B, OF_B),
    Acquire { client: B },
    grant(B, 0),
    grant(B, 3),
    grant(B, OF_B),
];

//! Everything that clients and masters remember, and everything in flight.

use crate::digest::digest;
use quorumlock_core::waiting::rules::Wait;

/// The most clients.
pub const CLIENTS: usize = 3;
pub const NODES: usize = 3;
pub const SLOTS: usize = 2;
/// The masters that may have the line: the first, and the one that follows it.
pub const LINES: usize = 2;
/// The most commands of one client that are on their way to one master.
pub const SENT: usize = 8;

/// What a client is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// It asks before it tries.
    Fair,
    /// It tries before it asks.
    Plain,
    /// It tries now and then, and knows of no line.
    Foreign,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub enum Stage {
    #[default]
    Idle,
    Waits,
    Holds,
    Done,
    /// It does nothing, and its connections live.
    Stopped,
    /// Its connections have ended.
    Gone,
}

/// A command on its way to a master.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub enum Command {
    #[default]
    None,
    /// Of an attempt that is under way, or of one that is over: its client reads no answer.
    Set {
        slot: u8,
        is_over: bool,
    },
    Delete {
        slot: u8,
    },
    Ask {
        is_over: bool,
    },
    /// A client gives back a slot, and has the line let others go.
    Call {
        slot: u8,
    },
    Leave,
}

/// What a master knows of a waiter in its line.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Entry {
    /// Its stamp there; 0 if it does not stand there.
    pub stamp: u8,
    /// It was called once more: it is ahead of all others.
    pub is_again: bool,
    /// It has not asked when it was due.
    pub is_late: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Client {
    pub stage: Stage,
    /// How it waits, if it does.
    pub wait: Option<Wait>,
    /// It may try once more if the master of its line has granted and others have refused: it was let go.
    pub hurries: bool,
    /// It has asked once more, and is to ask all masters next.
    pub has_asked: bool,
    /// The master of its line.
    pub at: u8,
    /// The slot of its attempt, or of its hold, and who has answered.
    pub slot: u8,
    /// The slot for which it was called during an attempt.
    pub next: u8,
    pub granted: u8,
    pub refused: u8,
    /// When it first entered a line, in the order of all; 0 if it has not entered one.
    pub stamp: u8,
    /// The line that has entered it since it was last passed over, plus one; 0 if none has.
    pub counted: u8,
    /// Those that were ahead of it in its line as it was let go, a bit each.
    pub ahead: u8,
    /// By line: the slot for which it is called, plus one.
    pub called: [u8; LINES],
    /// By line: it is to call there, or the message that says so is under way.
    pub calls: [bool; LINES],
    pub wanted: [bool; LINES],
    pub entries: [Entry; LINES],
    pub sent: [[Command; SENT]; NODES],
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub struct Master {
    /// By slot: the client that has it, plus one.
    pub keys: [u8; SLOTS],
    /// By slot: the client that alone tries it, plus one.
    pub calls: [u8; SLOTS],
    /// Its clock is behind the stamps of its line.
    pub is_behind: bool,
}

/// The key of none of the clients.
pub const STUCK: u8 = 9;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub struct Budget {
    pub lapses: u8,
    pub losses: u8,
    pub stops: u8,
    pub ends: u8,
    pub leaves: u8,
    pub restarts: u8,
    pub fails: u8,
    pub hangs: u8,
    pub steps_back: u8,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct State {
    pub clients: [Client; CLIENTS],
    pub masters: [Master; NODES],
    /// The first master has ended, or is silent.
    pub has_failed: bool,
    pub hangs: bool,
    pub spent: Budget,
    /// A fair client has the lock before one that stood ahead of it.
    pub overtaken: bool,
}

impl State {
    pub fn digest(&self) -> u64 {
        let rest = (self.masters, self.has_failed, self.hangs, self.spent, self.overtaken);
        digest((self.clients, rest))
    }

    pub fn is_held(&self, slot: u8) -> bool {
        self.clients.iter().any(|client| client.stage == Stage::Holds && client.slot == slot)
    }

    /// Returns those that stand in a line, in their order.
    pub fn line(&self, at: usize) -> Vec<usize> {
        let is_in = |who: &usize| self.clients[*who].entries[at].stamp > 0;
        let mut all: Vec<usize> = (0..CLIENTS).filter(is_in).collect();
        all.sort_unstable_by_key(|who| {
            let entry = &self.clients[*who].entries[at];
            (!entry.is_again, entry.stamp)
        });
        all
    }

    /// Numbers the stamps anew: only their order matters.
    pub fn renumber(&mut self) {
        let all =
            |client: &Client| [client.stamp, client.entries[0].stamp, client.entries[1].stamp];
        let mut stamps: Vec<u8> =
            self.clients.iter().flat_map(all).filter(|stamp| *stamp > 0).collect();
        stamps.sort_unstable();
        stamps.dedup();
        let number = |stamp: &mut u8| {
            *stamp = stamps.iter().position(|known| known == stamp).map_or(0, |at| at as u8 + 1);
        };
        for client in &mut self.clients {
            number(&mut client.stamp);
            client.entries.iter_mut().for_each(|entry| number(&mut entry.stamp));
        }
    }
}

impl Client {
    pub fn send(&mut self, node: usize, command: Command) {
        let free = self.sent[node].iter().position(|sent| *sent == Command::None);
        self.sent[node][free.expect("room for what is on its way")] = command;
    }

    /// Returns whether at most one command is on its way to each master but one.
    pub fn has_sent_little(&self, but: Option<usize>) -> bool {
        let mut masters = self.sent.iter().enumerate();
        masters.all(|(node, sent)| Some(node) == but || sent[1] == Command::None)
    }

    /// Returns the next command that a master executes, and takes it out.
    pub fn take(&mut self, node: usize) -> Command {
        let first = self.sent[node][0];
        self.sent[node].rotate_left(1);
        self.sent[node][SENT - 1] = Command::None;
        first
    }

    /// No client reads the answers to what is on its way any more: to questions, or to an attempt.
    pub fn ends_reading(&mut self, questions: bool) {
        for command in self.sent.iter_mut().flatten() {
            match command {
                Command::Ask { is_over } if questions => *is_over = true,
                Command::Set { is_over, .. } if !questions => *is_over = true,
                _ => {}
            }
        }
    }
}

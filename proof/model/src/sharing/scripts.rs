//! The effect of a command on a master that has readers: one function for each script, written again
//! as the scripts are Lua. `tests/sharing_scripts.rs` checks each against its script.

use super::mutants::Mutant;
use crate::masters::Extended;

/// The most contenders, so that three rounds of each fit into two bytes.
pub const CONTENDERS: usize = 4;

/// What the key holds while there are readers.
pub const MARK: u8 = u8::MAX;

/// A resource on one master. Lives are in ticks of the master's clock.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Master {
    /// The contender whose token the key holds, plus one; [`MARK`] for readers, 0 for none.
    pub owner: u8,
    pub left: u8,
    /// By contender: the ticks for which it reads.
    pub readers: [u8; CONTENDERS],
    /// The contender whose hint stands, plus one; 0 for none.
    pub hint: u8,
    pub hint_left: u8,
    /// Only to break a rule: how many read.
    pub count: u8,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Asked {
    Granted,
    Held,
    Wanted,
}

/// A command of one contender.
#[derive(Clone, Copy, Debug)]
pub struct Command {
    pub who: usize,
    pub life: u8,
    pub mutant: Option<Mutant>,
}

impl Command {
    const fn token(&self) -> u8 {
        self.who as u8 + 1
    }

    fn is(&self, mutant: Mutant) -> bool {
        self.mutant == Some(mutant)
    }
}

impl Master {
    /// `SET key token NX PX life`.
    pub fn set(&mut self, command: &Command) -> bool {
        let over_the_mark = command.is(Mutant::WriterBlind) && self.owner == MARK;
        if self.owner != 0 && !over_the_mark {
            return false;
        }
        (self.owner, self.left) = (command.token(), command.life);
        true
    }

    /// `extend.lua`, for one resource.
    pub fn extend(&mut self, command: &Command) -> Extended {
        let takes_it = command.is(Mutant::WriterExtendsMark) && self.owner == MARK;
        if self.owner == command.token() || takes_it {
            self.left = self.left.max(command.life);
            return Extended::Held;
        }
        if self.owner == 0 { Extended::Vacant } else { Extended::Taken }
    }

    /// `release.lua`.
    pub fn release(&mut self, command: &Command) -> bool {
        let ours = self.owner == command.token();
        if ours {
            (self.owner, self.left) = (0, 0);
        }
        ours
    }

    /// `acquire_read.lua`: a life is never shortened. A top-up is granted `in_spite` of a hint.
    pub fn acquire_read(&mut self, command: &Command, in_spite: bool) -> Asked {
        let held = self.owner != 0 && self.owner != MARK;
        if held && !command.is(Mutant::ReaderBlind) {
            return Asked::Held;
        }
        if !in_spite && self.hint != 0 {
            return Asked::Wanted;
        }
        if command.is(Mutant::ReadersCounted) {
            self.count += 1;
            (self.owner, self.left) = (MARK, self.left.max(command.life));
            return Asked::Granted;
        }
        if self.owner == 0 {
            self.readers = Default::default();
        }
        let reads = &mut self.readers[command.who];
        let keeps = *reads != 0 && command.is(Mutant::GrantKeepsLife);
        if !keeps {
            *reads = command.life.max(*reads);
        }
        self.mark();
        if command.is(Mutant::MarkLivesAsLast) {
            self.left = command.life;
        }
        Asked::Granted
    }

    /// `extend_read.lua`: what holds the key alone is a reader from now on.
    pub fn extend_read(&mut self, command: &Command) -> Extended {
        let reads = self.readers[command.who];
        let ends = if self.owner == command.token() {
            self.readers = Default::default();
            let shortens = command.is(Mutant::ConvertedShortens);
            if shortens { command.life } else { command.life.max(self.left) }
        } else if self.owner == 0 && command.is(Mutant::VacantConverts) {
            self.readers = Default::default();
            command.life
        } else if self.owner != MARK {
            return if self.owner == 0 { Extended::Vacant } else { Extended::Taken };
        } else if reads == 0 {
            return Extended::Vacant;
        } else {
            command.life.max(reads)
        };
        self.readers[command.who] = ends;
        self.mark();
        if command.is(Mutant::MarkLivesAsLast) {
            self.left = ends;
        }
        Extended::Held
    }

    /// `release_read.lua`: also deletes a token that is found alone. Returns whether it was this
    /// contender's.
    pub fn release_read(&mut self, command: &Command) -> bool {
        if command.is(Mutant::ReadersCounted) {
            return self.count_down();
        }
        if self.owner == command.token() && !command.is(Mutant::ReleaseLeavesToken) {
            (self.owner, self.left, self.readers) = Default::default();
            return true;
        }
        if self.owner != MARK || std::mem::take(&mut self.readers[command.who]) == 0 {
            return false;
        }
        let others = self.readers.iter().any(|left| *left != 0);
        if others && !command.is(Mutant::ReleaseDeletesKey) {
            let before = self.left;
            self.mark();
            if command.is(Mutant::MarkLivesAsLeast) {
                let left = self.readers.into_iter().filter(|left| *left != 0);
                self.left = left.min().unwrap_or(0);
            } else if command.is(Mutant::MarkNotTightened) {
                self.left = before;
            }
            return true;
        }
        (self.owner, self.left, self.readers) = Default::default();
        true
    }

    /// Deletes the key when as many have been released as were granted, under any name.
    fn count_down(&mut self) -> bool {
        if self.owner != MARK {
            return false;
        }
        self.count = self.count.saturating_sub(1);
        if self.count == 0 {
            (self.owner, self.left) = (0, 0);
        }
        true
    }

    /// Ages by a tick of the master's own clock.
    pub fn ages(&mut self) {
        self.left = self.left.saturating_sub(1);
        self.hint_left = self.hint_left.saturating_sub(1);
        self.readers.iter_mut().for_each(|left| *left = left.saturating_sub(1));
        if self.left == 0 {
            (self.owner, self.count) = (0, 0);
        }
        if self.hint_left == 0 {
            self.hint = 0;
        }
    }

    /// Returns whether it has a key or a reader of this contender.
    pub fn has(&self, who: usize) -> bool {
        self.owner == who as u8 + 1 || self.readers[who] != 0
    }

    /// Sets the mark to live exactly as long as the last of the readers.
    fn mark(&mut self) {
        let last = self.readers.into_iter().max().unwrap_or(0);
        (self.owner, self.left) = (MARK, last);
    }
}

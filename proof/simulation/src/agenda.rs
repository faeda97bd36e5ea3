//! The agenda: the one queue of the world.

use super::clock::Time;
use super::hand_over::Parcel;
use super::plan::Act;
use quorumlock_core::coordinator::Epoch;
use std::collections::BTreeMap;

/// One connection, of all that there have been.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct LineId(pub(super) usize);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Direction {
    ToMaster,
    ToClient,
}

#[derive(Debug)]
pub(super) enum Happening {
    Act(Act),
    /// Bytes have arrived at the end of a line.
    Arrives(LineId, Direction),
    /// A dial that began at `since` ends in one way or another.
    Dial {
        client: usize,
        node: usize,
        epoch: Epoch,
        since: Time,
    },
    /// The client finds its end of a line broken.
    Breaks(LineId),
    /// The timer of a client is due, unless it was set again.
    Wakes {
        client: usize,
        at: Time,
    },
    /// A client gets to write.
    Writes(usize),
    /// The machine is notified of a guard that was given up.
    Heard {
        client: usize,
        hold: u64,
    },
    /// A caller in a jam has done its work.
    Done {
        client: usize,
        hold: u64,
    },
    /// A lock that was detached arrives at a seat.
    Delivered {
        seat: usize,
        parcel: Box<Parcel>,
    },
    Ends(End),
}

/// The end of a fault.
#[derive(Debug)]
pub(super) enum End {
    Pause(usize),
    Absence(usize),
    /// A client that ends stops paying.
    Linger(usize),
    /// A key that is stuck at a master goes.
    Stuck {
        node: usize,
        key: &'static str,
    },
    /// A master lets its user run all commands again that it did at first.
    Denial(usize),
    Cut(u64),
    Slowness(u64),
    Stop {
        node: usize,
        life: u64,
    },
    Outage {
        node: usize,
        keeps: bool,
    },
    Replica(usize),
    /// The quarantine of a master that has lost its memory.
    WarmUp,
}

#[derive(Default)]
pub(super) struct Agenda {
    entries: BTreeMap<(Time, u64), Happening>,
    count: u64,
    pub(super) now: Time,
}

impl Agenda {
    pub(super) fn at(&mut self, time: Time, happening: Happening) {
        self.count += 1;
        self.entries.insert((time.max(self.now), self.count), happening);
    }

    pub(super) fn next_at(&self) -> Option<Time> {
        self.entries.first_key_value().map(|((time, _), _)| *time)
    }

    /// Returns the next happening until `end`; it is then that late.
    pub(super) fn next(&mut self, end: Time) -> Option<Happening> {
        self.next_at().filter(|at| *at <= end)?;
        let ((time, _), happening) = self.entries.pop_first()?;
        self.now = time;
        Some(happening)
    }
}

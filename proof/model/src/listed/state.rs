//! Everything that clients and the first node remember, and everything in flight.

use crate::digest::digest;

/// The most clients.
pub const CLIENTS: usize = 4;

/// The most slots.
pub const SLOTS: usize = 2;

/// The pause of a waiter behind one other, in ticks.
pub const FAR: u8 = pause(1);

/// Returns the pause of a waiter behind so many others.
pub const fn pause(ahead: u8) -> u8 {
    1 + 2 * ahead
}

/// Returns the longest pause among so many clients.
pub const fn longest_pause(clients: usize) -> u8 {
    pause(clients as u8 - 1)
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub enum Phase {
    #[default]
    Idle,
    Waiting,
    Holds,
    /// Its connections live, and it does nothing.
    Stopped,
    /// Its connections are gone.
    Gone,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Client {
    pub phase: Phase,
    /// Its place in the list, by its stamp; 0 if it does not stand there.
    pub place: u8,
    /// The stamp that it keeps.
    pub stamp: u8,
    /// When it came, by the order of those that wait, and how often a waiter that came later was called, and had the lock, while this one stood in the list. Only
    /// where the clock is set back.
    pub came: u8,
    pub passed: u8,
    /// It has stood in the list, or was asked: it knows that others may wait.
    pub is_aware: bool,
    /// It knows that it is first.
    pub is_first: bool,
    /// It listens to releases: it is first, or has heard of no call.
    pub listens: bool,
    /// Ticks until it asks again.
    pub due: u8,
    /// It watches a call, until its next answer.
    pub watches: bool,
    /// Messages to it that are under way: it is called; it is to watch a call; others wait for what it holds.
    pub called: bool,
    pub watch: bool,
    pub asked: bool,
    /// The slot that it holds, or for which it is called.
    pub slot: u8,
}

impl Client {
    /// Returns whether it can read that others wait for what it holds, or has held.
    pub fn hears(&self) -> bool {
        self.asked && !matches!(self.phase, Phase::Stopped | Phase::Gone)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct State {
    pub clients: [Client; CLIENTS],
    /// Whether a hold of each slot has the key of the first node, too, or another client's value is stuck there.
    pub is_held_there: [bool; SLOTS],
    /// Whether only a waiter that was called for it tries each slot.
    pub is_quiet: [bool; SLOTS],
    /// A waiter was called.
    pub has_called: bool,
    /// The waiter that watches all calls of this tick.
    pub watcher: Option<u8>,
    /// The process of the waiter that was called last, while only that one tries.
    pub called_last: Option<u8>,
    /// How many of the stamps are not ahead of the clock.
    pub clock: u8,
    pub stops: u8,
    pub ends: u8,
    pub dies: u8,
    pub steps_back: u8,
    pub cancels: u8,
    pub restarts: u8,
    /// The ticks for which the lock, or a slot, has been free while a client waited.
    pub drought: u8,
}

impl State {
    pub fn digest(&self, clients: usize) -> u64 {
        let rest = (
            self.is_held_there,
            self.is_quiet,
            (self.has_called, self.watcher),
            self.called_last,
            (self.stops, self.ends, self.dies, self.cancels),
            (self.clock, self.steps_back),
            self.restarts,
        );
        digest((&self.clients[..clients], rest, self.drought))
    }

    pub fn is_held(&self, slot: u8) -> bool {
        let holds = |client: &Client| client.phase == Phase::Holds && client.slot == slot;
        self.clients.iter().any(holds)
    }

    /// Returns those that stand in the list, in their order.
    pub fn listed(&self) -> Vec<usize> {
        let mut all: Vec<usize> = (0..CLIENTS).filter(|who| self.clients[*who].place > 0).collect();
        all.sort_unstable_by_key(|who| self.clients[*who].place);
        all
    }

    /// Numbers the stamps anew: only their order matters.
    pub fn renumber(&mut self) {
        let mut stamps: Vec<u8> = self.clients.iter().map(|client| client.stamp).collect();
        stamps.retain(|stamp| *stamp > 0);
        stamps.sort_unstable();
        let number =
            |stamp: u8| stamps.iter().position(|known| *known == stamp).map_or(0, |at| at + 1);
        self.clock = stamps.iter().filter(|stamp| **stamp <= self.clock).count() as u8;
        for client in &mut self.clients {
            client.stamp = number(client.stamp) as u8;
            client.place = number(client.place) as u8;
        }
        let mut came: Vec<u8> = self.clients.iter().map(|client| client.came).collect();
        came.sort_unstable();
        for client in self.clients.iter_mut().filter(|client| client.came > 0) {
            let before = came.iter().filter(|other| (1..client.came).contains(*other));
            client.came = 1 + before.count() as u8;
        }
    }

    /// Returns a stamp that is later than the clock, and than another stamp. All that are later move up.
    pub fn stamp_after(&mut self, last: u8) -> u8 {
        let at = self.clock.max(last);
        for client in &mut self.clients {
            client.stamp += u8::from(client.stamp > at);
            client.place += u8::from(client.place > at);
        }
        if at == self.clock {
            self.clock += 1;
        }
        at + 1
    }
}

//! The configuration of one run.

use super::mutants::Mutant;
use super::state::longest_pause;
use crate::settings::settings;

#[derive(Clone, Default, Debug)]
pub struct Config {
    pub name: &'static str,
    /// Clients that want the lock again and again, or any slot of a semaphore.
    pub clients: usize,
    /// The slots: a lock is one.
    pub slots: u8,
    /// How many of them may stop while they wait, and how many may end.
    pub stops: u8,
    pub ends: u8,
    /// How many of them may give up, so that another waiter of their process has its turn.
    pub cancels: u8,
    /// How often the master of the list may restart, empty.
    pub restarts: u8,
    /// How many holders may end without a release, and how often the clock may be set back that stamps those that wait.
    pub dies: u8,
    pub steps_back: u8,
    /// Messages may be lost.
    pub lossy: bool,
    /// The last client never reaches the first node, and takes another one for it.
    pub cut: bool,
    /// The key of the first node has another client's value for good.
    pub stuck: bool,
    /// Holders may not know of the list.
    pub unaware: bool,
    /// The most ticks for which the lock is free while a client waits.
    pub within: u8,
    pub mutant: Option<Mutant>,
    /// The most distinct states.
    pub states: usize,
}

settings! {
    set { slots: u8, stops: u8, ends: u8, cancels: u8, dies: u8, steps_back: u8, within: u8 }
    on { lossy, cut, stuck, unaware }
}

/// A switch of a run.
type Switch = (&'static str, fn(Config) -> Config);

/// All that a run can have.
const SWITCHES: [Switch; 11] = [
    ("two permits", |config| config.slots(2)),
    ("one stops", |config| config.stops(1)),
    ("one ends", |config| config.ends(1)),
    ("a holder dies", |config| config.dies(1)),
    ("one gives up", |config| config.cancels(1)),
    ("the master restarts", |config| config.restarts(1)),
    ("its clock is set back", |config| config.steps_back(1)),
    ("messages get lost", |config| config.lossy()),
    ("first nodes differ", |config| config.cut()),
    ("a key is stuck", |config| config.stuck()),
    ("holders are unaware", |config| config.unaware()),
];

impl Config {
    /// Returns a run for each pair of switches.
    pub fn pairs(clients: usize) -> impl Iterator<Item = Self> {
        let pairs = (0..SWITCHES.len())
            .flat_map(|first| (first + 1..SWITCHES.len()).map(move |second| (first, second)));
        pairs.map(move |(first, second)| {
            let ((a, on), (b, also)) = (SWITCHES[first], SWITCHES[second]);
            // There are as many as there are pairs.
            let name = Box::leak(format!("{a}, and {b}").into_boxed_str());
            also(on(Self::new(name, clients))).by_place()
        })
    }

    /// Lets a waiter be served within the longest pause by its place, and a tick. If the key is stuck, it learns by then
    /// that it is first, and asks all masters a tick later. Others that have gone are overdue first, after two pauses and
    /// a tick, and one that gives up has all of it begin anew.
    pub fn by_place(self) -> Self {
        let longest = longest_pause(self.clients);
        let stuck = match self.stuck {
            true if self.stops + self.ends > 0 => 1 + 2 * longest + 1,
            true => 1 + u8::from(self.cancels > 0) * (longest + 1),
            false => 0,
        };
        self.within(stuck + longest + 1)
    }

    pub fn new(name: &'static str, clients: usize) -> Self {
        Self { name, clients, slots: 1, within: 2, states: 25_000_000, ..Self::default() }
    }
}

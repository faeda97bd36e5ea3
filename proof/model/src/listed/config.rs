//! The configuration of one run.

use super::mutants::Mutant;
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
    set { slots: u8, stops: u8, ends: u8, cancels: u8, within: u8 }
    on { lossy, cut, stuck, unaware }
}

impl Config {
    pub fn new(name: &'static str, clients: usize) -> Self {
        Self { name, clients, slots: 1, within: 2, states: 25_000_000, ..Self::default() }
    }
}

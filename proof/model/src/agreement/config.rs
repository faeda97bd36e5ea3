//! The configuration of one run: the clients, and what may go wrong.

use super::mutants::Mutant;
use super::properties::Property;
use crate::settings::settings;

pub const CLIENTS: usize = 3;

/// A client and its settings. Spans are in ticks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Client {
    /// Its lists of nodes, as bits; the same twice is one list.
    pub lists: [u8; 2],
    /// The ttl that it asks for, at most its `max_ttl`.
    pub ttl: u8,
    pub max_ttl: u8,
    /// Its window.
    pub back: u8,
    pub ahead: u8,
    /// The number of acquires that it may try, and of extensions of each hold.
    pub attempts: u8,
    pub rounds: u8,
    /// The client only looks.
    pub reads: bool,
    /// The client reads answers late.
    pub late: bool,
    /// Its notes are brief before its first round.
    pub brief: bool,
    /// The client may shut down.
    pub quits: bool,
}

impl Client {
    /// Creates a client with one list, a `max_ttl` of two ticks, of which it uses one, and one
    /// attempt.
    pub const fn of(list: u8) -> Self {
        let lists = [list; 2];
        let (ttl, max_ttl, back, ahead) = (1, 2, 0, 0);
        let (attempts, rounds, reads, late, brief, quits) = (1, 0, false, false, false, false);
        Self { lists, ttl, max_ttl, back, ahead, attempts, rounds, reads, late, brief, quits }
    }

    pub const fn joint(list: u8, also: u8) -> Self {
        Self { lists: [list, also], ..Self::of(list) }
    }

    pub const fn ttl(self, ttl: u8, max_ttl: u8) -> Self {
        Self { ttl, max_ttl, ..self }
    }

    pub const fn window(self, back: u8, ahead: u8) -> Self {
        Self { back, ahead, ..self }
    }

    pub const fn tries(self, attempts: u8, rounds: u8) -> Self {
        Self { attempts, rounds, ..self }
    }

    pub const fn late(self) -> Self {
        Self { late: true, ..self }
    }

    pub const fn brief(self) -> Self {
        Self { brief: true, ..self }
    }

    pub const fn quits(self) -> Self {
        Self { quits: true, ..self }
    }

    pub const fn reader(self) -> Self {
        Self { attempts: 0, reads: true, ..self }
    }

    /// Returns the nodes of its lists, as bits.
    pub const fn members(&self) -> u8 {
        self.lists[0] | self.lists[1]
    }

    pub fn shares_a_list(&self, other: &Self) -> bool {
        self.lists.iter().any(|list| other.lists.contains(list))
    }

    pub fn has_the_numbers(&self, other: &Self) -> bool {
        let numbers = |client: &Self| (client.max_ttl, client.back, client.ahead);
        numbers(self) == numbers(other)
    }

    pub fn agrees_with(&self, other: &Self) -> bool {
        self.shares_a_list(other) && self.has_the_numbers(other)
    }
}

#[derive(Clone, Default, Debug)]
pub struct Config {
    pub name: &'static str,
    pub nodes: usize,
    pub clients: Vec<Client>,
    /// The longest silence, in ticks.
    pub silence: u8,
    /// How often a node may restart empty.
    pub restarts: u8,
    /// Clients are cut off from nodes.
    pub cuts: bool,
    /// Questions are answered with errors.
    pub errors: bool,
    pub property: Property,
    pub mutant: Option<Mutant>,
    /// The most distinct states.
    pub states: usize,
}

settings! {
    set { property: Property }
    on { errors }
}

impl Config {
    /// Creates a run in which links fail, and nothing else.
    pub fn new(name: &'static str, nodes: usize, clients: &[Client]) -> Self {
        Self {
            name,
            nodes,
            clients: clients.to_vec(),
            silence: 1,
            cuts: true,
            states: 4_000_000,
            ..Self::default()
        }
    }

    /// Lets every client try so often, and extend each hold so often.
    pub fn tries(mut self, attempts: u8, rounds: u8) -> Self {
        for client in self.clients.iter_mut().filter(|client| !client.reads) {
            (client.attempts, client.rounds) = (attempts, rounds);
        }
        self
    }

    pub fn uncut(mut self) -> Self {
        self.cuts = false;
        self
    }
}

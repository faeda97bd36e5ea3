//! The configuration of one run: the bounds, and what may go wrong.

use super::mutants::Mutant;
use super::properties::Property;
use crate::masters::Order;
use crate::settings::settings;

/// One attempt to read or to write.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Contender {
    pub reads: bool,
    /// Attempts of one client come one after the other.
    pub client: u8,
    /// Its lists of nodes, as bits; the same twice is one list.
    pub lists: [u8; 2],
    pub ttl: u8,
    /// The ttl that its extensions and its downgrade ask for.
    pub asks: u8,
    /// The most rounds of extension that it may begin, beside a downgrade.
    pub rounds: u8,
    /// It may become a reader while it holds.
    pub downgrades: bool,
}

#[derive(Clone, Default, Debug)]
pub struct Config {
    pub name: &'static str,
    pub nodes: usize,
    pub contenders: Vec<Contender>,
    pub order: Order,
    /// How often a node may restart empty.
    pub restarts: u8,
    /// How often a release may arrive twice, or, to break a rule, a downgrade.
    pub duplicates: u8,
    /// How often a node may answer a downgrade with an error that says that nothing was done.
    pub errors: u8,
    /// Clients may crash.
    pub crashes: bool,
    pub properties: &'static [Property],
    pub mutant: Option<Mutant>,
    /// The most distinct states.
    pub states: usize,
}

settings! {
    each contenders { client: u8, rounds: u8, asks: u8, lists: [u8; 2] }
    set { errors: u8, duplicates: u8, properties: &'static [Property] }
    on { crashes }
}

impl Config {
    /// Creates a run with a contender for each letter: `W` writes, `R` reads, `D` writes and may
    /// downgrade. Each is a client of its own, with a ttl of two ticks. Messages arrive in any
    /// order, and nothing else goes wrong.
    pub fn new(name: &'static str, nodes: usize, letters: &str) -> Self {
        let all = (1 << nodes) - 1;
        let contender = |(client, letter): (usize, char)| Contender {
            reads: letter == 'R',
            client: client as u8,
            lists: [all; 2],
            ttl: 2,
            asks: 2,
            rounds: 0,
            downgrades: letter == 'D',
        };
        Self {
            name,
            nodes,
            contenders: letters.chars().enumerate().map(contender).collect(),
            properties: Property::ALWAYS,
            states: 25_000_000,
            ..Self::default()
        }
    }

    /// Makes each client's messages arrive in order, and assigns the attempts to these clients.
    pub fn in_order(mut self, clients: &[u8]) -> Self {
        self.order = Order::InOrder;
        self.properties = Property::IN_ORDER;
        self.client(clients)
    }

    pub fn ttl(mut self, ttls: &[u8]) -> Self {
        self.contenders.iter_mut().zip(ttls).for_each(|(contender, ttl)| contender.ttl = *ttl);
        self.asks(ttls)
    }

    /// Returns the longest time that a key may live.
    pub fn longest(&self) -> u8 {
        self.contenders.iter().map(|contender| contender.ttl.max(contender.asks)).max().unwrap_or(0)
    }
}

//! The configuration of one run: the bounds, and what may go wrong.

use super::mutants::Mutant;
use super::properties::Property;
use crate::masters::{NODES, Order};
use crate::settings::settings;

/// The most attempts, so that two rounds of each fit into a byte.
pub const ATTEMPTS: usize = 4;
pub const ROUNDS: usize = 2;
pub const RESOURCES: usize = 2;

/// The source of fencing tokens.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Fence {
    #[default]
    None,
    /// Each attempt proposes any number up to this one, whatever clocks may show.
    Ballots { greatest: u8 },
    /// The same, but the nodes have clocks and let in ballots that are near. The run goes on until
    /// this time, in ticks.
    Window { back: u8, ahead: u8, until: u8 },
    /// Each node counts up, and the greatest count of a quorum is the token. This does not ship.
    Counters,
}

/// One attempt to hold a lock.
#[derive(Clone, Copy, Default, Debug)]
pub struct Contender {
    /// Attempts of one client come one after the other.
    pub client: u8,
    /// Its lists of nodes, as bits; the same twice is one list.
    pub lists: [u8; 2],
    /// The resources that it claims, as bits.
    pub claims: u8,
    /// The most rounds of extension that it may begin.
    pub rounds: u8,
    /// The attempts, as bits, that are over before it begins, and the ticks for which they have
    /// been, at least.
    pub after: u8,
    pub rests: u8,
    /// The ticks by which its ttl is longer than that of the others.
    pub longer: u8,
}

#[derive(Clone, Default, Debug)]
pub struct Config {
    pub name: &'static str,
    pub nodes: usize,
    pub attempts: Vec<Contender>,
    pub order: Order,
    /// The ticks for which a holder may rely on it, counted from its first byte, and the drift.
    pub ttl: u8,
    /// The ttl that an extension asks for.
    pub extension_ttl: u8,
    /// How much longer keys live, unless they are released.
    pub lock_delay: u8,
    /// The ticks from its begin for which a lock keeps others out that ended well, or whose process
    /// died; 0 for none.
    pub at_least: u8,
    /// The part taken off a ttl because clocks differ in speed.
    pub drift: u8,
    /// A node's clock gains a tick on all others, at most once in this many ticks; 0 for never.
    pub gains_every: u8,
    pub fence: Fence,
    /// A fence expires as soon as the protocol allows.
    pub fence_expires: bool,
    /// How far each node's clock is ahead of the first one's.
    pub ahead: [u8; NODES],
    /// How often a node may restart empty.
    pub restarts: u8,
    /// Nodes may not know the script of a release, which is then sent again behind later commands.
    pub forgets: bool,
    /// A node that has answered nil to the SET of an attempt is sent no rollback of it.
    pub nil_settles: bool,
    /// How often a message may arrive twice.
    pub duplicates: u8,
    /// How often a node's clock may be set, and by how many ticks.
    pub clock_steps: u8,
    pub clock_step: i8,
    /// How often a holder's key may be deleted in its name.
    pub forced: u8,
    /// How often a client of an older version may keep a free key for its next waiter.
    pub older: u8,
    /// The attempts, as bits, that another process adopts. The first round of each is the last of its
    /// client, the second is the adopter's.
    pub hands_over: u8,
    /// An adoption that has not succeeded may begin again, any number of times.
    pub adopts_again: bool,
    pub properties: &'static [Property],
    pub mutant: Option<Mutant>,
    /// The most distinct states.
    pub states: usize,
}

settings! {
    each attempts {
        client: u8, lists: [u8; 2], claims: u8, rounds: u8, after: u8, rests: u8
    }
    set {
        extension_ttl: u8, lock_delay: u8, at_least: u8, fence: Fence, ahead: [u8; NODES],
        duplicates: u8, forced: u8, older: u8, properties: &'static [Property]
    }
    on { fence_expires, forgets, nil_settles }
}

impl Config {
    /// Creates a run of `attempts` for one resource, each of a client of its own, on `nodes` nodes.
    /// The ttl is two ticks, messages arrive in any order, and nothing else goes wrong.
    pub fn new(name: &'static str, nodes: usize, attempts: usize) -> Self {
        let all = (1 << nodes) - 1;
        let contender = Contender { lists: [all; 2], claims: 1, ..Contender::default() };
        let attempts = (0..attempts).map(|client| Contender { client: client as u8, ..contender });
        Self {
            name,
            nodes,
            attempts: attempts.collect(),
            ttl: 2,
            extension_ttl: 2,
            properties: Property::ALWAYS,
            states: 25_000_000,
            ..Self::default()
        }
    }

    /// Makes each client's messages arrive in order, and assigns the attempts to these clients.
    pub fn in_order(mut self, clients: &[u8]) -> Self {
        self.order = Order::InOrder;
        self.client(clients)
    }

    /// Lets the first attempt be detached and adopted: two processes, in order each for itself.
    pub fn handed_over(mut self) -> Self {
        self.hands_over = 1;
        self.attempts[0].rounds = 2;
        self.order = Order::InOrder;
        self
    }

    /// Lets another process adopt the first attempt's lock in as many tries as it likes, beside a second
    /// attempt that asks for a longer ttl, and a node restart: a vote from before it outlives the detached
    /// keys.
    pub fn outlived(mut self) -> Self {
        self.attempts[1].longer = 1;
        self.adopts_again = true;
        self.handed_over().restarts(1)
    }

    pub fn ttl(mut self, ttl: u8) -> Self {
        self.ttl = ttl;
        self.extension_ttl = ttl;
        self
    }

    /// Lets any node's clock gain a tick `every` so many. The drift covers one in three.
    pub fn gains(mut self, every: u8) -> Self {
        (self.drift, self.gains_every) = (1, every);
        self
    }

    /// Lets nodes' clocks be set so many `times`.
    pub fn sets_clocks(mut self, times: u8, by: i8) -> Self {
        (self.clock_steps, self.clock_step) = (times, by);
        self
    }

    pub fn checks(&self, property: Property) -> bool {
        self.properties.contains(&property)
    }

    /// Returns the longest time that a key may live.
    pub fn longest(&self) -> u8 {
        let longer = self.attempts.iter().map(|contender| contender.longer).max().unwrap_or(0);
        let ttl = (self.ttl + longer).max(self.extension_ttl);
        (ttl + self.lock_delay).max(self.stays_for())
    }

    /// Returns the ttl with which an attempt acquires.
    pub fn ttl_of(&self, attempt: usize) -> u8 {
        self.ttl + self.attempts[attempt].longer
    }

    /// Returns how long keys live from their SET on, if they are to stay.
    pub fn stays_for(&self) -> u8 {
        if self.at_least > 0 { self.at_least + self.drift } else { 0 }
    }
}

//! The configuration of one run: the bounds, and what may go wrong.

use crate::mutant::Mutant;
use crate::properties::Property;

/// The most nodes that a run can have: an old list of five and one that replaces a sixth.
pub const NODES: usize = 6;
/// The most attempts, so that two rounds of each fit into a byte.
pub const ATTEMPTS: usize = 4;
pub const ROUNDS: usize = 2;
pub const RESOURCES: usize = 2;

/// The order in which a node reads what it is sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// What one client sends, in order: one connection after the other, as the ledger ensures. A
    /// release is never lost; anything else may be.
    InOrder,
    /// Any order, or never.
    Any,
}

/// The source of fencing tokens.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fence {
    None,
    /// Each attempt proposes any number up to this one, whatever clocks may show.
    Ballots {
        greatest: u8,
    },
    /// The same, but the nodes have clocks and let in ballots that are near. The run goes on until
    /// this time, in ticks.
    Window {
        back: u8,
        ahead: u8,
        until: u8,
    },
    /// Each node counts up, and the greatest count of a quorum is the token. This does not ship.
    Counters,
}

/// One attempt to hold a lock.
#[derive(Clone, Copy, Debug)]
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

#[derive(Clone, Debug)]
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
    /// How often a message may arrive twice.
    pub duplicates: u8,
    /// How often a node's clock may be set, and by how many ticks.
    pub clock_steps: u8,
    pub clock_step: i8,
    /// How often a holder's key may be deleted in its name.
    pub forced: u8,
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

impl Config {
    /// Creates a run of `attempts` for one resource, each of a client of its own, on `nodes` nodes.
    /// The ttl is two ticks, messages arrive in any order, and nothing else goes wrong.
    pub fn new(name: &'static str, nodes: usize, attempts: usize) -> Self {
        let all = (1 << nodes) - 1;
        let one = Contender {
            client: 0,
            lists: [all; 2],
            claims: 1,
            rounds: 0,
            after: 0,
            rests: 0,
            longer: 0,
        };
        let attempts = (0..attempts).map(|client| Contender { client: client as u8, ..one });
        Self {
            name,
            nodes,
            attempts: attempts.collect(),
            order: Order::Any,
            ttl: 2,
            extension_ttl: 2,
            lock_delay: 0,
            at_least: 0,
            drift: 0,
            gains_every: 0,
            fence: Fence::None,
            fence_expires: false,
            ahead: [0; NODES],
            restarts: 0,
            forgets: false,
            duplicates: 0,
            clock_steps: 0,
            clock_step: 0,
            forced: 0,
            hands_over: 0,
            adopts_again: false,
            properties: Property::ALWAYS,
            mutant: None,
            states: 25_000_000,
        }
    }

    /// Makes each client's messages arrive in order, and assigns the attempts to these clients.
    pub fn in_order(mut self, clients: &[u8]) -> Self {
        self.order = Order::InOrder;
        self.attempts.iter_mut().zip(clients).for_each(|(one, client)| one.client = *client);
        self
    }

    /// Lets a release arrive behind what was sent after it.
    pub fn forgets(mut self) -> Self {
        self.forgets = true;
        self
    }

    /// Sets how many rounds of extension each attempt may begin.
    pub fn rounds(mut self, rounds: &[u8]) -> Self {
        self.attempts.iter_mut().zip(rounds).for_each(|(one, rounds)| one.rounds = *rounds);
        self
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

    /// Sets what each attempt claims.
    pub fn claims(mut self, claims: &[u8]) -> Self {
        self.attempts.iter_mut().zip(claims).for_each(|(one, claims)| one.claims = *claims);
        self
    }

    /// Sets the lists of each attempt.
    pub fn lists(mut self, lists: &[[u8; 2]]) -> Self {
        self.attempts.iter_mut().zip(lists).for_each(|(one, lists)| one.lists = *lists);
        self
    }

    pub fn ttl(mut self, ttl: u8) -> Self {
        self.ttl = ttl;
        self.extension_ttl = ttl;
        self
    }

    pub fn fence(mut self, fence: Fence) -> Self {
        self.fence = fence;
        self
    }

    pub fn restarts(mut self, restarts: u8) -> Self {
        self.restarts = restarts;
        self
    }

    pub fn properties(mut self, properties: &'static [Property]) -> Self {
        self.properties = properties;
        self
    }

    pub fn mutant(mut self, mutant: Mutant) -> Self {
        self.mutant = Some(mutant);
        self
    }

    pub fn is(&self, mutant: Mutant) -> bool {
        self.mutant == Some(mutant)
    }

    pub fn checks(&self, property: Property) -> bool {
        self.properties.contains(&property)
    }

    /// Returns the longest time that a key may live.
    pub fn longest(&self) -> u8 {
        let longer = self.attempts.iter().map(|one| one.longer).max().unwrap_or(0);
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

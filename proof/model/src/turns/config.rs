//! The configuration of one run.

use super::mutant::Mutant;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Comes once and waits in turn.
    Fair,
    /// Comes at any time, again and again, with a plain SET.
    Plain,
    /// Holds from the beginning, and lets go in turn.
    Holder,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Client {
    pub kind: Kind,
    /// It may die at any time.
    pub dies: bool,
    /// It may give up while it waits.
    pub gives_up: bool,
    /// No node accepts its ballot.
    pub barred: bool,
    /// It extends in each tick while it holds.
    pub extends: bool,
    /// It leaves its key to expire once it has won.
    pub forgets: bool,
    /// A holder that never lets go.
    pub stays: bool,
}

#[derive(Clone, Debug)]
pub struct Config {
    pub name: &'static str,
    pub nodes: usize,
    pub clients: Vec<Client>,
    pub ttl: u8,
    /// The ticks for which an entry lives: a look is due in each tick.
    pub entry: u8,
    /// The ticks for which a key is kept.
    pub kept: u8,
    /// The ticks for which who is named takes the key for kept.
    pub called: u8,
    /// The clock of a node at the first look of a waiter is any number from one to this.
    pub clocks: u8,
    pub restarts: u8,
    /// The commands and messages that get lost.
    pub losses: u8,
    /// The ticks that may pass while commands are in flight.
    pub slow: u8,
    /// A fair client begins with a SET.
    pub sets: bool,
    /// Three waiters stand from the beginning, each of them first at another node.
    pub crosswise: bool,
    /// All waiters stand from the beginning, and each key is kept for the first, which no message has named.
    pub released: bool,
    /// The rounds of extension after which the holder is on every node that votes.
    pub rounds: u8,
    /// The most ticks for which a client that could win waits while none holds.
    pub within: u8,
    pub mutant: Option<Mutant>,
    pub states: usize,
}

impl Config {
    /// Creates a run with a client for each letter: `F` is fair, `D` fair and may die, `G` fair and may give
    /// up, `B` fair and
    /// its ballot cannot win, `L` fair and leaves its key, `P` plain,
    /// `E` plain and extends, `H` holds first, `S` holds and stays.
    pub fn new(name: &'static str, nodes: usize, letters: &str) -> Self {
        let client = |letter: char| Client {
            kind: match letter {
                'P' | 'E' => Kind::Plain,
                'H' | 'S' => Kind::Holder,
                _ => Kind::Fair,
            },
            dies: letter == 'D',
            gives_up: letter == 'G',
            barred: letter == 'B',
            extends: matches!(letter, 'H' | 'S' | 'E'),
            forgets: letter == 'L',
            stays: letter == 'S',
        };
        Self {
            name,
            nodes,
            clients: letters.chars().map(client).collect(),
            ttl: 3,
            entry: 3,
            kept: 4,
            called: 2,
            clocks: 1,
            restarts: 0,
            losses: 0,
            slow: 0,
            sets: false,
            crosswise: false,
            released: false,
            rounds: 2,
            within: 2,
            mutant: None,
            states: 4_000_000,
        }
    }

    pub fn named(mut self, name: &'static str) -> Self {
        self.name = name;
        self
    }

    pub fn restarts(mut self, restarts: u8) -> Self {
        self.restarts = restarts;
        self
    }

    pub fn losses(mut self, losses: u8) -> Self {
        self.losses = losses;
        self
    }

    pub fn slow(mut self, slow: u8) -> Self {
        self.slow = slow;
        self
    }

    pub fn clocks(mut self, clocks: u8) -> Self {
        self.clocks = clocks;
        self
    }

    pub fn ttl(mut self, ttl: u8) -> Self {
        self.ttl = ttl;
        self
    }

    pub fn within(mut self, within: u8) -> Self {
        self.within = within;
        self
    }

    pub fn rounds(mut self, rounds: u8) -> Self {
        self.rounds = rounds;
        self
    }

    pub fn crosswise(mut self) -> Self {
        self.crosswise = true;
        self
    }

    pub fn released(mut self) -> Self {
        self.released = true;
        self
    }

    pub fn sets(mut self) -> Self {
        self.sets = true;
        self
    }

    pub fn states(mut self, states: usize) -> Self {
        self.states = states;
        self
    }

    pub fn mutant(mut self, mutant: Mutant) -> Self {
        self.mutant = Some(mutant);
        self
    }

    pub fn is(&self, mutant: Mutant) -> bool {
        self.mutant == Some(mutant)
    }
}

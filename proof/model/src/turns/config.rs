//! The configuration of one run.

use super::mutants::Mutant;
use crate::settings::settings;

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
    /// Its first look with a ticket is that of one far back: the next is due late, and its entry lives for long.
    pub seldom: bool,
}

#[derive(Clone, Default, Debug)]
pub struct Config {
    pub name: &'static str,
    pub nodes: usize,
    pub clients: Vec<Client>,
    pub ttl: u8,
    /// The ticks for which an entry lives: a look is due in each tick.
    pub entry: u8,
    /// The ticks between two looks of a waiter that is far back: its entry lives for three times as many.
    pub seldom: u8,
    /// The ticks for which a key is kept.
    pub kept: u8,
    /// The ticks for which a named waiter takes the key for kept.
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
    /// All waiters stand from the beginning, behind a holder. One that is far back has taken its look.
    pub queued: bool,
    /// The rounds of extension after which the holder is on every node that votes.
    pub rounds: u8,
    /// The most ticks for which a client that could win waits while none holds.
    pub within: u8,
    pub mutant: Option<Mutant>,
    pub states: usize,
}

settings! {
    set {
        losses: u8, slow: u8, clocks: u8, ttl: u8, within: u8, rounds: u8,
        states: usize
    }
    on { crosswise, queued, released, sets }
}

impl Config {
    /// Creates a run with a client for each letter: `F` is fair, `D` fair and may die, `G` fair and may give
    /// up, `B` fair and
    /// its ballot cannot win, `L` fair and leaves its key, `P` plain,
    /// `E` plain and extends, `A` fair and far back, `Z` the same and may die, `H` holds first, `S` holds and stays,
    /// `C` holds first and may die.
    pub fn new(name: &'static str, nodes: usize, letters: &str) -> Self {
        let client = |letter: char| Client {
            kind: match letter {
                'P' | 'E' => Kind::Plain,
                'H' | 'S' | 'C' => Kind::Holder,
                _ => Kind::Fair,
            },
            dies: matches!(letter, 'C' | 'D' | 'Z'),
            gives_up: letter == 'G',
            barred: letter == 'B',
            extends: matches!(letter, 'C' | 'H' | 'S' | 'E'),
            forgets: letter == 'L',
            stays: letter == 'S',
            seldom: matches!(letter, 'A' | 'Z'),
        };
        Self {
            name,
            nodes,
            clients: letters.chars().map(client).collect(),
            ttl: 3,
            entry: 3,
            seldom: 5,
            kept: 4,
            called: 2,
            clocks: 1,
            rounds: 2,
            within: 2,
            states: 4_000_000,
            ..Self::default()
        }
    }
}

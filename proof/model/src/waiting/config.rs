//! The configuration of one run.

use super::mutants::Mutant;
use crate::settings::settings;

/// A client that comes back without end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Client {
    pub reads: bool,
    /// A writer that may give up while it waits.
    pub gives_up: bool,
    /// A writer that may become a reader while it holds.
    pub downgrades: bool,
    /// A writer that knows of no readers, and sets no hint.
    pub plain: bool,
    pub ttl: u8,
}

#[derive(Clone, Default, Debug)]
pub struct Config {
    pub name: &'static str,
    pub nodes: usize,
    pub clients: Vec<Client>,
    /// How many of the clients, from the first on, are writers of one process. Of them, one contends or
    /// holds, and the others wait in its local queue.
    pub together: usize,
    /// The life of a hint. A writer that waits renews it at least once in a tick.
    pub hint: u8,
    /// The life that a hint has left when its writer gives up: others renew theirs meanwhile.
    pub rest: u8,
    /// The nodes, as bits, that never answer.
    pub down: u8,
    /// The nodes, as bits, at which no hint arrives.
    pub deaf: u8,
    pub restarts: u8,
    /// Writers may crash.
    pub crashes: bool,
    /// A reader that waits tries again only when it is notified, or when the life is over that it
    /// was refused with.
    pub sleeps: bool,
    /// The most ticks for which a writer that does not give up waits while no writer gets in.
    pub writers: u8,
    /// The most ticks for which a reader waits while no living writer waits or holds.
    pub readers: u8,
    pub mutant: Option<Mutant>,
    /// The most distinct states.
    pub states: usize,
}

settings! {
    each clients { ttl: u8 }
    set { together: usize, down: u8, deaf: u8 }
    on { crashes, sleeps }
}

impl Config {
    /// Creates a run with a client for each letter: `R` reads, `W` writes and never gives up, `G`
    /// may give up, `D` may downgrade, `P` is plain. The ttl is two ticks, a hint lives for three.
    pub fn new(name: &'static str, nodes: usize, letters: &str) -> Self {
        let client = |letter: char| Client {
            reads: letter == 'R',
            gives_up: letter == 'G',
            downgrades: letter == 'D',
            plain: letter == 'P',
            ttl: 2,
        };
        Self {
            name,
            nodes,
            clients: letters.chars().map(client).collect(),
            hint: 3,
            rest: 2,
            writers: 2,
            readers: 1,
            states: 25_000_000,
            ..Self::default()
        }
    }

    /// Sets the most ticks that writers and readers wait.
    pub fn within(mut self, writers: u8, readers: u8) -> Self {
        (self.writers, self.readers) = (writers, readers);
        self
    }

    pub fn longest(&self) -> u8 {
        self.clients.iter().map(|client| client.ttl).max().unwrap_or(0)
    }
}

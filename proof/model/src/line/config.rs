//! The configuration of one run.

use super::mutants::Mutant;
use super::state::{CLIENTS, Kind, NODES};
use crate::settings::settings;

#[derive(Clone, Debug)]
pub struct Config {
    pub name: &'static str,
    /// Clients that want the lock, or any slot of a semaphore.
    pub kinds: &'static [Kind],
    pub nodes: usize,
    /// The slots: a lock is one.
    pub slots: u8,
    /// The most that stand in a line.
    pub room: u8,
    /// A client that has released comes again.
    pub again: bool,
    /// How many calls lapse, or waiters do not ask when they are due, although they live.
    pub lapses: u8,
    /// How many messages get lost.
    pub losses: u8,
    /// How many clients stop, end, or give up.
    pub stops: u8,
    pub ends: u8,
    pub leaves: u8,
    /// How often the first master loses its line.
    pub restarts: u8,
    /// Whether the first master may end for good, or be silent for a while.
    pub fails: u8,
    pub hangs: u8,
    /// How often the clock of a line's master is set back.
    pub steps_back: u8,
    /// The last client never reaches the first master.
    pub cut: bool,
    /// The key at the first master has another value for good: of the first slot.
    pub stuck: bool,
    pub mutant: Option<Mutant>,
    /// The most distinct states.
    pub states: usize,
}

settings! {
    set {
        nodes: usize, slots: u8, room: u8, lapses: u8, losses: u8, stops: u8, ends: u8, leaves: u8, fails: u8, hangs: u8,
        steps_back: u8
    }
    on { again, cut, stuck }
}

/// A switch of a run.
type Switch = (&'static str, fn(Config) -> Config);

/// All that a run can have, but other clients, a full line, and a master that is silent for a while.
const SWITCHES: [Switch; 10] = [
    ("a call lapses", |config| config.lapses(1)),
    ("a message gets lost", |config| config.losses(1)),
    ("the line is lost", |config| config.restarts(1)),
    ("the line's master ends", |config| config.nodes(3).fails(1)),
    ("a clock is set back", |config| config.steps_back(1)),
    ("a key is stuck", |config| config.nodes(3).stuck()),
    ("one stops", |config| config.stops(1)),
    ("one ends", |config| config.ends(1)),
    ("one gives up", |config| config.leaves(1)),
    ("one cannot reach the line's master", |config| config.nodes(3).cut()),
];

impl Config {
    pub fn new(name: &'static str, kinds: &'static [Kind]) -> Self {
        Self {
            name,
            kinds,
            nodes: 2,
            slots: 1,
            room: CLIENTS as u8,
            again: false,
            lapses: 0,
            losses: 0,
            stops: 0,
            ends: 0,
            leaves: 0,
            restarts: 0,
            fails: 0,
            hangs: 0,
            steps_back: 0,
            cut: false,
            stuck: false,
            mutant: None,
            states: 25_000_000,
        }
    }

    /// Returns a run for each switch, and for each pair of switches, with these clients.
    pub fn pairs(kinds: &'static [Kind]) -> impl Iterator<Item = Self> {
        let alone = SWITCHES.into_iter().map(move |(name, on)| on(Self::new(name, kinds)));
        let pairs = (0..SWITCHES.len())
            .flat_map(|first| (first + 1..SWITCHES.len()).map(move |second| (first, second)));
        alone.chain(pairs.map(move |(first, second)| {
            let ((a, on), (b, also)) = (SWITCHES[first], SWITCHES[second]);
            // There are as many as there are pairs.
            let name = Box::leak(format!("{a}, and {b}").into_boxed_str());
            also(on(Self::new(name, kinds)))
        }))
    }

    /// Returns the run of such a name.
    pub fn named(name: &str, kinds: &'static [Kind]) -> Self {
        Self::pairs(kinds).find(|config| config.name == name).expect("a run of that name")
    }

    pub(super) fn check(&self) {
        assert!(self.kinds.len() <= CLIENTS, "so many clients have no room");
        assert!((2..=NODES).contains(&self.nodes), "so many masters have no room");
        assert!((1..=2).contains(&self.slots), "so many slots have no room");
    }
}

//! The runs that are explored, and their expected results.

mod holds;
mod mutants;
pub mod scenes;
mod scripts;

use super::config::{Client, Config};
use super::property::{GOES_ON, READERS, STOPS, TWO_UNKNOWN};
use super::protocol::Action;
use crate::runs::Kind;
use scenes::Scene;

/// The way in which states are visited.
#[derive(Clone, Copy, Debug)]
pub enum Search {
    /// All of them, breadth first.
    All,
    /// So many random steps, from a seed that is always the same.
    Walks(usize),
    /// Along one way that was written down, as it is too long for the other two.
    Written(&'static [Action]),
    /// Each step must be possible.
    Scene(fn() -> scenes::Scene),
}

#[derive(Clone, Debug)]
pub struct Run {
    pub kind: Kind,
    pub config: Config,
    pub search: Search,
    /// The property that is violated; `None` if all hold.
    pub violates: Option<&'static str>,
    /// Part of the quick form.
    pub quick: bool,
}

impl Run {
    fn holds(config: Config) -> Self {
        Self { kind: Kind::Holds, config, search: Search::All, violates: None, quick: false }
    }

    fn walks(steps: usize, config: Config) -> Self {
        Self { search: Search::Walks(steps), ..Self::holds(config) }
    }

    fn scene(scene: fn() -> Scene, config: Config) -> Self {
        Self { search: Search::Scene(scene), ..Self::holds(config) }.quick()
    }

    fn violates(kind: Kind, property: &'static str, config: Config) -> Self {
        Self { kind, violates: Some(property), quick: true, ..Self::holds(config) }
    }

    fn quick(mut self) -> Self {
        self.quick = true;
        self
    }

    pub fn name(&self) -> String {
        match self.config.mutant {
            Some(mutant) => format!("{} ({})", mutant.words(), self.config.name),
            None => self.config.name.to_owned(),
        }
    }
}

/// Returns all runs, in the order of the report.
pub fn all() -> Vec<Run> {
    let mut all = holds::runs();
    all.extend(mutants::runs());
    all
}

/// {1,2,3} and {2,3,4}.
const ONE_REPLACED: [Client; 2] = [Client::of(0b0111), Client::of(0b1110)];
/// {1,2,3,4,5} and {1,2,3,4,6}.
const FIVE: [Client; 2] = [Client::of(0b01_1111), Client::of(0b10_1111)];

/// Makes the clients use all of the `max_ttl` that they allow.
fn to_the_full(clients: [Client; 2]) -> [Client; 2] {
    clients.map(|one| one.ttl(one.max_ttl, one.max_ttl))
}

/// Returns clients of one list of three, with a `max_ttl` each, which they use.
fn numbers(one: u8, other: u8) -> [Client; 2] {
    let client = |max_ttl| Client::of(0b111).ttl(max_ttl, max_ttl);
    [client(one), client(other)]
}

/// Returns clients with different lists and a different `max_ttl`.
fn both() -> [Client; 2] {
    let [one, other] = ONE_REPLACED;
    [one.ttl(1, 3), other]
}

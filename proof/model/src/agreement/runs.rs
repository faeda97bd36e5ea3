//! The runs that are explored, and their expected results.

mod holds;
mod mutants;
pub mod scenes;
mod scripts;

use super::Agreement;
use super::config::{Client, Config};
use super::search::Search;
use scenes::Scene;

pub type Run = crate::run::Run<Agreement>;

fn walks(steps: usize, config: Config) -> Run {
    Run { search: Search::Walks(steps), ..Run::holds(config) }
}

fn scene(scene: fn() -> Scene, config: Config) -> Run {
    Run { search: Search::Scene(scene), ..Run::holds(config) }.quick()
}

/// Returns all runs, in the order of the report.
pub fn all() -> Vec<Run> {
    holds::runs().into_iter().chain(mutants::runs()).collect()
}

/// {1,2,3} and {2,3,4}.
const ONE_REPLACED: [Client; 2] = [Client::of(0b0111), Client::of(0b1110)];
/// {1,2,3,4,5} and {1,2,3,4,6}.
const FIVE: [Client; 2] = [Client::of(0b01_1111), Client::of(0b10_1111)];

/// Makes the clients use all of the `max_ttl` that they allow.
fn to_the_full(clients: [Client; 2]) -> [Client; 2] {
    clients.map(|client| client.ttl(client.max_ttl, client.max_ttl))
}

/// Returns clients of one list of three, with a `max_ttl` each, which they use.
fn numbers(first: u8, second: u8) -> [Client; 2] {
    let client = |max_ttl| Client::of(0b111).ttl(max_ttl, max_ttl);
    [client(first), client(second)]
}

/// Returns clients with different lists and a different `max_ttl`.
fn both() -> [Client; 2] {
    let [client, other] = ONE_REPLACED;
    [client.ttl(1, 3), other]
}

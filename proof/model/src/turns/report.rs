//! The results of a run, for the report.

use super::config::{Client, Config, Kind};
use super::protocol::Turns;
use super::runs::Run;
use crate::checker::{Bounds, explore};
use crate::report::{Explored, Part, plural};

impl Run {
    pub fn name(&self) -> String {
        match self.config.mutant {
            Some(mutant) => format!("{} ({})", mutant.words(), self.config.name),
            None => self.config.name.to_owned(),
        }
    }

    /// Explores the run. `progress` is called now and then with the number of states.
    pub fn explored(&self, progress: impl FnMut(usize)) -> Explored {
        let turns = Turns::new(self.config.clone());
        let outcome = explore(&turns, Bounds { states: self.config.states }, progress);
        let told = outcome.violation.as_ref().map(|found| turns.told(&found.trace));
        Explored {
            part: Part::Turns,
            kind: self.kind,
            name: self.name(),
            bounds: bounds(&self.config),
            expected: self.violates,
            extent: outcome.extent(),
            found: outcome.violation.map(|found| (found.property, found.trace.len())),
            written: false,
            states: outcome.states,
            took: outcome.took,
            told: told.unwrap_or_default(),
        }
    }
}

/// Returns the bounds of a run in a few words.
fn bounds(config: &Config) -> String {
    let clients: Vec<&str> = config.clients.iter().map(words).collect();
    let mut words = vec![format!("{} nodes", config.nodes), clients.join(", ")];
    words.push(format!("ttl {}", config.ttl));
    let counts =
        [(config.restarts, "restart"), (config.losses, "loss"), (config.slow, "slow tick")];
    for (count, what) in counts.into_iter().filter(|(count, _)| *count > 0) {
        words.push(plural(usize::from(count), what).replace("losss", "losses"));
    }
    if config.clocks > 1 {
        words.push(format!("clocks 1 to {}", config.clocks));
    }
    if config.sets {
        words.push("SET first".to_owned());
    }
    words.push(format!("in within {}", plural(usize::from(config.within), "tick")));
    words.join("; ")
}

const fn words(client: &Client) -> &'static str {
    match (client.kind, client.barred, client.dies, client.stays) {
        (Kind::Plain, ..) if client.extends => "a plain client that extends",
        (Kind::Plain, ..) => "a plain client",
        (Kind::Holder, _, _, true) => "a holder that stays",
        (Kind::Holder, ..) => "a holder",
        (Kind::Fair, true, ..) => "a waiter that cannot win",
        (Kind::Fair, _, true, _) => "a waiter that may die",
        (Kind::Fair, ..) if client.forgets => "a waiter that leaves its key",
        (Kind::Fair, ..) if client.gives_up => "a waiter that may give up",
        (Kind::Fair, ..) => "a waiter",
    }
}

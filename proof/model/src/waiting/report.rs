//! The results of a run, for the report.

use super::config::{Client, Config};
use super::protocol::Waiting;
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
        let waiting = Waiting::new(self.config.clone());
        let outcome = explore(&waiting, Bounds { states: self.config.states }, progress);
        let told = outcome.violation.as_ref().map(|found| waiting.told(&found.trace));
        Explored {
            part: Part::Waiting,
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
    let clients: Vec<String> = config.clients.iter().map(words).collect();
    let mut words = vec![format!("{} nodes", config.nodes), clients.join(" beside ")];
    if config.together > 0 {
        words.push(format!("the first {} of one process", config.together));
    }
    if config.down > 0 {
        words.push(format!("{} down", config.down.count_ones()));
    }
    if config.deaf > 0 {
        words.push(format!("{} without hints", config.deaf.count_ones()));
    }
    if config.restarts > 0 {
        words.push(plural(usize::from(config.restarts), "restart"));
    }
    if config.crashes {
        words.push("crashes".to_owned());
    }
    if config.sleeps {
        words.push("readers sleep".to_owned());
    }
    let ticks = |count: u8| plural(usize::from(count), "tick");
    words.push(format!("writers in within {}", ticks(config.writers)));
    words.push(format!("readers within {}", ticks(config.readers)));
    words.join(", ")
}

fn words(client: &Client) -> String {
    let mut words = match client {
        Client { reads: true, .. } => "a reader".to_owned(),
        Client { plain: true, .. } => "a plain acquire".to_owned(),
        Client { gives_up: true, .. } => "a writer that gives up".to_owned(),
        Client { downgrades: true, .. } => "a writer that downgrades".to_owned(),
        _ => "a writer".to_owned(),
    };
    if client.ttl != 2 {
        words += &format!(" ttl {}", client.ttl);
    }
    words
}

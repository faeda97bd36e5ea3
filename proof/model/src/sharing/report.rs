//! The results of a run, for the report.

use super::config::{Config, Contender};
use super::protocol::Sharing;
use super::runs::Run;
use crate::checker::{Bounds, explore};
use crate::config::Order;
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
        let sharing = Sharing::new(self.config.clone());
        let outcome = explore(&sharing, Bounds { states: self.config.states }, progress);
        let told = outcome.violation.as_ref().map(|found| sharing.told(&found.trace));
        Explored {
            part: Part::Sharing,
            kind: self.kind,
            name: self.name(),
            bounds: bounds(&self.config),
            expected: self.violates.map(|one| one.words()),
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
    let contenders: Vec<String> = config.contenders.iter().map(|one| words(config, one)).collect();
    let mut words = vec![format!("{} nodes", config.nodes), contenders.join(" beside ")];
    let mut clients: Vec<u8> = config.contenders.iter().map(|one| one.client).collect();
    clients.sort_unstable();
    clients.dedup();
    if clients.len() < config.contenders.len() {
        words.push(format!("of {}", plural(clients.len(), "client")));
    }
    words.push(match config.order {
        Order::InOrder => "in order".to_owned(),
        Order::Any => "any order".to_owned(),
    });
    let faults =
        [(config.restarts, "restart"), (config.duplicates, "duplicate"), (config.errors, "error")];
    for (count, what) in faults.into_iter().filter(|(count, _)| *count > 0) {
        words.push(plural(usize::from(count), what));
    }
    if config.crashes {
        words.push("crashes".to_owned());
    }
    words.join(", ")
}

fn words(config: &Config, one: &Contender) -> String {
    let mut words = if one.reads { "a reader".to_owned() } else { "a writer".to_owned() };
    let list = |list: u8| {
        let nodes = (0..config.nodes).filter(|node| list >> node & 1 == 1);
        let names: Vec<String> = nodes.map(|node| (node + 1).to_string()).collect();
        format!("{{{}}}", names.join(","))
    };
    let all = (1 << config.nodes) - 1;
    if one.lists != [all; 2] {
        words += &format!(" of {}", list(one.lists[0]));
    }
    if one.lists[1] != one.lists[0] {
        words += &format!(" and {}", list(one.lists[1]));
    }
    if one.ttl != 2 {
        words += &format!(" ttl {}", one.ttl);
    }
    if one.asks != one.ttl {
        words += &format!(" for {}", one.asks);
    }
    if one.rounds > 0 {
        words += &format!(" with {}", plural(usize::from(one.rounds), "extension"));
    }
    if one.downgrades {
        words += " that downgrades";
    }
    words
}

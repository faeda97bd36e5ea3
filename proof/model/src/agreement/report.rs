//! The results of a run, for the report.

use super::config::{Client, Config};
use super::property::{GOES_ON, STOPS};
use super::protocol::{Action, Agreement};
use super::runs::{Run, Search, scenes::Scene};
use crate::checker::{Began, Bounds, Model, Outcome, Violation, explore};
use crate::report::{Explored, Part, plural, thousands};

impl Run {
    /// Explores the run. `progress` is called now and then with the progress so far.
    pub fn explored(&self, progress: impl FnMut(usize)) -> Explored {
        let agreement = Agreement::new(self.config.clone());
        let outcome = match self.search {
            Search::All => explore(&agreement, Bounds { states: self.config.states }, progress),
            Search::Walks(steps) => agreement.walk(steps, progress),
            Search::Written(script) => agreement.along(script),
            Search::Scene(scene) => agreement.played(&scene()),
        };
        let extent = match self.search {
            Search::All => outcome.extent(),
            Search::Walks(_) => format!("{} steps at random", thousands(outcome.states)),
            Search::Written(_) => "one way".to_owned(),
            Search::Scene(_) => format!("a scene of {} steps", outcome.depth),
        };
        let told = outcome.violation.as_ref().map(|found| {
            let mut told = agreement.told(&found.trace);
            if found.property == GOES_ON {
                told.push("and what should come next is not possible".to_owned());
            }
            told
        });
        let told = told.unwrap_or_default();
        Explored {
            part: Part::Agreement,
            kind: self.kind,
            name: self.name(),
            bounds: bounds(&self.config),
            expected: self.violates,
            found: outcome.violation.map(|found| (found.property, told.len())),
            written: matches!(self.search, Search::Written(_) | Search::Scene(_)),
            states: if matches!(self.search, Search::All) { outcome.states } else { 0 },
            extent,
            took: outcome.took,
            told,
        }
    }
}

impl Agreement {
    fn along(&self, script: &[Action]) -> Outcome<Action> {
        let began = Began::now();
        let property = self.outcome_of(script);
        let violation = property.map(|property| Violation { property, trace: script.to_vec() });
        let depth = script.len();
        Outcome { states: depth, depth, complete: false, violation, took: began.took() }
    }
}

impl Agreement {
    /// Plays a scene. Reports a step that is not possible, or one that is and must not be.
    pub fn played(&self, scene: &Scene) -> Outcome<Action> {
        let began = Began::now();
        let (mut state, mut trace, mut property) = (self.initial(), Vec::new(), None);
        for action in &scene.way {
            match self.step(&state, *action) {
                Some(next) => state = next,
                None if matches!(action, Action::Ask { .. }) => continue,
                None => {
                    property = Some(GOES_ON);
                    break;
                }
            }
            trace.push(*action);
            property = property.or(self.violated(&state));
        }
        let possible = |action: &&Action| self.step(&state, **action).is_some();
        if let Some(action) = scene.refused.iter().find(possible).filter(|_| property.is_none()) {
            trace.push(*action);
            property = Some(STOPS);
        }
        let depth = trace.len();
        let violation = property.map(|property| Violation { property, trace });
        Outcome { states: depth, depth, complete: false, violation, took: began.took() }
    }
}

/// Returns the bounds of a run in a few words.
fn bounds(config: &Config) -> String {
    let clients = config.clients.iter().map(|client| goes_by(config, client));
    let mut words = vec![clients.collect::<Vec<_>>().join(" beside ")];
    let contends = |one: &&Client| !one.reads;
    if let Some(one) = config.clients.iter().find(contends) {
        words.push(plural(usize::from(one.attempts), "attempt"));
        if one.rounds > 0 {
            words.push(plural(usize::from(one.rounds), "extension"));
        }
    }
    if config.silence > 1 {
        words.push(format!("L {}", config.silence));
    }
    if config.cuts {
        words.push("cuts".to_owned());
    }
    if config.restarts > 0 {
        words.push(plural(usize::from(config.restarts), "restart"));
    }
    if config.errors {
        words.push("errors".to_owned());
    }
    words.join(", ")
}

fn goes_by(config: &Config, client: &Client) -> String {
    let list = |list: u8| {
        let nodes = (0..config.nodes).filter(|node| list >> node & 1 == 1);
        let names: Vec<String> = nodes.map(|node| (node + 1).to_string()).collect();
        format!("{{{}}}", names.join(","))
    };
    let mut words = list(client.lists[0]);
    if client.lists[1] != client.lists[0] {
        words += &format!(" and {}", list(client.lists[1]));
    }
    if client.reads {
        return format!("a reader of {words}");
    }
    words += &format!(" ttl {} of {}", client.ttl, client.max_ttl);
    if (client.back, client.ahead) != (0, 0) {
        words += &format!(" window {} back {} ahead", client.back, client.ahead);
    }
    if client.late {
        words += " late";
    }
    words
}

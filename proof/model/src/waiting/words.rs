//! Bounds and traces in words, for people.

use super::config::{Client, Config};
use super::protocol::{Action, Waiting};
use super::state::{Phase, State};
use crate::run::{NAMES, Part};
use crate::settings::{counted, plural};

impl Part for Waiting {
    type Config = Config;
    type Search = ();

    const NAME: &'static str = "waiting";
    const HEADING: &'static str = "
# Who waits

Writers and readers that come back without end. Messages arrive within a tick, which is as long as a
writer waits before it renews its hint. A hint lives for three ticks; the ttl is two, if nothing else is
said.
";

    fn new(config: Config) -> Self {
        Self::new(config)
    }

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
        words.extend(counted([(config.restarts, "restart")]));
        if config.crashes {
            words.push("crashes".to_owned());
        }
        if config.sleeps {
            words.push("readers sleep".to_owned());
        }
        if config.writers < u8::MAX {
            words.push(format!("writers in within {}", plural(config.writers, "tick")));
            words.push(format!("readers within {}", plural(config.readers, "tick")));
        }
        words.join(", ")
    }

    fn sentence(&self, action: Action, before: &State, after: &State) -> String {
        match action {
            Action::Try { who } => format!("{} tries", self.name(who)),
            Action::Queue { who } => format!("{} queues in its process", self.name(who)),
            Action::Release { who } => format!("{} releases", self.name(who)),
            Action::Downgrade { who } => format!("{} downgrades", self.name(who)),
            Action::GiveUp { who } => format!("{} gives up", self.name(who)),
            Action::Crash { who } => format!("{} crashes", self.name(who)),
            Action::Restart { node } => format!("{} restarts empty", node + 1),
            Action::Tick => format!("a tick{}", self.ended(before, after)),
            Action::Deliver { who, node } => self.delivery(who, node, before, after),
        }
    }
}

impl Waiting {
    fn name(&self, who: usize) -> String {
        let kind = match &self.config.clients[who] {
            Client { reads: true, .. } => "reader",
            Client { plain: true, .. } => "plain",
            _ => "writer",
        };
        format!("{kind} {}", NAMES[who])
    }

    fn delivery(&self, who: usize, node: usize, before: &State, after: &State) -> String {
        let (name, place) = (self.name(who), node + 1);
        let granted = after.nodes[node].granted >> who & 1 == 1;
        let hint = before.nodes[node].master.hint != after.nodes[node].master.hint;
        let is = after.actors[who].phase;
        let wins = if is == Phase::Held { ", who wins" } else { "" };
        match before.actors[who].phase {
            Phase::Trying if granted || is == Phase::Held => {
                format!("{place} grants {name}{wins}")
            }
            Phase::Trying => format!("{place} refuses {name}{wins}"),
            Phase::Queued => format!("the hint of {name} stands on {place}"),
            Phase::Backing if hint => {
                format!("{name} rolls back on {place}; its hint stands there")
            }
            Phase::Backing => format!("{name} rolls back on {place}"),
            Phase::Held if hint => format!("{place} deletes the hint of {name}"),
            Phase::Held => format!("{place} has no hint of {name}"),
            Phase::GivingUp if hint => format!("{place} deletes the hint of {name}"),
            Phase::GivingUp => format!("{place} hears that {name} has given up"),
            Phase::Downgrading => format!("{place} makes a reader of {name}"),
            _ => format!("{place} executes the release of {name}"),
        }
    }

    fn ended(&self, before: &State, after: &State) -> String {
        let mut text = String::new();
        for who in 0..self.count() {
            let (was, is) = (before.actors[who].phase, after.actors[who].phase);
            if was == Phase::Held && is == Phase::Idle {
                text += &format!("; {} lapses", self.name(who));
            }
        }
        for node in 0..self.config.nodes {
            let (was, is) = (&before.nodes[node].master, &after.nodes[node].master);
            if was.hint != 0 && is.hint == 0 {
                text += &format!("; the hint on {} expires", node + 1);
            }
        }
        if after.drought > 0 {
            text += &format!(" (writers wait for {})", after.drought);
        }
        let waited = after.actors.iter().map(|actor| actor.waited).max().unwrap_or(0);
        if waited > 0 {
            text += &format!(" (a reader waits for {waited})");
        }
        text
    }
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

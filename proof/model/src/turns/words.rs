//! Bounds and traces in words, for people.

use super::config::{Client, Config, Kind};
use super::protocol::{Action, Turns};
use super::scripts::{KEPT, Master};
use super::state::{Out, Stage, State};
use crate::run::{NAMES, Part};
use crate::settings::{counted, plural};

impl Part for Turns {
    type Config = Config;
    type Search = ();

    const NAME: &'static str = "turns";
    const HEADING: &'static str = "
# Turns

Waiters that queue on each node. Commands arrive within a tick, in any order, unless a tick is slow or a
command is lost. A waiter looks once in a tick; its entry lives for three, a key is kept for four. One that
is *far back* looks once with an entry for fifteen, and rests for five, while the queue gets shorter. *In
within*: the most ticks for which no client holds while one that could win waits and nothing fails.
";

    fn new(config: Config) -> Self {
        Self::new(config)
    }

    fn bounds(config: &Config) -> String {
        let clients: Vec<&str> = config.clients.iter().map(words).collect();
        let mut words = vec![format!("{} nodes", config.nodes), clients.join(", ")];
        words.push(format!("ttl {}", config.ttl));
        let counts =
            [(config.restarts, "restart"), (config.losses, "loss"), (config.slow, "slow tick")];
        words.extend(counted(counts).map(|count| count.replace("losss", "losses")));
        if config.clocks > 1 {
            words.push(format!("clocks 1 to {}", config.clocks));
        }
        if config.sets {
            words.push("SET first".to_owned());
        }
        if config.within < u8::MAX {
            words.push(format!("in within {}", plural(config.within, "tick")));
        }
        words.join("; ")
    }

    fn sentence(&self, action: Action, before: &State, after: &State) -> String {
        match action {
            Action::Come { who } => format!("{} comes", NAMES[who]),
            Action::Look { who } => format!("{} looks", NAMES[who]),
            Action::Try { who } => format!("{} tries", NAMES[who]),
            Action::Extend { who } => format!("{} extends", NAMES[who]),
            Action::Release { who } => format!("{} releases", NAMES[who]),
            Action::GiveUp { who } => format!("{} gives up", NAMES[who]),
            Action::Die { who } => format!("{} dies", NAMES[who]),
            Action::Restart { node } => format!("{} restarts empty", node + 1),
            Action::Part { who, node } => {
                let there = self.there(&after.nodes[node].master);
                format!("{}: {} takes its place back, then {there}", node + 1, NAMES[who])
            }
            Action::Lose { who, node } => {
                format!("{} does not get what {} sent", node + 1, NAMES[who])
            }
            Action::Tick => format!("a tick ({} without a holder)", after.drought),
            Action::Deliver { who, node, choice } => {
                self.delivery(who, node, choice, before, after)
            }
        }
    }
}

impl Turns {
    fn delivery(&self, who: usize, at: usize, choice: u8, before: &State, after: &State) -> String {
        let verb = match before.actors[who].out {
            Out::Set => "SET",
            Out::Join => "first look",
            Out::Look => "look",
            Out::Try => "try",
            Out::Undo => "rollback",
            Out::Extend => "extension",
            Out::TopUp => "top-up",
            Out::Leave => "release",
            Out::Nothing => "",
        };
        let there = self.there(&after.nodes[at].master);
        let mut text = format!("{}: {verb} of {}, then {there}", at + 1, NAMES[who]);
        if before.actors[who].out == Out::Leave && choice > 0 {
            text += if choice == 1 { ", and tells" } else { ", and its message is lost" };
        }
        for (other, name) in NAMES.iter().enumerate().take(self.count()) {
            let (was, is) = (&before.actors[other], &after.actors[other]);
            if was.stage != is.stage && is.stage == Stage::Holds {
                text += &format!("; {name} wins");
            }
            if was.phase != is.phase && is.stage == Stage::Waits {
                text += &format!("; {name} is {:?}", is.phase).to_lowercase();
            }
            if was.ticket != is.ticket && is.ticket > 0 {
                text += &format!("; {name} has ticket {}", is.ticket);
            }
        }
        text
    }

    fn there(&self, master: &Master) -> String {
        let key = match master.key {
            0 => "nothing".to_owned(),
            key if key & KEPT != 0 => {
                format!("kept for {}", NAMES[usize::from(key & !KEPT) - 1])
            }
            key => format!("held by {}", NAMES[usize::from(key) - 1]),
        };
        let stands = (0..self.count()).filter(|who| master.stamps[*who] > 0);
        let queue: Vec<String> =
            stands.map(|who| format!("{} {}", NAMES[who], master.stamps[who])).collect();
        format!("{key} [{}]", queue.join(", "))
    }
}

const fn words(client: &Client) -> &'static str {
    match (client.kind, client.barred, client.dies, client.stays) {
        (Kind::Plain, ..) if client.extends => "a plain client that extends",
        (Kind::Plain, ..) => "a plain client",
        (Kind::Holder, _, _, true) => "a holder that stays",
        (Kind::Holder, _, true, _) => "a holder that may die",
        (Kind::Holder, ..) => "a holder",
        (Kind::Fair, true, ..) => "a waiter that cannot win",
        (Kind::Fair, _, true, _) if client.seldom => "a waiter far back that may die",
        (Kind::Fair, ..) if client.seldom => "a waiter far back",
        (Kind::Fair, _, true, _) => "a waiter that may die",
        (Kind::Fair, ..) if client.forgets => "a waiter that leaves its key",
        (Kind::Fair, ..) if client.gives_up => "a waiter that may give up",
        (Kind::Fair, ..) => "a waiter",
    }
}

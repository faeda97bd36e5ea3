//! Bounds and traces in words, for people.

use super::config::Config;
use super::protocol::{Action, Listed};
use super::state::{Phase, State};
use crate::run::{NAMES, Part};
use crate::settings::{counted, plural};

impl Part for Listed {
    type Config = Config;
    type Search = ();

    const NAME: &'static str = "listed";
    const HEADING: &'static str = "
# Who is called

Clients that want one lock again and again, or a permit, and wait in a list at one master. Messages arrive within a tick,
which is as long as the first waiter pauses; any other pauses for two ticks more for each that is ahead of it.
";

    fn new(config: Config) -> Self {
        Self::new(config)
    }

    fn bounds(config: &Config) -> String {
        let mut words = vec![format!("{} clients", config.clients)];
        words.extend((config.slots > 1).then(|| format!("{} slots", config.slots)));
        words.extend(counted([(config.restarts, "restart")]));
        words.extend((config.stops > 0).then(|| format!("{} stop", config.stops)));
        words.extend(counted([(config.cancels, "cancel")]));
        words.extend((config.dies > 0).then(|| format!("{} holder dies", config.dies)));
        words.extend((config.steps_back > 0).then(|| "a clock set back".to_owned()));
        words.extend((config.ends > 0).then(|| format!("{} end", config.ends)));
        let conditions = [
            (config.lossy, "messages get lost"),
            (config.cut, "one that takes another node for the first"),
            (config.stuck, "a key stuck at the first node"),
            (config.unaware, "holders that may not know of the list"),
        ];
        words.extend(
            conditions.into_iter().filter(|(is, _)| *is).map(|(_, words)| words.to_owned()),
        );
        if config.within < u8::MAX {
            words.push(format!("served within {}", plural(config.within, "tick")));
        }
        words.join(", ")
    }

    fn sentence(&self, action: Action, before: &State, after: &State) -> String {
        let holds = |who: usize| after.clients[who].phase == Phase::Holds;
        let outcome = |who: usize| if holds(who) { ", and has the lock" } else { "" };
        match action {
            Action::Acquire { who } => {
                let outcome = if holds(who) { "has the lock" } else { "waits" };
                format!("{} {outcome}", NAMES[who])
            }
            Action::Release { who, knows } => {
                let how = match knows {
                    true => "calls",
                    false if self.publishes_release(&before.clients[who]) => "publishes",
                    false => "says nothing",
                };
                let called = (0..self.config.clients).find(|other| after.clients[*other].called);
                let called = called.map_or(String::new(), |other| format!(" {}", NAMES[other]));
                format!("{} releases, and {how}{called}", NAMES[who])
            }
            Action::Read { who } if before.clients[who].called => {
                format!("{} reads that it is called{}", NAMES[who], outcome(who))
            }
            Action::Read { who } => format!("{} is to watch", NAMES[who]),
            Action::Hear { who } => format!("{} reads that others wait", NAMES[who]),
            Action::Lose { who } => format!("a message to {} is lost", NAMES[who]),
            Action::Ask { who } => format!("{} asks{}", NAMES[who], outcome(who)),
            Action::Cancel { who } => format!("a waiter of {} gives up for another", NAMES[who]),
            Action::Stop { who } => format!("{} stops", NAMES[who]),
            Action::End { who } => format!("{} ends", NAMES[who]),
            Action::Die { who } => format!("{} ends as it holds, and its key expires", NAMES[who]),
            Action::StepBack => "the clock of the list's master is set back".to_owned(),
            Action::Restart => "the master of the list restarts empty".to_owned(),
            Action::Tick if after.drought > 0 => format!("a tick (free for {})", after.drought),
            Action::Tick => "a tick".to_owned(),
        }
    }
}

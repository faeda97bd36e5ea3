//! Bounds and traces in words, for people.

use super::config::Config;
use super::protocol::{Action, Line};
use super::state::{CLIENTS, Command, Kind, Stage, State};
use crate::run::{NAMES, Part};
use crate::settings::{counted, plural};

impl Part for Line {
    type Config = Config;
    type Search = ();

    const NAME: &'static str = "line";
    const HEADING: &'static str = "
# Who goes next

Clients that wait for one lock, or for a slot of a semaphore, in the line of one master. Commands of one client are
executed in order, at any later time; timers are due, and calls lapse, at any moment.
";

    fn new(config: Config) -> Self {
        Self::new(config)
    }

    fn bounds(config: &Config) -> String {
        let count = |kind: Kind| config.kinds.iter().filter(|other| **other == kind).count();
        let mut words: Vec<String> =
            [(Kind::Fair, "fair"), (Kind::Plain, "plain"), (Kind::Foreign, "foreign")]
                .into_iter()
                .filter(|(kind, _)| count(*kind) > 0)
                .map(|(kind, word)| format!("{} {word}", count(kind)))
                .collect();
        words.push(plural(config.nodes, "node"));
        words.extend((config.slots > 1).then(|| plural(config.slots, "slot")));
        words.extend(counted([
            (config.lapses, "lapse"),
            (config.losses, "loss"),
            (config.restarts, "lost line"),
            (config.fails, "master that ends"),
            (config.hangs, "hang"),
            (config.steps_back, "clock set back"),
            (config.stops, "client that stops"),
            (config.ends, "client that ends"),
            (config.leaves, "client that gives up"),
        ]));
        let conditions = [
            (usize::from(config.room) < config.kinds.len(), "a full line"),
            (config.again, "clients come again"),
            (config.cut, "one cut off from the first"),
            (config.stuck, "a key stuck at the first"),
        ];
        words.extend(
            conditions.into_iter().filter(|(is, _)| *is).map(|(_, words)| words.to_owned()),
        );
        words.join(", ")
    }

    fn sentence(&self, action: Action, before: &State, after: &State) -> String {
        let outcome = |who: usize| {
            let (was, is) = (&before.clients[who], &after.clients[who]);
            match is.stage {
                Stage::Holds if was.stage != Stage::Holds => ", and has the lock".to_owned(),
                _ if is.wait != was.wait => {
                    let wait = is.wait.map_or("out".to_owned(), |wait| format!("{wait:?}"));
                    format!(", and is {}", wait.to_lowercase())
                }
                _ => String::new(),
            }
        };
        let done = |who: usize, what: String| format!("{}{what}{}", NAMES[who], outcome(who));
        match action {
            Action::Come { who, .. } => done(who, " comes".to_owned()),
            Action::Run { who, node } => {
                let what = match before.clients[who].sent[node][0] {
                    Command::Set { slot, .. } => match before.masters[node].keys[usize::from(slot)]
                    {
                        0 => "'s SET is granted",
                        _ => "'s SET is refused",
                    },
                    Command::Delete { .. } => "'s key is deleted",
                    Command::Ask { .. } => " asks",
                    Command::Call { .. } => " calls",
                    Command::Leave | Command::None => " leaves the line",
                };
                let called = (0..CLIENTS).find(|other| {
                    let letters = |state: &State| state.clients[*other].called;
                    letters(before) != letters(after)
                });
                let called = called
                    .map_or(String::new(), |other| format!(" (a message calls {})", NAMES[other]));
                done(who, format!("{what} at {}{called}", node + 1))
            }
            Action::Called { who, at } => {
                done(who, format!(" reads that the line at {} calls it", at + 1))
            }
            Action::Wanted { who, at } => {
                done(who, format!(" reads that the line at {} wants its call", at + 1))
            }
            Action::Lose { who, .. } => format!("a message to {} is lost", NAMES[who]),
            Action::Due { who } => done(who, "'s timer is due".to_owned()),
            Action::DueAtAll { who } => done(who, "'s timer is due, for all masters".to_owned()),
            Action::Release { who } => done(who, " releases".to_owned()),
            Action::Silent { who } => done(who, " hears nothing from the first master".to_owned()),
            Action::Move { who } => done(who, " learns where the line is".to_owned()),
            Action::Lapse { at, .. } => format!("the call at {} lapses", at + 1),
            Action::Late { who, at } => {
                format!("{} has not asked at {} when it was due", NAMES[who], at + 1)
            }
            Action::Stop { who } => format!("{} stops", NAMES[who]),
            Action::End { who } => format!("{} ends", NAMES[who]),
            Action::Leave { who } => done(who, " gives up".to_owned()),
            Action::Expire { who } => format!("the keys of {} expire", NAMES[who]),
            Action::LoseLine => "the first master loses its line".to_owned(),
            Action::Fail => "the first master ends".to_owned(),
            Action::Hang => "the first master is silent".to_owned(),
            Action::Wake => "the first master answers again".to_owned(),
            Action::StepBack { at } => format!("the clock of master {} is set back", at + 1),
        }
    }
}

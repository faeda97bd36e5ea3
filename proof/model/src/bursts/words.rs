//! Bounds and traces in words, for people.

use super::config::Config;
use super::protocol::{Action, Bursts};
use super::state::State;
use crate::run::Part;
use crate::settings::plural;

impl Part for Bursts {
    type Config = Config;
    type Search = ();

    const NAME: &'static str = "bursts";
    const HEADING: &'static str = "
# Bursts

A client that begins many acquires at once, while it has a hold that it keeps alive, at masters that execute one command after
the other. A step takes 50 ms, an operation timeout 200, the ttl 3 s. A fast master executes 20 commands in a millisecond.
";

    fn new(config: Config) -> Self {
        Self::new(config)
    }

    fn bounds(config: &Config) -> String {
        let mut words = vec![format!("{} of {}", plural(config.bursts, "burst"), config.acquires)];
        words.push(if config.slow { "slow at first" } else { "fast at first" }.to_owned());
        words.push(format!("{} commands in a millisecond when slow", config.slowly / 10));
        words.extend((config.changes > 0).then(|| plural(config.changes, "change")));
        words.extend((config.wait < u16::MAX).then(|| format!("they wait {} steps", config.wait)));
        words.push(plural(config.steps, "step"));
        words.join(", ")
    }

    fn sentence(&self, action: Action, _: &State, after: &State) -> String {
        match action {
            Action::Burst => format!("{} acquires come", self.config.acquires),
            Action::Change if after.is_slow => "the master becomes slow".to_owned(),
            Action::Change => "the master becomes fast".to_owned(),
            Action::Pass => {
                let (open, limit) = (after.window.open, after.window.limit);
                format!("50 ms: {open} of {limit} rounds open, {} wait", after.waiting())
            }
        }
    }
}

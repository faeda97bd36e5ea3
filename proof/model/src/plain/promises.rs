//! What must happen to what no attempt wants any more.

use super::config::{ATTEMPTS, Config};
use super::mutants::Mutant;
use super::protocol::{Action, Protocol};
use super::state::{Phase, State};
use crate::fair::{Owed, Step};
use crate::net::Message;
use crate::promised::{Promised, Promises, breaks, holds};
use crate::run::{Kind, Run};

/// L3. To expire is no deletion: time stands still.
const DELETED: &[&str; 1] = &["what an attempt no longer wants is deleted before it could expire"];

impl Promises for Protocol {
    const PROMISED: &'static str = "promised of what is unwanted";

    fn endless(config: Config) -> Config {
        config
    }

    fn forgets(&self, state: State) -> State {
        state
    }

    fn count(&self, _: &str) -> usize {
        self.count()
    }

    fn owed(&self, _: &str, to: usize, state: &State) -> Owed {
        let attempt = &state.attempts[to];
        let is_unwanted = attempt.phase == Phase::Over && !attempt.left_alone && attempt.kept == 0;
        let mut keys = state.nodes[..self.config.nodes].iter().flat_map(|node| node.keys);
        let stands = keys.any(|key| usize::from(key.owner) == to + 1);
        if is_unwanted && stands { Owed::Asked } else { Owed::Kept }
    }

    /// A release is sent until it has arrived; anything else may be lost.
    fn class(&self, _: &str, action: Action, _: &State, _: &State) -> Step {
        match action {
            Action::Deliver { attempt, message: Message::Release, .. } => Step::Must(attempt as u8),
            Action::Tick | Action::Gain { .. } => Step::Rare,
            _ => Step::Free,
        }
    }
}

pub fn runs() -> Vec<Run<Promised<Protocol>>> {
    const { assert!(ATTEMPTS < 63) };
    let two = |name| Config::new(name, 3, 2).in_order(&[0, 1]);
    let twice = |name| Config::new(name, 3, 3).in_order(&[0, 1, 0]);
    let topped_up = || two("topped up after a refusal").nil_settles().rounds(&[1, 0]);
    let kept = [
        two("two clients"),
        twice("one of two clients tries twice"),
        two("an extension each").rounds(&[1, 1]),
        topped_up(),
        two("a script forgotten").forgets(),
        twice("one tries twice, a release late").forgets(),
        twice("one tries twice, a restart").restarts(1),
        two("a lock-delay").lock_delay(1),
        two("at least 3 ticks").at_least(3),
        two("two resources and one").claims(&[0b11, 0b01]),
    ];
    let broken = [
        (Mutant::RollbackSkipped, two("two clients")),
        (Mutant::NilSettlesHolds, topped_up()),
        (Mutant::DebtsWait, twice("one of two clients tries twice")),
    ];
    let kept = kept.into_iter().map(|config| holds(DELETED, config).quick());
    let broken = broken
        .into_iter()
        .map(|(mutant, config)| breaks(Kind::Mutant, DELETED, config.mutant(mutant)));
    kept.chain(broken).collect()
}

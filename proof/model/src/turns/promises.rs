//! What must happen where clients wait in turn.

use super::config::{self, Config};
use super::mutants::Mutant;
use super::protocol::{Action, Turns};
use super::runs::scenes;
use super::scripts::CLIENTS;
use super::state::{Stage, State};
use crate::fair::{Owed, Step};
use crate::promised::{Promised, Promises, breaks, holds};
use crate::run::{Kind, Run};

/// L1.
const WON: &str = "a lock that is free is won in the end by one that waits in turn";

/// L2.
const SERVED: &str = "a waiter in turn with a place is served in the end";

impl Promises for Turns {
    const PROMISED: &'static str = "promised of turns";

    fn endless(config: Config) -> Config {
        config.within(u8::MAX)
    }

    fn forgets(&self, state: State) -> State {
        let judged = State { drought: 0, fault: false, handed: false, opened: false, ..state };
        let mut state = State { passed: false, left: false, missing: false, late: false, ..judged };
        for node in &mut state.nodes {
            (node.before, node.ended, node.absent) = (Default::default(), false, 0);
        }
        state
    }

    fn count(&self, promise: &str) -> usize {
        if promise == WON { 1 } else { self.count() }
    }

    fn owed(&self, promise: &str, to: usize, state: &State) -> Owed {
        let could = |who: usize| {
            state.actors[who].stage == Stage::Waits && !self.config.clients[who].barred
        };
        let holds = state.actors.iter().any(|actor| actor.stage == Stage::Holds);
        match promise {
            WON if holds || !(0..self.count()).any(could) => Owed::Kept,
            SERVED if !could(to) => Owed::Kept,
            SERVED if state.actors[to].ticket == 0 => Owed::Open,
            _ => Owed::Asked,
        }
    }

    fn class(&self, _: &str, action: Action, _: &State, _: &State) -> Step {
        let must = |kind: usize, who: usize| Step::Must((kind * CLIENTS + who) as u8);
        match action {
            Action::Deliver { who, .. } => must(0, who),
            Action::Part { who, .. } => must(1, who),
            Action::Look { who } => must(2, who),
            Action::Try { who } => must(3, who),
            // A hold has an end, by itself or because it is not extended for ever.
            Action::Extend { who } => Step::Ends((4 * CLIENTS + who) as u8),
            Action::Release { who } => must(5, who),
            Action::Tick => Step::Time,
            _ => Step::Free,
        }
    }
}

pub fn runs() -> Vec<Run<Promised<Turns>>> {
    let barred = || Config::new("a waiter, and one that cannot win", 3, "FB");
    let kept = [barred(), scenes::waiter(), scenes::two()].into_iter().chain(scenes::short());
    let broken = [
        (Mutant::NeverWithdraws, &[WON], barred()),
        (Mutant::EntriesStay, &[WON], scenes::dead()),
        (Mutant::NoTicket, &[WON], scenes::crosswise()),
        (Mutant::NeverWithdraws, &[SERVED], barred()),
        (Mutant::EntriesStay, &[SERVED], scenes::dead()),
        (Mutant::NoTicket, &[SERVED], scenes::crosswise()),
    ];
    let kept = kept.map(|config| {
        // A plain client waits for no turn, and its release keeps nothing for those that do.
        let is_plain = config.clients.iter().any(|client| client.kind == config::Kind::Plain);
        let promises: &[&str] = if is_plain { &[WON] } else { &[WON, SERVED] };
        let is_small = config.clients.len() < 3 || config.crosswise;
        let run = holds(promises, config);
        if is_small { run.quick() } else { run }
    });
    let broken = broken
        .into_iter()
        .map(|(mutant, promise, config)| breaks(Kind::Mutant, promise, config.mutant(mutant)));
    kept.chain(broken).chain([breaks(Kind::Limit, &[SERVED], scenes::plain())]).collect()
}

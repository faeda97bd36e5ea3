//! What must happen where clients stand in a line.

use super::config::Config;
use super::mutants::Mutant;
use super::protocol::{Action, Line};
use super::state::{CLIENTS, Kind, Stage, State};
use crate::fair::{Owed, Step};
use crate::promised::{Promised, Promises, breaks, holds};
use crate::run;
use crate::run::Run;
use quorumlock_core::waiting::rules::Wait;

/// L1.
const WON: &str = "a lock that is free is won in the end by one that waits";

/// L2.
const SERVED: &str = "a waiter with a place is served in the end";

impl Promises for Line {
    const PROMISED: &'static str = "promised of the line";

    fn endless(config: Config) -> Config {
        config
    }

    fn forgets(&self, state: State) -> State {
        State { overtaken: false, ..state }
    }

    fn count(&self, promise: &str) -> usize {
        if promise == WON { usize::from(self.config.slots) } else { self.config.kinds.len() }
    }

    fn owed(&self, promise: &str, to: usize, state: &State) -> Owed {
        let waits = |who: usize| {
            state.clients[who].stage == Stage::Waits && self.kind(who) != Kind::Foreign
        };
        match promise {
            WON if state.is_held(to as u8) || !(0..self.config.kinds.len()).any(waits) => {
                Owed::Kept
            }
            SERVED if !waits(to) || state.clients[to].stamp == 0 => Owed::Kept,
            _ => Owed::Asked,
        }
    }

    /// A newcomer may win before a waiter that is called, for a while, and one behind others may split the votes with the
    /// first for a while: pauses are random. A foreign client does not come for ever.
    fn class(&self, promise: &str, action: Action, before: &State, after: &State) -> Step {
        let class = |kind: usize, place: usize| (kind * CLIENTS + place) as u8;
        let wins = |who: usize| {
            after.clients[who].stage == Stage::Holds && before.clients[who].stage != Stage::Holds
        };
        match action {
            Action::Run { who, node }
                if promise == SERVED && wins(who) && self.kind(who) != Kind::Fair =>
            {
                Step::Ends(class(node, who))
            }
            Action::Run { who, node } => Step::Must(class(node, who)),
            Action::Called { who, at } => Step::Must(class(3 + at, who)),
            Action::Wanted { who, at } => Step::Must(class(5 + at, who)),
            Action::DueAtAll { who } if before.clients[who].wait == Some(Wait::Behind) => {
                Step::Ends(class(15, who))
            }
            Action::Due { who } | Action::DueAtAll { who } => Step::Must(class(7, who)),
            Action::Release { who } => Step::Must(class(8, who)),
            Action::Silent { who } | Action::Move { who } => Step::Must(class(9, who)),
            Action::Lapse { at, slot } => Step::Must(class(10, at * 2 + usize::from(slot))),
            Action::Late { who, at } => Step::Must(class(11 + at, who)),
            Action::Expire { who } => Step::Must(class(13, who)),
            Action::Wake => Step::Must(class(14, 0)),
            Action::Come { who, .. } if self.kind(who) == Kind::Foreign => Step::Rare,
            _ => Step::Free,
        }
    }
}

/// Where two wait in different lines, and only two masters are left to them, they split the votes as long as they like:
/// there are no random pauses here.
const APART: &str = "a key is stuck, and one cannot reach the line's master";

pub fn runs() -> Vec<Run<Promised<Line>>> {
    use super::state::Kind::{Fair, Foreign, Plain};
    const TWO: &[Kind] = &[Fair, Plain];
    let of = Config::new;
    let again = [
        of("two fair ones come again", &[Fair, Fair]),
        of("a fair and a plain one come again", TWO),
        of("two plain ones come again", &[Plain, Plain]),
        of("a fair and a foreign one come again", &[Fair, Foreign]),
    ];
    let again = again.map(|config| holds(&[WON, SERVED], config.again()));
    let pairs = Config::pairs(TWO).filter(|config| config.name != APART);
    let kept = pairs.map(|config| holds(&[WON], config).quick());
    let broken = [
        (Mutant::LineDecides, "a key is stuck"),
        (Mutant::CallForGood, "one stops"),
        (Mutant::LateStay, "a key is stuck, and one stops"),
        (Mutant::NotAskedAgain, "a message gets lost"),
    ];
    let broken = broken.map(|(mutant, name)| {
        breaks(run::Kind::Mutant, &[WON], Config::named(name, TWO).mutant(mutant))
    });
    let ties = [of("the line is full", TWO).room(0), Config::named(APART, TWO)];
    let ties = ties.map(|config| breaks(run::Kind::Limit, &[WON], config));
    again.into_iter().chain(kept).chain(broken).chain(ties).collect()
}

//! What must happen where readers and writers wait.

use super::config::Config;
use super::mutants::Mutant;
use super::protocol::{Action, Waiting};
use super::state::{Phase, State};
use crate::fair::{Owed, Step};
use crate::promised::{Promised, Promises, breaks, holds};
use crate::run::{Kind, Run};
use crate::sharing::scripts::CONTENDERS;

const WRITERS: &str = "where a writer waits, one gets in in the end";
const READERS: &str = "a reader that no writer keeps out gets in in the end";
const BOTH: &[&str] = &[WRITERS, READERS];

const fn waits(phase: Phase) -> bool {
    matches!(phase, Phase::Waiting | Phase::Queued | Phase::Trying | Phase::Backing)
}

impl Promises for Waiting {
    const PROMISED: &'static str = "promised of readers and writers";

    fn endless(config: Config) -> Config {
        config.within(u8::MAX, u8::MAX)
    }

    fn forgets(&self, state: State) -> State {
        let mut state = State { drought: 0, busy: false, ..state };
        state.actors.iter_mut().for_each(|actor| actor.waited = 0);
        state
    }

    fn count(&self, promise: &str) -> usize {
        if promise == WRITERS { 1 } else { self.count() }
    }

    fn owed(&self, promise: &str, to: usize, state: &State) -> Owed {
        let phase = |who: usize| state.actors[who].phase;
        let stays = |who: usize| {
            let client = &self.config.clients[who];
            self.writes(state, who) && !client.gives_up && !client.plain && waits(phase(who))
        };
        let all = || 0..self.count();
        let is_kept = if promise == WRITERS {
            let holds = |who: usize| self.writes(state, who) && phase(who) == Phase::Held;
            all().any(holds) || !all().any(stays)
        } else {
            let reads = self.config.clients[to].reads && waits(phase(to));
            !reads || all().any(|who| self.writes(state, who))
        };
        if is_kept { Owed::Kept } else { Owed::Asked }
    }

    /// One that waits tries once in a tick, or more often if it likes.
    fn class(&self, _: &str, action: Action, before: &State, _: &State) -> Step {
        let is_due = |who: usize| {
            let actor = &before.actors[who];
            actor.phase == Phase::Waiting && !actor.tried
        };
        match action {
            Action::Deliver { who, .. } => Step::Must(who as u8),
            Action::Try { who } if is_due(who) => Step::Must((CONTENDERS + who) as u8),
            Action::Tick => Step::Time,
            _ => Step::Free,
        }
    }
}

pub fn runs() -> Vec<Run<Promised<Waiting>>> {
    let of = |name, letters| Config::new(name, 3, letters);
    let single = |name, letters| Config::new(name, 1, letters);
    let crashes = || of("a writer that crashes, a reader", "WR").crashes();
    let two_writers = || single("one node, a writer and one that gives up, a reader", "WGR");
    let asleep = || of("a reader sleeps, a writer that crashes", "WR").crashes().sleeps();
    let kept = [
        asleep(),
        of("a writer waits for two readers", "WRR"),
        of("a writer waits, a node down", "WRR").down(0b100),
        of("a writer waits, a restart", "WR").restarts(1),
        two_writers(),
        single("one node, a writer behind a plain acquire, two readers", "PWRR").together(2),
        crashes(),
        of("a reader sleeps, a writer that gives up", "GR").sleeps(),
        of("a reader sleeps, a writer that downgrades", "DR").ttl(&[6, 2]).sleeps(),
    ];
    let two = || of("a writer waits for two readers", "WRR");
    let broken = [
        (Mutant::HintNeverSet, &[WRITERS], two()),
        (Mutant::HintIgnoredByOne, &[WRITERS], two()),
        (Mutant::HintDeletedWhenGivenUp, &[WRITERS], two_writers()),
        (Mutant::HintNeverExpires, &[READERS], crashes()),
        (Mutant::NeverWakes, &[READERS], asleep()),
    ];
    let kept = kept.into_iter().map(|config| holds(BOTH, config).quick());
    let broken = broken
        .into_iter()
        .map(|(mutant, promise, config)| breaks(Kind::Mutant, promise, config.mutant(mutant)));
    kept.chain(broken).collect()
}

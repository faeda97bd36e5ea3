//! What must happen where clients wait in a list.

use super::config::Config;
use super::mutants::Mutant;
use super::protocol::{Action, Listed};
use super::state::{CLIENTS, Client, Phase, State};
use crate::fair::{Owed, Step};
use crate::promised::{Promised, Promises, breaks, holds};
use crate::run::{Kind, Run};

/// L1.
const WON: &str = "a lock that is free is won in the end by one that waits";

/// L2.
const SERVED: &str = "a waiter with a place is served in the end";

impl Promises for Listed {
    const PROMISED: &'static str = "promised of lists";

    fn endless(config: Config) -> Config {
        config.within(u8::MAX)
    }

    fn forgets(&self, state: State) -> State {
        let mut state = State { drought: 0, ..state };
        state.clients.iter_mut().for_each(|client| (client.came, client.passed) = (0, 0));
        state
    }

    fn count(&self, promise: &str) -> usize {
        if promise == WON { usize::from(self.config.slots) } else { self.config.clients }
    }

    fn owed(&self, promise: &str, to: usize, state: &State) -> Owed {
        let waits = |who: usize| state.clients[who].phase == Phase::Waiting;
        match promise {
            WON if state.is_held(to as u8) || !(0..CLIENTS).any(waits) => Owed::Kept,
            SERVED if !waits(to) || state.clients[to].stamp == 0 => Owed::Kept,
            _ => Owed::Asked,
        }
    }

    /// A holder releases in the end. One that comes may find the lock free before one that is called does: for a while.
    fn class(&self, promise: &str, action: Action, before: &State, after: &State) -> Step {
        let is_served = promise == SERVED;
        let class = |kind: usize, who: usize| (kind * CLIENTS + who) as u8;
        let others = |is: fn(&Client) -> bool, who: usize| {
            let mut clients = before.clients.iter().enumerate();
            clients.any(|(other, client)| other != who && is(client))
        };
        let wins = |who: usize| is_served && after.clients[who].phase == Phase::Holds;
        match action {
            Action::Acquire { who } => {
                let passes = wins(who) && others(|client| client.phase == Phase::Waiting, who);
                if passes { Step::Rare } else { Step::Free }
            }
            Action::Lose { .. } if is_served => Step::Rare,
            Action::Release { who, .. } => Step::Must(class(0, who)),
            Action::Read { who } => Step::Must(class(1, who)),
            Action::Hear { who } => Step::Must(class(3, who)),
            Action::Ask { who } => {
                let outruns = wins(who) && others(|client| client.called, who);
                if outruns { Step::Ends(class(2, who)) } else { Step::Must(class(2, who)) }
            }
            Action::Tick => Step::Time,
            _ => Step::Free,
        }
    }
}

pub fn runs() -> Vec<Run<Promised<Listed>>> {
    let of = Config::new;
    let lost = || of("messages get lost", 3).lossy();
    let stuck = || of("a key is stuck", 3).stuck();
    let set_back = || of("a clock is set back", 3).steps_back(1);
    let three = || of("three wait", 3);
    let gone = || of("a key is stuck, and a waiter ends", 3).stuck().ends(1);
    let alone = [three(), lost(), stuck(), set_back(), gone()];
    let kept = alone.into_iter().chain(Config::pairs(3)).map(|config| {
        // One that takes another node for the first calls none of those that wait elsewhere.
        let promises: &[&str] = if config.cut { &[WON] } else { &[WON, SERVED] };
        holds(promises, config).quick()
    });
    let broken = [
        (Mutant::NoPolls, &[WON], lost()),
        (Mutant::ListDecides, &[WON], stuck()),
        (Mutant::OverdueStay, &[WON], gone()),
        (Mutant::ClockDecides, &[SERVED], set_back()),
        (Mutant::StampsAreNew, &[SERVED], three()),
    ];
    let broken = broken
        .into_iter()
        .map(|(mutant, promise, config)| breaks(Kind::Mutant, promise, config.mutant(mutant)));
    let cut = of("one takes another node for the first", 3).cut();
    kept.chain(broken).chain([breaks(Kind::Limit, &[SERVED], cut)]).collect()
}

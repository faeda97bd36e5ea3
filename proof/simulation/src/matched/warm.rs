//! What only page `warm` has: the turns of tasks.

use super::lock::{Kind, Lock};
use evaluator::Element;

impl Lock {
    /// A task gets a hold, with this number if it is fenced. Returns its turn.
    pub(super) fn passes_on(
        &mut self,
        now: i64,
        name: &str,
        number: i64,
    ) -> Result<Option<Element>, String> {
        let Some(token) = self.covered(name) else {
            return Ok(None);
        };
        if self.kind != Kind::Warm {
            return Ok(None);
        }
        self.tick(now)?;
        let turn = self.steps.state.add("Turn");
        self.steps.state.set("turn_at", &[turn], token);
        self.known[token as usize].turns.push(turn);
        let state = &self.steps.state;
        let changes = [
            state.to("taken", &[turn], 1),
            state.to("active", &[turn], 1),
            state.to("number", &[turn], number),
            state.to("last", &[token], number),
        ];
        self.steps.step("pass_on", &[("h0", turn), ("d0", number)], &changes)?;
        Ok(Some(turn))
    }

    /// A guard is over, and all leases of it.
    pub(super) fn gives_back(&mut self, now: i64, turn: Element) -> Result<(), String> {
        self.tick(now)?;
        let to = self.steps.state.to("active", &[turn], 0);
        self.steps.step("give_back", &[("h0", turn)], &[to])
    }

    /// Puts aside the turns of a token, but for the last of them and what may still be valid.
    pub(super) fn put_turns_aside(&mut self, token: Element) {
        let turns = &self.known[token as usize].turns;
        for turn in turns.iter().rev().skip(1) {
            if !self.steps.state.is("active", &[*turn]) {
                self.steps.state.set_live("Turn", *turn, false);
            }
        }
    }

    /// Returns whether no token was won with a greater number: those of later wins are compared with it.
    pub(super) fn has_greatest(&self, token: Element) -> bool {
        if self.kind != Kind::Warm {
            return false;
        }
        let state = &self.steps.state;
        let end = |token: Element| {
            let first = state.value("first_won_in", &[token]);
            state.value("ballot", &[first]) + state.value("block", &[token])
        };
        let is_won = |token: Element| state.is("held", &[token]) && state.is("fenced", &[token]);
        let own = end(token);
        is_won(token)
            && state.live("Token").iter().all(|other| !is_won(*other) || end(*other) <= own)
    }
}

//! What only page `min_hold` has: the mark before a token, and what is opened, shortened and ended.

use super::exact::{SLOWEST, Span};
use super::lock::{Found, Kind, Lock};
use evaluator::Element;

/// How a client gives a token up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum End {
    /// Its work has ended well, or another process goes on: its keys may stay.
    Well,
    /// Its keys are to be deleted.
    Open,
}

impl Lock {
    /// Notes for how long the keys of a token that was won are to stay, by the clock of its client.
    pub(super) fn stays_for(&mut self, token: Element, span: i64) {
        self.steps.state.set("min_hold", &[token], span);
    }

    /// Returns whether what a client of this token has locked stays closed, whatever becomes of it.
    pub(super) fn stays_closed(&self, token: Element, start: i64) -> bool {
        let state = &self.steps.state;
        self.kind == Kind::MinHold
            && !state.is("opened", &[token])
            && state.value("now", &[]) < start + state.value("min_hold", &[token])
    }

    /// A client gives a token up.
    pub(super) fn ends(&mut self, now: i64, token: Element, end: End) -> Result<(), String> {
        let state = &self.steps.state;
        let is_known = match end {
            End::Well => state.is("over", &[token]),
            End::Open => state.is("opened", &[token]),
        };
        if is_known {
            return Ok(());
        }
        self.tick(now)?;
        let state = &self.steps.state;
        let mut changes = vec![state.to("over", &[token], 1)];
        if end == End::Open {
            changes.push(state.to("opened", &[token], 1));
        }
        let action = if end == End::Open { "opens" } else { "ends_well" };
        self.steps.step(action, &[("t0", token)], &changes)
    }

    /// Returns whether a master has shortened a token that was handed on. A SET that its first client sent before that may
    /// arrive later (seed 0x4ce96046021810f5): the page has one client for a token, and each of its connections in order.
    pub(super) fn is_behind_end(&self, node: Element, name: &str) -> bool {
        let handed_on = |token: &&Element| self.known[**token as usize].has_left;
        let token = self.tokens.get(name).filter(handed_on);
        self.kind == Kind::MinHold
            && token.is_some_and(|token| self.steps.state.is("marked", &[*token, node]))
    }

    /// Another process measures from now on what is left, by its own clock.
    pub(super) fn is_measured_anew(&mut self, token: Element) {
        if self.kind != Kind::MinHold {
            return;
        }
        let state = &mut self.steps.state;
        let span = state.value("min_hold", &[token]);
        let by_other = Span(span.unsigned_abs()).at_least(2 * SLOWEST).max(0);
        state.set("min_hold", &[token], by_other);
    }

    /// A key is gone that its client gave up.
    pub(super) fn is_deleted(&mut self, node: Element, key: Element) -> Result<(), String> {
        let parameters = [("n0", node), ("t0", key)];
        let changes = [self.steps.state.to("has", &[node], 0)];
        match self.steps.takes("release", &parameters, &changes)? {
            None => Ok(()),
            Some(_) if self.kind == Kind::MinHold => {
                self.steps.step("release_late", &parameters, &changes)
            }
            Some((_, wrong)) => Err(wrong),
        }
    }

    /// A master has left a key what is left of its time, and put the mark before its token. Returns `false` if it has not.
    pub(super) fn shortens(
        &mut self,
        now: i64,
        node: Element,
        found: Option<&Found>,
    ) -> Result<bool, String> {
        let Some(found) = found.filter(|found| found.is_done) else { return Ok(false) };
        let Some(token) = self.token(&found.token) else { return Ok(false) };
        if !self.is_under(&[node], token) {
            return Err(format!("a mark before {} is set where that was not", found.token));
        }
        let state = &self.steps.state;
        if state.is("done", &[node]) && state.value("ends", &[node]) == found.ends {
            self.steps.stutters += 1;
            return Ok(true);
        }
        self.tick(now)?;
        let state = &self.steps.state;
        let changes = [
            state.to("ends", &[node], found.ends),
            state.to("done", &[node], 1),
            state.to("marked", &[token, node], 1),
        ];
        let parameters = [("t0", token), ("n0", node), ("d0", found.ends)];
        self.steps.step("shorten", &parameters, &changes)?;
        Ok(true)
    }

    /// A caller hears that a quorum has shortened its keys, unless their time is over.
    pub(super) fn confirmed(&mut self, now: i64, name: &str) -> Result<(), String> {
        let Some(token) = self.token_of(Kind::MinHold, name) else {
            return Ok(());
        };
        self.tick(now)?;
        let state = &self.steps.state;
        let began = state.value("start", &[self.known[token as usize].rounds[0]]);
        let is_over = now >= began + state.value("min_hold", &[token]);
        if is_over || state.is("ended", &[token]) {
            self.steps.stutters += 1;
            return Ok(());
        }
        let mut nearest = (0, String::new());
        for quorum in self.quorums[0].clone() {
            let state = &self.steps.state;
            let changes = [
                state.to("ended", &[token], 1),
                state.to("ended_by", &[token], quorum),
                state.to("ended_at", &[token], now),
            ];
            let parameters = [("t0", token), ("q0", quorum)];
            match self.steps.takes("confirmed", &parameters, &changes)? {
                None => return Ok(()),
                Some(misfit) if misfit.0 >= nearest.0 => nearest = misfit,
                Some(_) => {}
            }
        }
        Err(nearest.1)
    }
}

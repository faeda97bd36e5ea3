//! What only page `handover` has: SETs on their way, detachments and adoptions.

use super::lock::{Kind, Lock};
use super::min_hold::End;
use evaluator::Element;

impl Lock {
    /// A client sends a SET to a master.
    pub(super) fn sends_set(&mut self, now: i64, name: &str, node: Element) -> Result<(), String> {
        let Some(token) = self.token_of(Kind::HandOver, name) else {
            return Ok(());
        };
        self.tick(now)?;
        let to = self.steps.state.to("late", &[token, node], 1);
        self.steps.step("send_set", &[("t0", token), ("n0", node)], &[to])
    }

    /// Nothing of a token is on its way to a master any more.
    pub(super) fn none_late(&mut self, now: i64, name: &str, node: Element) -> Result<(), String> {
        let Some(token) = self.token_of(Kind::HandOver, name) else {
            return Ok(());
        };
        if !self.steps.state.is("late", &[token, node]) {
            return Ok(());
        }
        self.tick(now)?;
        let to = self.steps.state.to("late", &[token, node], 0);
        self.steps.step("none_late", &[("t0", token), ("n0", node)], &[to])
    }

    /// A client begins its last extension of a token.
    pub(super) fn leaving(
        &mut self,
        now: i64,
        token: Element,
        round: Element,
    ) -> Result<(), String> {
        self.stays(token)?;
        let state = &self.steps.state;
        let changes = [
            state.to("begun", &[round], 1),
            state.to("start", &[round], now),
            state.to("leaving", &[token], 1),
            state.to("left_at", &[token], now),
        ];
        self.steps.step("leave", &[("r0", round)], &changes)
    }

    fn stays(&mut self, token: Element) -> Result<(), String> {
        if !self.steps.state.is("leaving", &[token]) || self.steps.state.is("value", &[token]) {
            return Ok(());
        }
        let to = self.steps.state.to("leaving", &[token], 0);
        self.steps.step("return", &[("t0", token)], &[to])
    }

    /// Too few masters have confirmed the last extension of a token.
    pub(super) fn returns(&mut self, now: i64, name: &str) -> Result<(), String> {
        let Some(token) = self.token_of(Kind::HandOver, name) else {
            return Ok(());
        };
        self.tick(now)?;
        self.stays(token)
    }

    /// A token has become a value that names these masters.
    pub(super) fn detached(
        &mut self,
        now: i64,
        name: &str,
        named: &[Element],
    ) -> Result<bool, String> {
        if self.kind != Kind::HandOver {
            return self.leaves(now, name, End::Well);
        }
        let Some(token) = self.covered(name) else {
            return Ok(true);
        };
        self.tick(now)?;
        for node in self.steps.state.live("Node").to_vec() {
            self.steps.state.set("more", &[node], i64::from(named.contains(&node)));
        }
        let rounds: Vec<Element> =
            self.known[token as usize].rounds[1..].iter().rev().copied().collect();
        let deadline = self.steps.state.value("deadline", &[token]);
        let began = self.steps.state.value("left_at", &[token]);
        let deadline = deadline.min(began + self.steps.state.value("trust", &[token]));
        self.rests("detach", token, &rounds, deadline)?;
        Ok(true)
    }

    /// Another client has adopted a value. Returns whether the page can see it: one that was taken away by force
    /// meanwhile has been given up there, and its new holder sets keys.
    pub(super) fn adopted(&mut self, now: i64, name: &str, deadline: i64) -> Result<bool, String> {
        let Some(token) = self.tokens.get(name).copied() else { return Ok(true) };
        if self.known[token as usize].has_left {
            self.is_measured_anew(token);
            return Ok(self.kind != Kind::HandOver);
        }
        if self.kind != Kind::HandOver {
            return Err(format!("{name} is adopted, and was never detached"));
        }
        self.steps.state.set_live("Token", token, true);
        self.tick(now)?;
        let rounds: Vec<Element> =
            self.known[token as usize].rounds[1..].iter().rev().copied().collect();
        self.rests("adopt", token, &rounds, deadline).map(|()| true)
    }

    pub(super) fn has_values(&self) -> bool {
        let is_value = |token: &&Element| {
            self.steps.state.is("value", &[**token]) && !self.steps.state.is("over", &[**token])
        };
        self.kind == Kind::HandOver
            && self.steps.state.live("Token").iter().any(|token| is_value(&token))
    }
}

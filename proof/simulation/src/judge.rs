//! The checks after each step.

use super::bounds::FIRST;
use super::client::{Held, owner};
use super::clock::{Time, millis};
use super::flaw::Flaw;
use super::invariants::{
    Change, Holder, Left, Stood, Verdict, at_most, is_reported_in_time, marks_stand, on_a_quorum,
    one_holder,
};
use super::jam::Jam;
use super::master::MARK;
use super::plan::Mode;
use super::setup::DRIFT;
use super::world::World;
use quorumlock_core::quorum::NodeSet;
use std::time::Duration;

/// How much longer than the quarantine a fence is kept.
pub(super) const FENCES_STAY: Duration = millis(1_000);

/// The resources that can be locked.
pub(super) const KEYS: [&str; 2] = ["a", "b"];

impl World {
    pub(super) fn judge(&mut self) -> Verdict {
        let now = self.agenda.now;
        let mut valid: Vec<Holder<'_>> = Vec::new();
        let mut permits: Vec<&str> = Vec::new();
        for client in &self.clients {
            if client.machine.is_none() || client.holds.is_empty() {
                continue;
            }
            let local = client.clock.at(now);
            let lateness = self.setup.lateness + millis(1);
            let awake =
                client.paused == 0 && now > client.resumed_at + 2 * super::clock::nanos(lateness);
            for held in client.holds.values().filter(|held| !held.is_over) {
                if awake {
                    is_reported_in_time(&held.token, held.deadline, local, lateness)?;
                }
                if !held.is_valid(local) || self.invariants.owners.is_named(&held.token) {
                    continue;
                }
                if self.setup.has_slots() {
                    let (token, keys) = (&*held.token, held.asked.keys);
                    valid.push(Holder { token, keys, reads: held.asked.mode == Mode::Read });
                }
                permits.extend(held.asked.is_permit.then_some(&*held.token));
                if !self.setup.flaw.is_some_and(Flaw::hides_the_quorum) {
                    let counts =
                        |node: &usize| self.keeps_others_out(*node, client.seat, held, now);
                    let nodes: NodeSet = (0..self.masters.len()).filter(counts).collect();
                    on_a_quorum(&held.token, self.setup.kind(client.seat).members, nodes)?;
                }
            }
        }
        if !self.is_at_odds() {
            at_most(self.setup.permits, &permits)?;
        }
        one_holder(&valid, |token, other| self.grounds.excuse(&self.setup, token, other))?;
        self.judge_liveness()
    }

    fn keeps_others_out(&self, node: usize, seat: usize, held: &Held, now: Time) -> bool {
        let master = &self.masters[node];
        let stands = |key: &&str| match master.value(key, now) {
            Some(MARK) if held.asked.mode == Mode::Read => {
                master.readers(key, now).iter().any(|(reader, _)| *reader == held.token)
            }
            value => value == Some(held.token.as_str()),
        };
        self.may_not_vote(node, now, self.setup.kind(seat).quarantine)
            || held.asked.keys.iter().all(stands)
    }

    pub(super) fn judge_load(&self, client: usize) -> Verdict {
        let state = &self.clients[client];
        let attempts = state.tokens.load(std::sync::atomic::Ordering::Relaxed);
        let attempts = usize::try_from(attempts).unwrap_or(usize::MAX) + state.adopts;
        // The withdrawal of a client's note is a debt, too.
        let withdrawn = usize::from(self.is_at_odds());
        let is_burst = self.setup.jam.as_ref().is_some_and(Jam::is_burst);
        // Rounds of a burst that are over wait for their stragglers, too.
        let open = state.open() + if is_burst { FIRST as usize } else { 0 };
        state.load().judge(open, attempts + withdrawn, self.masters.len())
    }

    pub(super) fn stood(&self, node: usize, key: &str) -> Stood {
        let (master, now) = (&self.masters[node], self.agenda.now);
        Stood {
            value: master.value(key, now).map(str::to_owned),
            remaining: master.remaining(key, now),
            readers: master.readers(key, now),
        }
    }

    pub(super) fn judge_readers(
        &self,
        key: &str,
        by: usize,
        before: &Stood,
        after: &Stood,
    ) -> Verdict {
        if self.setup.flaw.is_some_and(Flaw::hides_the_quorum) {
            return Ok(());
        }
        let is_new = |reader: &str| before.left(reader).is_none() && self.writes(reader);
        if let Some((reader, _)) = after.readers.iter().find(|(reader, _)| is_new(reader)) {
            return Err(format!("{reader} becomes a reader of {key}, and its guard writes"));
        }
        let owns = |token: &str| self.owner_of(token) == Some(by);
        marks_stand(key, before, after, owns, |token| self.is_held(token))
    }

    /// Returns whether a token is that of a writer, as its holder sees it.
    fn writes(&self, token: &str) -> bool {
        let owner = self.owner_of(token).map(|owner| &self.clients[owner]);
        let held = owner.and_then(|owner| owner.holds.values().find(|held| held.token == token));
        held.is_some_and(|held| held.asked.mode == Mode::Write && !held.is_over)
    }

    fn owner_of(&self, token: &str) -> Option<usize> {
        self.adopters.get(token).copied().or_else(|| owner(token))
    }

    /// Returns whether a clock went back by as much as fences are kept beyond the window's width: one that expired
    /// meanwhile is forgotten.
    pub(super) fn forgets_fences(&self) -> bool {
        let kinds = (0..self.setup.seats()).map(|seat| self.setup.kind(seat));
        let beyond = kinds.map(|kind| {
            let kept = kind.quarantine + FENCES_STAY;
            kept.saturating_sub(kind.window.width())
        });
        let beyond = beyond.min().unwrap_or_default();
        self.masters.iter().any(|master| master.clock.prolongs() >= beyond)
    }

    /// Returns whether the holder believes in a token, and has not given it up.
    fn is_held(&self, token: &str) -> bool {
        self.owner_of(token).is_some_and(|owner| {
            let client = &self.clients[owner];
            let local = client.clock.at(self.agenda.now);
            client.holds.values().any(|held| held.token == token && held.is_valid(local))
        })
    }

    pub(super) fn judge_change(
        &self,
        node: usize,
        key: &str,
        by: usize,
        before: Option<&str>,
        after: Option<&str>,
    ) -> Verdict {
        let now = self.agenda.now;
        // A writer that becomes a reader holds on, and readers are judged apart.
        if let Some(before) = before.filter(|before| *before != MARK) {
            let (owner, is_held) = (self.owner_of(before), self.is_held(before));
            let is_held = is_held && after != Some(MARK);
            let change = Change { key, by, before, after, owner, is_held };
            self.invariants.owners.judge(&change)?;
            if after != Some(MARK) && !self.invariants.owners.is_named(before) {
                self.invariants.closed.goes(key, before)?;
            }
        }
        let Some(value) = after else { return Ok(()) };
        let master = &self.masters[node];
        let set_back = master.clock.prolongs();
        let remaining = master.remaining(key, now);
        // Keys that stay for so long have the drift of it, too.
        let longest = self.setup.max_ttl + DRIFT.of(self.setup.max_ttl) + set_back;
        Left { node, key, value, remaining }.judge_life(longest)
    }
}

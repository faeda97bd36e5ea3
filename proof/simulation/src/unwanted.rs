//! What no caller wants any more: it is deleted at every master that its client reaches. A key or a reader that an
//! attempt has left, a hold that was kept warm for its time, and a waiter's entry in a list.

use super::agenda::LineId;
use super::client::owner;
use super::clock::nanos;
use super::invariants::{Unwanted, Verdict};
use super::judge::KEYS;
use super::liveness::WELL_AFTER;
use super::master::MARK;
use super::network::ROOMY;
use super::plan::{Asked, Mode};
use super::world::World;
use quorumlock_core::coordinator::wire::DONE;
use std::collections::BTreeMap;
use std::time::Duration;

/// The list of a resource, as `Setup::settings` names it.
pub(super) const LISTS: &str = "quorumlock:waitlist:";

impl World {
    /// Checks that what no caller wants is deleted in time.
    pub(super) fn judge_unwanted(&mut self) -> Verdict {
        let (now, mut lasting) = (self.agenda.now, BTreeMap::new());
        if !self.setup.may_strand() {
            for node in 0..self.masters.len() {
                KEYS.iter().for_each(|key| self.see_unwanted(node, key, &mut lasting));
            }
        }
        let lines = &self.lines;
        self.invariants.unwanted.judge(now, lasting, |(id, key, left)| {
            format!("no caller wants {left}, which is at {key} on n{}", lines[id.0].node + 1)
        })?;
        self.judge_asked_for()
    }

    fn see_unwanted(&self, node: usize, key: &str, all: &mut BTreeMap<Unwanted, Duration>) {
        let (master, now) = (&self.masters[node], self.agenda.now);
        if !master.reads() || master.is_replica || master.denials > 0 || master.clock.stepped != 0 {
            return;
        }
        let mut see = |left: &str, longest: Option<(LineId, Duration)>| {
            if let Some((id, longest)) = longest {
                all.insert((id, key.to_owned(), left.to_owned()), longest);
            }
        };
        if let Some(value) = master.raw(key, now)
            && value != MARK
            && !value.starts_with(DONE)
        {
            see(value, self.unwanted_token(node, key, value));
        }
        for (reader, _) in master.readers(key, now) {
            see(&reader, self.unwanted_token(node, key, &reader));
        }
        if self.setup.has_waitlists && !self.have_denied.contains(node) {
            for (waiter, _) in master.listed(&format!("{LISTS}{key}"), now) {
                see(&waiter, self.unwanted_waiter(node, key, &waiter));
            }
        }
    }

    /// Returns the connection to a master of a client that runs, and reaches it.
    fn reaches(&self, client: usize, node: usize) -> Option<LineId> {
        let state = self.clients.get(client)?;
        let id = state.lines[node]?;
        let is_cut = self.cuts.iter().any(|cut| cut.is_between(state.seat, node));
        let is_slow = self.slowness.iter().any(|slow| slow.node == node);
        let runs = state.machine.is_some() && state.paused == 0 && !state.is_ending;
        let line = &self.lines[id.0];
        let is_open = line.room >= ROOMY && line.server.is_some() && !line.is_dropped;
        (runs && is_open && !is_cut && !is_slow).then_some(id)
    }

    /// Returns for how long a token may stay at a master, unless its client wants it there.
    fn unwanted_token(&self, node: usize, key: &str, token: &str) -> Option<(LineId, Duration)> {
        let client = owner(token)?;
        let id = self.reaches(client, node)?;
        let state = &self.clients[client];
        let is_held = state.holds.values().any(|held| held.token == token);
        let is_handed_on = !state.detaching.is_empty()
            || !state.adopting.is_empty()
            || self.adopters.contains_key(token);
        let may_stay = self.kept.contains(token) || self.invariants.owners.is_named(token);
        let is_warm = self.invariants.never_again.is_idle(token)
            && self.warm_until.get(token).is_none_or(|until| self.agenda.now < *until);
        if is_held || is_handed_on || may_stay || is_warm {
            return None;
        }
        let deleted_within = self.setup.deleted_within(self.slowest());
        let concerns = |asked: &Asked| asked.is_permit || asked.keys.contains(&key);
        // It may be that of an attempt that is under way.
        let under_way = match state.asked.values().any(concerns) {
            true => self.setup.operation_timeout,
            false => Duration::ZERO,
        };
        Some((id, under_way + deleted_within))
    }

    /// Returns for how long the place of a waiter may stay at a master whose client has none that waits.
    fn unwanted_waiter(&self, node: usize, key: &str, waiter: &str) -> Option<(LineId, Duration)> {
        let client = owner(waiter)?;
        let id = self.reaches(client, node)?;
        let state = &self.clients[client];
        let waits = |asked: &Asked| {
            let may_stand = matches!(asked.mode, Mode::Alone | Mode::Fair);
            may_stand && (asked.is_permit || asked.keys.contains(&key))
        };
        // What was lost with its connection, or could not be taken back, lapses by itself.
        if !self.lines[id.0].waiters.contains(waiter) {
            return None;
        }
        if state.asked.values().any(waits) || !state.adopting.is_empty() {
            return None;
        }
        Some((id, self.setup.deleted_within(self.slowest())))
    }

    /// Checks that what is kept warm in one client is given back to another that asks for it.
    fn judge_asked_for(&mut self) -> Verdict {
        let mut lasting = BTreeMap::new();
        let is_well = self.setup.denied.is_empty()
            && self.is_untroubled(WELL_AFTER)
            && self.setup.is_warm
            && self.setup.wake_ups;
        let longest = self.setup.gives_way_within(self.slowest());
        for (token, until) in self.warm_until.iter().filter(|_| is_well) {
            let is_idle = self.invariants.never_again.is_idle(token);
            if !is_idle || self.agenda.now > *until {
                continue;
            }
            let Some(holder) = owner(token).filter(|client| {
                !self.adopters.contains_key(token) && self.clients[*client].machine.is_some()
            }) else {
                continue;
            };
            let is_at = |node: usize, key: &str| {
                self.masters[node].raw(key, self.agenda.now) == Some(token.as_str())
            };
            let is_there = |key: &&&str| (0..self.masters.len()).all(|node| is_at(node, key));
            let Some(key) = KEYS.iter().find(is_there) else { continue };
            let asks = |(place, client): (usize, &super::client::Client)| {
                let waits = |asked: &Asked| {
                    *asked.keys == [*key] && !asked.is_permit && asked.mode == Mode::Alone
                };
                place != holder
                    && self.setup.asks(client.seat)
                    && client.asked.values().any(waits)
                    && client.nodes.iter().all(|node| self.is_linked_to(place, *node))
            };
            let hears =
                self.clients[holder].nodes.iter().all(|node| self.is_linked_to(holder, *node));
            if hears && self.clients.iter().enumerate().any(asks) {
                lasting.insert(token.clone(), longest);
            }
        }
        self.invariants.asked_for.judge(self.agenda.now, lasting, |token| {
            format!("{token} is kept warm, and another client asks for it")
        })
    }

    /// Notes that a hold is kept warm from now on.
    pub(super) fn note_warm(&mut self, place: usize, token: &str, warm: Duration) {
        let (now, client) = (self.agenda.now, &self.clients[place]);
        // Clients' clocks are not the world's, and timers are late.
        let warm = warm + warm / 50 + 2 * self.setup.lateness;
        let resumed = nanos(warm) + now.max(client.resumed_at);
        self.warm_until.insert(token.to_owned(), resumed);
    }
}

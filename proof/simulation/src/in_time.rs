//! What a quorum would answer in time, by what is known of the world: which masters a client is linked to, what is under
//! their keys, and how long a message and a command take. What the client believes is no part of it, nor how much it has
//! sent them.

use super::client::Held;
use super::clock::nanos;
use super::history::How;
use super::invariants::Verdict;
use super::liveness::WELL_AFTER;
use super::plan::Mode;
use super::world::World;
use quorumlock_core::quorum::{Nanos, NodeSet};
use std::time::Duration;

impl World {
    /// Notes the holds that a quorum would extend at present, and checks the clients that wait for a burst.
    pub(super) fn judge_in_time(&mut self, message: Duration) -> Verdict {
        let (now, mut kept) = (self.agenda.now, Vec::new());
        for place in 0..self.clients.len() {
            let client = &self.clients[place];
            let open = client.burst.len();
            let keeps = client.holds.values().any(is_kept);
            let linked = if open > 0 || keeps { self.linked(place) } else { NodeSet::EMPTY };
            let extended = |held: &&Held| is_kept(held) && self.would_extend(place, held, linked);
            let is_early = |held: &&Held| self.setup.answers_in_time(held.asked.ttl, message);
            let holds = client.holds.values().filter(is_early).filter(extended);
            kept.extend(holds.map(|held| held.token.clone()));
            let is_served = open > 0
                && self.setup.kind(client.seat).members.is_quorum(linked)
                && self.setup.answers_in_time(self.setup.max_ttl, message);
            let bound = |count| self.setup.serves_a_burst_within(count, message);
            self.invariants.served.judge(place, now, is_served.then_some(open), bound)?;
        }
        self.invariants.held.note(now, kept);
        Ok(())
    }

    /// Checks that a hold may be reported as lost.
    pub(super) fn judge_lost(&self, place: usize, hold: u64, how: How) -> Verdict {
        let Some(held) = self.clients[place].holds.get(&hold) else { return Ok(()) };
        let stands = || self.would_extend(place, held, self.linked(place));
        // What a key was deleted by is judged elsewhere.
        let is_judged = match how {
            How::Lapsed => true,
            How::QuorumGone => stands(),
            _ => false,
        };
        match is_judged && is_kept(held) {
            true => self.invariants.held.lost(&held.token, self.agenda.now, held.asked.ttl),
            false => Ok(()),
        }
    }

    /// Returns the masters that a client is linked to, unless it was stopped of late.
    fn linked(&self, place: usize) -> NodeSet {
        if self.denials > 0 || self.agenda.now < self.clients[place].resumed_at + nanos(WELL_AFTER)
        {
            return NodeSet::EMPTY;
        }
        (0..self.masters.len()).filter(|node| self.is_linked_to(place, *node)).collect()
    }

    /// Returns whether a hold stands at a quorum of these masters.
    fn would_extend(&self, place: usize, held: &Held, linked: NodeSet) -> bool {
        let now = self.agenda.now;
        let stands = |node: &usize| {
            let master = &self.masters[*node];
            held.asked.keys.iter().all(|key| match held.asked.mode {
                Mode::Read => {
                    master.readers(key, now).iter().any(|(reader, _)| *reader == held.token)
                }
                _ => master.value(key, now) == Some(&held.token),
            })
        };
        let nodes = linked.iter().filter(stands).collect();
        let seat = self.clients[place].seat;
        held.is_valid(self.local(place)) && self.setup.kind(seat).members.is_quorum(nodes)
    }
}

/// Returns whether a hold is kept alive for as long as its guard lives.
fn is_kept(held: &Held) -> bool {
    held.asked.keep_alive == Some(Nanos::FOREVER)
        && !held.is_given_up
        && !held.is_over
        && held.downgrades.is_none()
}

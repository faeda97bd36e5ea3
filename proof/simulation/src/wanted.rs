//! Waiters for what they could have: whatever they are, and whichever others wait beside them in
//! their client, a resource that is free at a quorum is not free for long, and readers let in readers.
//!
//! A resource is free at a master that votes if nothing is under its key but what an attempt under way has set there. A
//! waiter could have it once it is linked to a quorum of such masters: whatever another master says of the key, and
//! whichever waiters have died or stopped in front of it.

use super::client::{Held, owner};
use super::clock::{Time, millis, nanos};
use super::invariants::{Could, Invariants, Verdict};
use super::master::{HINT, MARK};
use super::network::ROOMY;
use super::plan::{Asked, Mode};
use super::waiters::WELL_AFTER;
use super::world::World;
use quorumlock_core::coordinator::wire::{DONE, NEXT};
use quorumlock_core::quorum::NodeSet;
use std::time::Duration;

/// How often waiters are judged.
const LOOKS_EVERY: Duration = millis(10);

/// What waiters for a permit wait for.
const PERMIT: &str = "a permit";

/// What waiters wait for, and could have.
#[derive(Default)]
struct Seen {
    waiting: Vec<(usize, &'static str)>,
    free_at_a_quorum: Vec<Could>,
    free: Vec<Could>,
    /// Where a reader of its own client has it.
    beside: Vec<Could>,
}

impl World {
    /// Checks all waiters, now and then.
    pub(super) fn judge_wanted(&mut self) -> Verdict {
        let now = self.agenda.now;
        let is_about_others = self.setup.flaw.is_some() && self.setup.jam.is_none();
        if now < self.looks_at || is_about_others || self.is_at_odds() {
            return Ok(());
        }
        self.looks_at = now + nanos(LOOKS_EVERY);
        let mut seen = Seen::default();
        if self.denials == 0 && !self.setup.may_strand() {
            (0..self.clients.len()).for_each(|client| self.see_waiters(client, &mut seen));
        }
        let message = self.slowest();
        // Waiters in turn may stand there, or have died there.
        let is_in_turn = self.has_turns;
        let stays = if is_in_turn { self.places_stay() } else { Duration::ZERO };
        let longest = self.setup.served_within(message, is_in_turn) + stays;
        let by_a_quorum = self.setup.served_by_a_quorum_within(message, is_in_turn) + stays;
        // A refusal that is under way, and the attempt behind it: each message may be late.
        let soon = millis(20) + 4 * message + 4 * self.setup.lateness;
        let Invariants { let_in_by_a_quorum, let_in, let_in_beside, passed_over, .. } =
            &mut self.invariants;
        let_in_by_a_quorum.judge(
            now,
            &seen.free_at_a_quorum,
            by_a_quorum,
            "which is free at a quorum",
        )?;
        let_in.judge(now, &seen.free, longest, "which is free")?;
        let_in_beside.judge(now, &seen.beside, soon, "and reads it")?;
        passed_over.judge(now, &seen.waiting, self.setup.has_its_turn_within(message))
    }

    /// Returns for how much longer the places of the dead live where clocks were set back without which there is no
    /// quorum.
    fn places_stay(&self) -> Duration {
        let prolongs = |node: usize| self.masters[node].clock.prolongs();
        let as_set: NodeSet =
            (0..self.masters.len()).filter(|node| prolongs(*node) == Duration::ZERO).collect();
        match (0..self.setup.seats()).all(|seat| self.setup.kind(seat).members.is_quorum(as_set)) {
            true => Duration::ZERO,
            false => (0..self.masters.len()).map(prolongs).max().unwrap_or_default(),
        }
    }

    /// Adds what a client waits for, and what it could have.
    fn see_waiters(&self, client: usize, seen: &mut Seen) {
        let (now, state) = (self.agenda.now, &self.clients[client]);
        if state.asked.is_empty() || now < state.resumed_at + nanos(WELL_AFTER) {
            return;
        }
        let linked: NodeSet =
            (0..self.masters.len()).filter(|node| self.is_linked_to(client, *node)).collect();
        let members = self.setup.kind(state.seat).members;
        if !members.is_quorum(linked) {
            return;
        }
        for (request, asked) in &state.asked {
            if asked.fenced && !self.setup.can_fence() {
                continue;
            }
            let key = asked.keys[0];
            let keys: &[&[&str]] = match asked.is_permit {
                true => &[&["a"], &["b"]],
                false => &[asked.keys],
            };
            if asked.mode != Mode::Read && asked.keys.len() == 1 {
                seen.waiting.push((client, if asked.is_permit { PERMIT } else { key }));
            }
            let reads = asked.mode == Mode::Read;
            let open = |keys: &&[&str]| -> NodeSet {
                let is_open =
                    |node: &usize| keys.iter().all(|key| self.is_open_at(*node, key, reads));
                linked.iter().filter(is_open).collect()
            };
            let all = state.nodes.len();
            let most =
                keys.iter().map(open).max_by_key(|open| (members.is_quorum(*open), open.len()));
            let Some(open) = most.filter(|open| members.is_quorum(*open)) else { continue };
            let held_at = keys.iter().copied().flatten().filter_map(|key| self.won_at.get(key));
            let was_held_at = held_at.copied().max().unwrap_or_default();
            let could = Could { client, request: *request, key, was_held_at };
            // Its rounds last long enough for the slowest answer.
            let reads_beside =
                reads && self.reads(client, key) && asked.ttl / 10 > 2 * self.slowest();
            match open.len() == all {
                true if reads_beside && self.is_untroubled(WELL_AFTER) => seen.beside.push(could),
                true => seen.free.push(could),
                false => {}
            }
            seen.free_at_a_quorum.push(could);
        }
    }

    /// Returns whether a resource is free at a master, or read.
    fn is_open_at(&self, node: usize, key: &str, reads: bool) -> bool {
        let (master, now) = (&self.masters[node], self.agenda.now);
        let is_hinted = || master.is_there(&format!("{HINT}{key}"), now);
        match master.raw(key, now) {
            None => !(reads && is_hinted()),
            Some(MARK) => reads && !is_hinted(),
            Some(value) => value.starts_with(NEXT) || self.is_under_way(value, node),
        }
    }

    /// Returns whether a value is that of an attempt that has not won, and will be rolled back.
    fn is_under_way(&self, value: &str, node: usize) -> bool {
        let Some(client) = owner(value).filter(|client| *client < self.clients.len()) else {
            return false;
        };
        let state = &self.clients[client];
        let is_held = state.holds.values().any(|held| held.token == value)
            || !state.detaching.is_empty()
            || self.invariants.never_again.is_idle(value)
            || self.adopters.contains_key(value)
            || self.kept.contains(value)
            || value.starts_with(DONE);
        !is_held && self.is_linked_to(client, node)
    }

    /// Returns whether a client has a guard that reads a resource.
    fn reads(&self, client: usize, key: &str) -> bool {
        let state = &self.clients[client];
        let local = state.clock.at(self.agenda.now);
        let reads = |held: &Held| {
            held.asked.mode == Mode::Read && held.downgrades.is_none() && held.asked.keys == [key]
        };
        state.holds.values().any(|held| reads(held) && held.is_valid(local) && !held.is_given_up)
    }

    /// Returns how long a message takes at most.
    pub(super) fn slowest(&self) -> Duration {
        Duration::from_micros(self.setup.latency_us.end + self.latest_us())
    }

    /// Returns whether a client that runs has been linked for long to a master that votes, and both hear each other.
    pub(super) fn is_linked_to(&self, client: usize, node: usize) -> bool {
        let (now, state, master) = (self.agenda.now, &self.clients[client], &self.masters[node]);
        // A client counts from when it has met a process, whatever that remembers.
        let age = match master.life == 0 && master.forgot_at.is_none() {
            true => WELL_AFTER,
            false => self.setup.quarantine + WELL_AFTER,
        };
        let line = state.lines[node].map(|id| &self.lines[id.0]);
        let is_old = |opened: Time| now > opened + nanos(age);
        state.machine.is_some()
            && state.paused == 0
            && !state.is_ending
            && master.reads()
            && !master.is_replica
            && line.is_some_and(|line| line.room >= ROOMY && is_old(line.opened))
            && !self.cuts.iter().any(|cut| cut.is_between(state.seat, node))
            && !self.slowness.iter().any(|slow| slow.node == node)
    }

    /// Notes a win, for those that wait for the same.
    pub(super) fn note_win(&mut self, client: usize, asked: &Asked) {
        for key in asked.keys {
            self.won_at.insert(key, self.agenda.now);
            self.invariants.passed_over.won((client, key));
        }
        if asked.is_permit {
            self.invariants.passed_over.won((client, PERMIT));
        }
    }
}

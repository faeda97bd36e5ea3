//! Waiters in turn, and their clients: a waiter that has gone leaves no place, and the first gets in.

use super::client::owner;
use super::clock::{Time, millis, nanos};
use super::invariants::Verdict;
use super::judge::KEYS;
use super::network::ROOMY;
use super::plan::{Asked, Mode};
use super::world::World;
use std::time::Duration;

/// A client that is well leaves its places within this time: a deletion may be sent again.
const LEAVES_WITHIN: Duration = millis(1_200);

/// After a fault, a client is well again once its connection is as old as this.
pub(super) const WELL_AFTER: Duration = millis(1_500);

/// The first waiter knows that it is first after its next look, and hears messages then.
const KNOWS_AFTER: Duration = millis(1_300);

impl World {
    /// Notes which clients have callers that wait in turn, or hold what they have won so.
    pub(super) fn note_waiters(&mut self) {
        let now = self.agenda.now;
        let in_turn = |asked: &Asked| asked.mode == Mode::InTurn;
        for client in &mut self.clients {
            let waits = client.asked.values().any(in_turn);
            if waits || client.holds.values().any(|held| in_turn(&held.asked)) {
                client.in_turn_until = now;
            }
        }
    }

    /// Checks that a master has no place of a client that wants none, and could have left it.
    pub(super) fn judge_places(&self, node: usize, key: &str) -> Verdict {
        let now = self.agenda.now;
        let is_past = |since: Time, span: Duration| now > since + nanos(span);
        // What a fault has held up may come late, and stays for as long.
        if self.every_client_goes || self.faults > 0 || self.setup.may_strand() {
            return Ok(());
        }
        for (waiter, _) in self.masters[node].places(key, now) {
            let Some(client) = owner(&waiter).and_then(|owner| self.clients.get(owner)) else {
                continue;
            };
            let line =
                client.lines[node].filter(|_| client.machine.is_some() && client.paused == 0);
            let is_linked = line.is_some_and(|id| {
                self.lines[id.0].room >= ROOMY && is_past(self.lines[id.0].opened, WELL_AFTER)
            });
            let is_idle = !client.is_ending && client.adopting.is_empty();
            if is_linked && is_idle && is_past(client.in_turn_until, LEAVES_WITHIN) {
                let at = node + 1;
                return Err(format!("{waiter} has gone, and its place at {key} is still on n{at}"));
            }
        }
        Ok(())
    }

    /// Returns the waiter that all masters have first in the queue of a resource, if it could win.
    pub(super) fn first_of_all(&self, key: &str) -> Option<String> {
        let now = self.agenda.now;
        let first = |node: usize| {
            let places = self.masters[node].places(key, now);
            places.into_iter().min_by_key(|(_, at)| *at).map(|(waiter, _)| waiter)
        };
        let of_all = first(0)?;
        let client = self.clients.get(owner(&of_all)?)?;
        let waits =
            client.asked.values().any(|asked| asked.mode == Mode::InTurn && *asked.keys == [key]);
        let is_linked = |node: usize| {
            let line = client.lines[node];
            line.map(|id| &self.lines[id.0])
                .is_some_and(|line| line.room >= ROOMY && now > line.opened + nanos(WELL_AFTER))
        };
        let warm = |node: usize| !self.may_not_vote(node, now, self.setup.quarantine);
        let is_there = |node: usize| {
            warm(node) && is_linked(node) && (node == 0 || first(node).as_ref() == Some(&of_all))
        };
        (waits && client.machine.is_some() && (0..self.masters.len()).all(is_there))
            .then_some(of_all)
    }

    /// Checks that the first waiter in every queue gets in as soon as a message has come and gone.
    pub(super) fn judge_first(
        &mut self,
        key: &'static str,
        was_well: bool,
        is_free: bool,
    ) -> Verdict {
        let now = self.agenda.now;
        let slow = self.setup.latency_us.end;
        let soon = millis(100) + Duration::from_micros(12 * slow) + 4 * self.setup.lateness;
        let hears = self.setup.wake_ups && self.setup.denied.is_empty();
        let first = if was_well && hears { self.first_of_all(key) } else { None };
        let fences = self.setup.can_fence();
        // A plain release sends one message, which may come before another master has heard of the release:
        // the next look finds the key there.
        let looks = |opened: Time| now > opened + nanos(KNOWS_AFTER);
        let is_free = is_free && self.invariants.turns.opened_at(key).is_none_or(looks);
        self.invariants.called.judge(key, now, (first, is_free && fences), (KNOWS_AFTER, soon))
    }

    pub(super) fn judge_all_places(&self, node: usize) -> Verdict {
        KEYS.into_iter().try_for_each(|key| self.judge_places(node, key))
    }
}

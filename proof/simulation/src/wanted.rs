//! Waiters for what they could have: whatever they are, and whichever others wait beside them in
//! their client, a resource that is free is not free for long, and readers let in readers.

use super::clock::{millis, nanos};
use super::invariants::{Could, Verdict};
use super::judge::KEYS;
use super::master::{HINT, MARK};
use super::network::{LATEST_US, ROOMY};
use super::plan::{Asked, Mode};
use super::waiters::WELL_AFTER;
use super::world::World;
use std::time::Duration;

/// The longest pause of a waiter for messages, and slack: it may have missed one.
const LONGEST: Duration = millis(2_500);

impl World {
    /// Checks all waiters, at each step.
    pub(super) fn judge_wanted(&mut self) -> Verdict {
        let waits = self.clients.iter().any(|client| !client.asked.is_empty());
        let could = match waits && self.setup.flaw.is_none() && !self.is_at_odds() {
            true => self.could(),
            false => Vec::new(),
        };
        let (beside, free): (Vec<Could>, Vec<Could>) =
            could.into_iter().partition(|request| self.reads_beside(request));
        let now = self.agenda.now;
        // A refusal that is under way, and the attempt behind it: each message may be late.
        let soon = millis(10) + 4 * self.slowest() + 4 * self.setup.lateness;
        self.invariants.let_in.judge(now, &free, LONGEST, "which is free")?;
        self.invariants.let_in_beside.judge(now, &beside, soon, "and reads it")
    }

    /// Returns the requests that could be granted.
    fn could(&self) -> Vec<Could> {
        let mut all = Vec::new();
        if !self.is_untroubled(WELL_AFTER) {
            return all;
        }
        for key in KEYS {
            let mut asked = self.clients.iter().flat_map(|client| client.asked.values());
            if !asked.any(|asked| wants(asked, key)) {
                continue;
            }
            let now = self.agenda.now;
            let is_hinted =
                self.masters.iter().any(|master| master.is_there(&format!("{HINT}{key}"), now));
            let is_vacant = self.masters.iter().all(|master| master.value(key, now).is_none());
            let is_read = || {
                let open = |value| value == MARK;
                self.masters.iter().all(|master| master.value(key, now).is_none_or(open))
            };
            let may_read = !is_hinted && (is_vacant || is_read());
            for (client, state) in self.clients.iter().enumerate() {
                if !(is_vacant || may_read) || !self.is_linked(client) {
                    continue;
                }
                let granted = |asked: &Asked| match asked.mode {
                    Mode::Read if !may_read => false,
                    Mode::Read => is_vacant || self.reads(client, key),
                    _ => is_vacant && (!asked.fenced || self.setup.can_fence()),
                };
                let could =
                    state.asked.iter().filter(|(_, asked)| wants(asked, key) && granted(asked));
                all.extend(could.map(|(request, _)| Could { client, request: *request, key }));
            }
        }
        all
    }

    /// Returns whether a client has a guard that reads a resource.
    fn reads(&self, client: usize, key: &str) -> bool {
        let state = &self.clients[client];
        let local = state.clock.at(self.agenda.now);
        let reads = |held: &super::client::Held| {
            held.asked.mode == Mode::Read && held.downgrades.is_none() && held.asked.keys == [key]
        };
        state.holds.values().any(|held| reads(held) && held.is_valid(local) && !held.is_given_up)
    }

    /// Returns whether a reader waits beside one of its own client, and its rounds last long enough for the
    /// slowest answer: a round waits for a tenth of the ttl.
    fn reads_beside(&self, request: &Could) -> bool {
        let asked = self.clients[request.client].asked.get(&request.request);
        let answer = 2 * self.slowest();
        let is_answered = |asked: &Asked| asked.mode == Mode::Read && asked.ttl / 10 > answer;
        asked.is_some_and(is_answered) && self.reads(request.client, request.key)
    }

    /// Returns how long a message takes at most.
    pub(super) fn slowest(&self) -> Duration {
        Duration::from_micros(self.setup.latency_us.end + LATEST_US)
    }

    /// Returns whether a client has been linked for long to masters that may all vote.
    pub(super) fn is_linked(&self, client: usize) -> bool {
        let (now, client) = (self.agenda.now, &self.clients[client]);
        let is_well = |node: &usize| {
            let line = client.lines[*node].map(|id| &self.lines[id.0]);
            // A client counts from when it has met a process, whatever that remembers.
            let master = &self.masters[*node];
            let age = match master.life == 0 && master.forgot_at.is_none() {
                true => WELL_AFTER,
                false => self.setup.quarantine + WELL_AFTER,
            };
            line.is_some_and(|line| line.room >= ROOMY && now > line.opened + nanos(age))
        };
        client.machine.is_some() && !client.is_ending && client.nodes.iter().all(is_well)
    }
}

/// Returns whether a request is for this resource alone, or for a permit.
fn wants(asked: &Asked, key: &str) -> bool {
    asked.is_permit || asked.keys == [key]
}

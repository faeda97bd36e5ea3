//! The queues of waiters in turn, as the masters have them.

use super::client::owner;
use super::clock::{Time, millis, nanos};
use super::invariants::{Left, Verdict, Won};
use super::judge::KEYS;
use super::master::{ALIVE, Master, QUEUE};
use super::plan::{Asked, Mode, RESOURCES};
use super::seed::Rng;
use super::setup::Setup;
use super::waiters::WELL_AFTER;
use super::world::World;
use quorumlock_core::coordinator::KeepAlive;
use quorumlock_core::coordinator::wire::NEXT;
use quorumlock_core::quorum::Membership;
use std::time::Duration;

/// The longest time for which a key is kept.
pub(super) const KEPT: Duration = millis(4_000);

/// How long the queue's keys live after the last waiter has asked.
pub(super) const LEFT: Duration = millis(6_000);

/// The longest pause before a dial, the dial, a handshake, and a look: after a fault all is well again.
const GRACE: Duration = millis(6_000);

/// Draws what a caller asks for that waits in turn beside others.
pub(super) fn draw(setup: &Setup, seat: usize, rng: &mut Rng) -> Asked {
    let max_ttl = setup.kind(seat).max_ttl;
    let ttl = *rng.pick(&[millis(600), max_ttl / 2, max_ttl]);
    Asked {
        keys: RESOURCES[0],
        is_permit: false,
        mode: Mode::InTurn,
        fenced: rng.chance(25) && setup.can_fence(),
        ttl,
        lock_delay: Duration::ZERO,
        wait: millis(*rng.pick(&[500, 2_000, 5_000, 9_000])),
        keep_alive: *rng.pick(&[None, None, Some(KeepAlive::at_most(ttl * 2))]),
        warm: Duration::ZERO,
        at_least: match setup.flaw.is_none() && rng.chance(15) {
            true => *rng.pick(&[ttl / 2, max_ttl / 2]),
            false => Duration::ZERO,
        },
    }
}

impl World {
    /// Notes the places that a master has, before a command and behind it.
    pub(super) fn note_places(&mut self, node: usize) {
        if !self.has_turns {
            return;
        }
        let now = self.agenda.now;
        for key in KEYS {
            let living = self.masters[node].places(key, now);
            self.invariants.turns.sees(node, key, now, &living);
        }
    }

    /// Returns the client that waits by a name, and its lists.
    fn waiter(&self, name: &str) -> Option<(usize, Membership)> {
        let place = owner(name)?;
        let client = self.clients.get(place)?;
        Some((place, self.setup.kind(client.seat).members))
    }

    /// Checks the win of a caller that waits in turn.
    pub(super) fn judge_turn(&mut self, place: usize, token: &str, key: &str) -> Verdict {
        (0..self.masters.len()).for_each(|node| self.note_places(node));
        let membership = self.setup.kind(self.clients[place].seat).members;
        let won = Won { token, key, client: place, membership };
        let mut turns = std::mem::take(&mut self.invariants.turns);
        let verdict = turns.won(&won, self.agenda.now, |name| self.waiter(name));
        self.turns += u64::from(turns.had_a_place(token));
        self.invariants.turns = turns;
        verdict
    }

    /// Checks that the waiters in a queue do not wait for nothing.
    pub(super) fn judge_queues(&mut self) -> Verdict {
        if self.has_turns {
            self.note_waiters();
        }
        let waits = |asked: &Asked| asked.mode == Mode::InTurn;
        let waits = self.clients.iter().any(|client| client.asked.values().any(waits));
        if !waits || self.is_at_odds() {
            self.invariants.gets_in = Default::default();
            self.invariants.called = Default::default();
            return Ok(());
        }
        let now = self.agenda.now;
        let is_calm = self.is_untroubled(GRACE);
        for key in KEYS {
            let is_free = self.is_free(key);
            let is_dry = is_calm && is_free;
            if self.setup.flaw.is_none() {
                let was_well = self.is_untroubled(WELL_AFTER);
                self.judge_first(key, was_well, is_free)?;
            }
            let votes = |node: usize| !self.may_not_vote(node, now, self.setup.quarantine);
            let lists = |name: &str| {
                let (place, lists) = self.waiter(name)?;
                let mut asked = self.clients[place].asked.values();
                let waits = asked.any(|asked| asked.mode == Mode::InTurn && *asked.keys == [key]);
                waits.then_some(lists)
            };
            let waiting = match is_dry {
                true => self.invariants.turns.standing(key, votes, lists),
                false => Vec::new(),
            };
            let waiting: Vec<String> = waiting.into_iter().map(str::to_owned).collect();
            let waiting: Vec<&str> = waiting.iter().map(String::as_str).collect();
            let longest = self.setup.gets_in_within(self.misses_answers(key));
            let kept = if waiting.is_empty() { None } else { self.kept_for(key) };
            let judged = (waiting.as_slice(), longest);
            self.invariants.gets_in.judge(key, now, self.wins, kept.as_deref(), judged)?;
        }
        Ok(())
    }

    /// Returns the waiter for which most masters keep a key.
    fn kept_for(&self, key: &str) -> Option<String> {
        let now = self.agenda.now;
        let kept = |master: &Master| master.value(key, now)?.strip_prefix(NEXT).map(str::to_owned);
        let all: Vec<String> = self.masters.iter().filter_map(kept).collect();
        let most = |name: &&String| {
            all.iter().filter(|other| other == name).count() * 2 > self.masters.len()
        };
        all.iter().find(most).cloned()
    }

    /// Returns whether a round of a waiter in turn may end before an answer that is late: it lasts for a
    /// tenth of the ttl, or an operation timeout. A flaw has to be found in the short time that is left of a world.
    fn misses_answers(&self, key: &str) -> bool {
        let slowest = self.slowest();
        if self.setup.flaw.is_some() {
            return false;
        }
        let mut all = self.clients.iter().flat_map(|client| client.asked.values());
        all.any(|asked| {
            let lasts = self.setup.operation_timeout.min(asked.ttl / 10);
            asked.mode == Mode::InTurn && *asked.keys == [key] && lasts <= slowest
        })
    }

    /// Returns whether nothing has been wrong for so long.
    pub(super) fn is_untroubled(&self, grace: Duration) -> bool {
        let stepped = self.masters.iter().any(|master| master.clock.stepped != 0);
        let lame = self.clients.iter().any(|client| client.machine.is_some() && client.paused > 0);
        let down = self.masters.iter().any(|master| !master.reads());
        let recent = self.troubled_at.is_some_and(|at| self.agenda.now < at + nanos(grace));
        let disturbed = !self.cuts.is_empty() || !self.slowness.is_empty();
        !(stepped
            || lame
            || down
            || recent
            || disturbed
            || self.denials > 0
            || self.setup.may_strand())
    }

    /// Returns whether no client holds a resource, and none but waiters in turn may have it.
    fn is_free(&self, key: &str) -> bool {
        let now = self.agenda.now;
        let concerns = |keys: &[&str]| keys.contains(&key);
        let in_turn = |token: &str| {
            let client = owner(token).map(|owner| &self.clients[owner]);
            client.is_some_and(|client| client.machine.is_some()) && !self.kept.contains(token)
        };
        let open = |value: &str| value.starts_with(NEXT) || in_turn(value);
        let could =
            |asked: &Asked| asked.mode == Mode::InTurn && (!asked.fenced || self.setup.can_fence());
        let is_theirs = |asked: &Asked| !asked.is_permit && (could(asked) || !concerns(asked.keys));
        self.masters.iter().all(|master| master.value(key, now).is_none_or(open))
            && self.clients.iter().all(|client| {
                !client.holds.values().any(|held| concerns(held.asked.keys))
                    && client.asked.values().all(is_theirs)
                    && client.adopting.is_empty()
            })
    }

    /// Checks what stands beside a resource after a command: none of it lives longer than it should.
    pub(super) fn judge_beside(&self, node: usize) -> Verdict {
        if !self.has_turns {
            return Ok(());
        }
        if self.setup.flaw.is_none() {
            self.judge_all_places(node)?;
        }
        let master = &self.masters[node];
        let set_back = master.clock.prolongs();
        for key in KEYS {
            for prefix in [QUEUE, ALIVE] {
                let (key, now) = (format!("{prefix}{key}"), self.agenda.now);
                if master.is_there(&key, now) {
                    let remaining = master.remaining(&key, now);
                    Left { node, key: &key, value: "places", remaining }
                        .judge_life(LEFT + set_back)?;
                }
            }
        }
        Ok(())
    }

    /// Returns whether a master keeps a key for a waiter, or has a queue.
    pub(super) fn has_places(&self) -> bool {
        let now = self.agenda.now;
        let has = |node: usize| self.left_in_turn(node, now).next().is_some();
        (0..self.masters.len()).any(has)
    }

    fn left_in_turn(&self, node: usize, now: Time) -> impl Iterator<Item = String> + '_ {
        let master = &self.masters[node];
        let kept = KEYS
            .into_iter()
            .filter(move |key| master.value(key, now).is_some_and(|value| value.starts_with(NEXT)));
        let beside =
            KEYS.into_iter().flat_map(|key| [format!("{QUEUE}{key}"), format!("{ALIVE}{key}")]);
        let beside = beside.filter(move |key| master.is_there(key, now));
        kept.map(str::to_owned).chain(beside)
    }

    /// Checks that nothing of waiters in turn is left once it has had time to expire.
    pub(super) fn find_places(&mut self) {
        if self.violation.is_some() || !self.has_places() {
            return;
        }
        let back = self.masters.iter().map(|master| master.clock.stepped.unsigned_abs()).max();
        // Clocks run at different speeds.
        let life = nanos(LEFT + LEFT / 50) + back.unwrap_or(0);
        self.pass(self.agenda.now + life);
        let now = self.agenda.now;
        let found = (0..self.masters.len())
            .find_map(|node| self.left_in_turn(node, now).next().map(|key| (node, key)));
        if let Some((node, key)) = found {
            let left = Left { node, key: &key, value: "places", remaining: None };
            let verdict = left.judge_aftermath(false);
            self.find(verdict);
        }
    }
}

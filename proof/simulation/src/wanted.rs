//! Waiters for what they could have: whatever they are, and whichever others wait beside them in
//! their client, a resource that is free at a quorum is not free for long, and readers let in readers.
//!
//! A resource is free at a master that votes if nothing is under its key but what an attempt under way has set there. A
//! waiter could have it once it is linked to a quorum of such masters: whatever another master says of the key, and
//! whichever waiters have died or stopped in front of it.

use super::callers::PERMITS;
use super::client::{Held, owner};
use super::clock::{Time, millis, nanos};
use super::invariants::{Could, Invariants, Verdict};
use super::judge::KEYS;
use super::liveness::WELL_AFTER;
use super::master::{HINT, MARK, Master};
use super::network::ROOMY;
use super::plan::{Asked, Mode};
use super::world::World;
use quorumlock_core::coordinator::wire::DONE;
use quorumlock_core::quorum::NodeSet;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// A hint lives for so long behind its writer.
const HINT_LIFE: Duration = millis(3_100);

/// What waiters for a permit wait for.
const PERMIT: &str = "a permit";

/// The keys of the slots.
const SLOTS: [&[&str]; PERMITS] = [&["a"], &["b"]];

/// What waiters wait for, and could have.
#[derive(Default)]
struct Seen {
    waiting: Vec<(usize, &'static str)>,
    oldest: BTreeMap<(usize, &'static str), u64>,
    free_at_a_quorum: Vec<Could>,
    free: Vec<Could>,
    /// Where a reader of its own client has it.
    beside: Vec<Could>,
    /// Of which it hears: it was released.
    released: Vec<Could>,
}

impl World {
    /// Checks all waiters.
    pub(super) fn judge_wanted(&mut self) -> Verdict {
        let now = self.agenda.now;
        self.judge_writers()?;
        let mut seen = Seen::default();
        if !self.setup.may_strand() {
            (0..self.clients.len()).for_each(|client| self.see_waiters(client, &mut seen));
        }
        let message = self.slowest();
        let stays = self.keys_stay();
        let longest = self.setup.served_within(message) + stays;
        let by_a_quorum = self.setup.served_by_a_quorum_within(message) + stays;
        // A refusal that is under way, and the attempt behind it: each message may be late.
        let soon = millis(20) + 4 * message + 4 * self.setup.lateness;
        let Invariants {
            let_in_by_a_quorum, let_in, let_in_beside, called_soon, passed_over, ..
        } = &mut self.invariants;
        let_in_by_a_quorum.judge(
            now,
            &seen.free_at_a_quorum,
            by_a_quorum,
            "which is free at a quorum",
        )?;
        let_in.judge(now, &seen.free, longest, "which is free")?;
        let_in_beside.judge(now, &seen.beside, soon, "and reads it")?;
        let heard_within = self.setup.heard_within(message);
        called_soon.judge(now, &seen.released, heard_within, "which was released")?;
        passed_over.waits(seen.oldest);
        passed_over.judge(now, &seen.waiting, self.setup.has_its_turn_within(message))?;
        self.judge_in_time(message)
    }

    /// Checks that a writer that waits among readers alone gets in once those have left that were in: its hint keeps
    /// others out.
    fn judge_writers(&mut self) -> Verdict {
        let (now, message) = (self.agenda.now, self.slowest());
        // Until its hint stands.
        let soon =
            self.setup.operation_timeout + millis(20) + 4 * message + 4 * self.setup.lateness;
        let (mut lasting, mut well) = (BTreeMap::new(), BTreeMap::new());
        let mut among = BTreeMap::new();
        for key in KEYS {
            let asked = self.clients.iter().enumerate().flat_map(|(place, client)| {
                client.asked.iter().map(move |(request, asked)| (place, *request, asked))
            });
            let concerns = |asked: &Asked| asked.is_permit || asked.keys.contains(&key);
            let mut others =
                asked.filter(|(.., asked)| asked.mode != Mode::Read && concerns(asked));
            let Some((place, request, first)) = others.next() else { continue };
            if first.mode == Mode::Write {
                self.hinted_until.insert(key, now + nanos(HINT_LIFE));
            }
            let holds = self.clients.iter().flat_map(|client| client.holds.values());
            let mut holds = holds.filter(|held| concerns(&held.asked));
            let is_among_readers = others.next().is_none()
                && first.mode == Mode::Write
                && holds.all(|held| held.asked.mode == Mode::Read && held.downgrades.is_none());
            let members = self.setup.kind(self.clients[place].seat).members;
            let linked: NodeSet =
                (0..self.masters.len()).filter(|node| self.is_linked_to(place, *node)).collect();
            let can_win = !first.fenced || self.setup.can_fence();
            let is_judged = is_among_readers && can_win && !self.setup.may_strand();
            if !is_judged || !members.is_quorum(linked) {
                continue;
            }
            let readers = || {
                let nodes = self.masters.iter();
                nodes.flat_map(|node| node.readers(key, now)).map(|(reader, _)| reader)
            };
            let new = || (now, BTreeSet::new());
            let (since, mut were_in) = self.among.remove(&(place, request)).unwrap_or_else(new);
            match now <= since + nanos(soon) {
                true => were_in.extend(readers()),
                false if were_in.is_empty() => {}
                false => {
                    let present: BTreeSet<String> = readers().collect();
                    were_in.retain(|reader| present.contains(reader));
                }
            }
            if now > since + nanos(soon) && were_in.is_empty() {
                let is_stuck = |node: usize| {
                    let value = self.masters[node].raw(key, now);
                    value.is_some_and(|value| value != MARK && owner(value).is_none())
                };
                let is_well = linked.len() == self.masters.len()
                    && self.is_untroubled(WELL_AFTER)
                    && !(0..self.masters.len()).any(is_stuck);
                let by_a_quorum = self.setup.served_by_a_quorum_within(message);
                lasting.insert((place, request), by_a_quorum);
                if is_well {
                    well.insert((place, request), self.setup.served_within(message));
                }
            }
            among.insert((place, request), (since, were_in));
        }
        self.among = among;
        let named = |(place, request): &(usize, u64)| {
            format!(
                "{} waits among readers that came later: {request}",
                crate::client::name(*place)
            )
        };
        self.invariants.among_readers.judge(now, lasting, named)?;
        self.invariants.among_readers_alone.judge(now, well, named)
    }

    /// Returns for how much longer keys live whose release a master has denied until its client forgot them, where clocks
    /// were set back without which there is no quorum.
    fn keys_stay(&self) -> Duration {
        let prolongs = |master: &Master| master.clock.prolongs();
        let as_set = NodeSet::places(&self.masters, |master| prolongs(master).is_zero());
        match (0..self.setup.seats()).all(|seat| self.setup.kind(seat).members.is_quorum(as_set)) {
            true => Duration::ZERO,
            false => self.masters.iter().map(prolongs).max().unwrap_or_default(),
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
            let keys = match asked.is_permit {
                true => &SLOTS[..self.setup.permits],
                false => &[asked.keys],
            };
            if asked.mode != Mode::Read && asked.keys.len() == 1 {
                let waits = (client, if asked.is_permit { PERMIT } else { key });
                seen.waiting.push(waits);
                seen.oldest.entry(waits).or_insert(*request);
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
            let last = |won_at: &BTreeMap<&str, Time>| {
                let held_at = keys.iter().copied().flatten().filter_map(|key| won_at.get(key));
                held_at.copied().max().unwrap_or_default()
            };
            let was_held_at = last(&self.won_at);
            // Another reader takes nothing from one that waits.
            let was_closed_at = if reads { last(&self.closed_at) } else { was_held_at };
            let could = Could { client, request: *request, key, was_held_at: was_closed_at };
            // The hint of a writer that has given up ends by itself.
            let is_hinted = self.masters.iter().any(|master| is_hinted(master, key, now));
            // Its rounds last long enough for the slowest answer.
            let reads_beside = reads
                && self.reads(client, key)
                && !is_hinted
                && asked.ttl / 10 > 2 * self.slowest();
            let released_at = self.released_at.get(key).copied().unwrap_or_default();
            // It hears of a release, and knows when the keys end. Of several that know that, each may take the attempts of
            // others for a hold, and pauses.
            let was_released = released_at > was_held_at;
            let knows = match asked.mode {
                Mode::Read => was_released && self.setup.wake_ups,
                _ if was_released => self.setup.wake_ups,
                _ => self.setup.knows_ends() && !self.is_wanted_beside(client, key),
            };
            // Its client asks in the order of its callers: those of several wait for all of them.
            let joins_several =
                |earlier: &Asked| earlier.keys.len() > 1 && earlier.keys.contains(&key);
            let is_first =
                !state.asked.range(..*request).any(|(_, earlier)| joins_several(earlier));
            // A fair acquire asks in a list first, and what its process has had for long is left to others for a pause.
            let knows = knows
                && is_first
                && !self.has_fair
                && asked.keys.len() == 1
                && !asked.is_permit
                && self.setup.denied.is_empty();
            // A waiter without a list listens anew with its next attempt.
            let is_listed = self.setup.has_waitlists && matches!(asked.mode, Mode::Alone);
            let hears_anew = match self.setup.wake_ups && !is_listed {
                true => self.setup.longest_pause,
                false => Duration::ZERO,
            };
            if knows && open.len() == all && self.is_untroubled(WELL_AFTER + hears_anew) {
                let freed_at = released_at.max(was_held_at);
                seen.released.push(Could { was_held_at: freed_at, ..could });
            }
            match open.len() == all {
                true if reads_beside && self.is_untroubled(WELL_AFTER) => seen.beside.push(could),
                true => seen.free.push(could),
                false => {}
            }
            seen.free_at_a_quorum.push(could);
        }
    }

    /// Returns whether a client beside this one waits for a resource.
    fn is_wanted_beside(&self, client: usize, key: &str) -> bool {
        let others = self.clients.iter().enumerate().filter(|(other, _)| *other != client);
        let mut asked = others.flat_map(|(_, other)| other.asked.values());
        asked.any(|asked| asked.is_permit || asked.keys.contains(&key))
    }

    /// Returns whether a resource is free at a master, or read.
    fn is_open_at(&self, node: usize, key: &str, reads: bool) -> bool {
        let (master, now) = (&self.masters[node], self.agenda.now);
        // A hint of no writer that waits, or has died or given up, keeps no reader out.
        let keeps_out = || {
            is_hinted(master, key, now) && now < self.hinted_until.get(key).copied().unwrap_or(0)
        };
        match master.raw(key, now) {
            None => !(reads && keeps_out()),
            Some(MARK) => reads && !keeps_out(),
            Some(value) => self.is_under_way(value, node),
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
        let is_new = master.life != 0 || master.forgot_at.is_some();
        let age = match is_new && self.setup.warms_up() {
            true => self.setup.quarantine + WELL_AFTER,
            false => WELL_AFTER,
        };
        let line = state.lines[node].map(|id| &self.lines[id.0]);
        let is_old = |opened: Time| now > opened + nanos(age);
        state.machine.is_some()
            && state.paused == 0
            && !state.is_ending
            && master.reads()
            && !master.is_replica
            && master.denials == 0
            && line
                .is_some_and(|line| line.room >= ROOMY && is_old(line.opened) && !line.is_dropped)
            && !self.cuts.iter().any(|cut| cut.is_between(state.seat, node))
            && !self.slowness.iter().any(|slow| slow.node == node)
    }

    /// Notes a win, for those that wait for the same.
    pub(super) fn note_win(&mut self, client: usize, asked: &Asked) {
        let writes = |asked: &Asked| asked.mode == Mode::Write;
        let waits = self.clients.iter().any(|client| client.asked.values().any(writes));
        // The hint of another that has given up is left to end by itself.
        let hint = format!("{HINT}{}", asked.keys[0]);
        let is_left = self.masters.iter().any(|master| {
            let by = master.raw(&hint, self.agenda.now).and_then(owner);
            by.is_some_and(|by| by != client)
        });
        if writes(asked) && !waits && !is_left {
            // It has taken back its hint, or does so in a moment.
            let soon = self.agenda.now + nanos(4 * self.slowest() + 4 * self.setup.lateness);
            self.hinted_until.insert(asked.keys[0], soon);
        }
        for key in asked.keys {
            self.won_at.insert(key, self.agenda.now);
            if asked.mode != Mode::Read {
                self.closed_at.insert(key, self.agenda.now);
            }
            self.invariants.passed_over.won((client, key));
        }
        if asked.is_permit {
            self.invariants.passed_over.won((client, PERMIT));
        }
    }
}
/// Returns whether a master has the hint of a writer.
fn is_hinted(master: &Master, key: &str, now: Time) -> bool {
    master.is_there(&format!("{HINT}{key}"), now)
}

//! The actions of callers.

use super::agenda::Happening;
use super::client::name;
use super::clock::nanos;
use super::flaw::Flaw;
use super::history::How;
use super::master::{FENCE, HINT, MARK, READERS};
use super::plan::{Act, Asked, Mode, RESOURCES};
use super::setup::DRIFT;
use super::world::World;
use quorumlock_core::coordinator::wire::DONE;
use quorumlock_core::coordinator::{AcquireRequest, AtLeast, Keys, ReadWrite, RequestId, Slots};
use quorumlock_core::quorum::{Instant, Nanos};
use std::sync::Arc;
use std::time::Duration;

/// The permits of the semaphore, on the two resources: callers that lock a resource compete with them.
pub(super) const PERMITS: usize = 2;

/// The channel of the semaphore, by which its list is named.
pub(super) const CHANNEL: &str = "permits";

fn permits(count: usize) -> Keys {
    let slots = RESOURCES[..count].iter().map(|keys| Arc::from(keys[0]));
    Keys::any_of(Slots::new(CHANNEL.into(), slots)).expect("slots")
}

fn beside(key: &str) -> ReadWrite {
    ReadWrite { readers: format!("{READERS}{key}").into(), hint: format!("{HINT}{key}").into() }
}

impl World {
    pub(super) fn act(&mut self, act: Act) {
        let seat = match &act {
            Act::Fault(fault) => return self.befalls(fault.clone()),
            Act::Acquire { seat, .. }
            | Act::Cancel { seat, .. }
            | Act::Extend { seat, .. }
            | Act::Release { seat, .. }
            | Act::Drop { seat, .. }
            | Act::Forget { seat, .. }
            | Act::Downgrade { seat, .. }
            | Act::Detach { seat, .. }
            | Act::Inspect { seat, .. }
            | Act::Ask { seat, .. }
            | Act::Burst { seat, .. }
            | Act::ForceRelease { seat } => *seat,
        };
        let place = self.seats[seat];
        let client = &mut self.clients[place];
        if client.machine.is_none() || client.is_ending {
            return;
        }
        if let Act::Ask { key, .. } = act {
            return self.ask(place, key);
        }
        if self.setup.story.is_some() {
            let looks = self.setup.kind(seat).only_looks && !matches!(act, Act::Inspect { .. });
            if looks || !client.is_connected {
                return;
            }
        }
        if client.paused > 0 {
            return client.waiting.push(Happening::Act(act));
        }
        match act {
            Act::Acquire { asked, .. } => self.acquire(place, asked),
            Act::Cancel { dice, .. } => self.cancel(place, dice),
            Act::Extend { dice, .. } => self.extend(place, dice),
            Act::Release { dice, heard_after, .. } => self.give_up(place, dice, heard_after, true),
            Act::Drop { dice, .. } => self.give_up(place, dice, Duration::ZERO, false),
            Act::Forget { dice, .. } => self.forget(place, dice),
            Act::Downgrade { dice, .. } => self.downgrade(place, dice),
            Act::Detach { dice, to, after, .. } => self.detach(place, dice, to, after),
            Act::Inspect { key, .. } => self.inspect(place, key),
            Act::Burst { count, .. } => self.begin_burst(place, count),
            Act::ForceRelease { .. } => self.force_release(place),
            Act::Ask { .. } | Act::Fault(_) => {}
        }
    }

    pub(super) fn local(&self, client: usize) -> Instant {
        self.clients[client].clock.at(self.agenda.now)
    }

    pub(super) fn acquire(&mut self, place: usize, asked: Asked) {
        let (now, local) = (self.agenda.now, self.local(place));
        let keys = |prefix: &str| {
            let keys = asked.keys.iter().map(|key| format!("{prefix}{key}").into());
            Keys::several(keys).expect("at least one key")
        };
        let lock_delay = match self.setup.flaw {
            Some(Flaw::NoLockDelay) => Duration::ZERO,
            _ => asked.lock_delay,
        };
        let at_least = Some(asked.at_least).filter(|span| !span.is_zero());
        let at_least = at_least.map(|span| AtLeast::new(span, DRIFT));
        let acquire = AcquireRequest {
            keys: match asked.mode {
                Mode::Alone | Mode::Fair if asked.is_permit && self.setup.has_slots() => {
                    permits(self.setup.permits)
                }
                Mode::Alone | Mode::Fair => keys(""),
                Mode::Write => Keys::write(asked.keys[0].into(), beside(asked.keys[0])),
                Mode::Read => Keys::read(asked.keys[0].into(), beside(asked.keys[0])),
            },
            fences: asked.fenced.then(|| Arc::new(keys(FENCE))),
            ttl: asked.ttl.into(),
            lock_delay: lock_delay.into(),
            wait: Nanos::of(asked.wait),
            keep_alive: asked.keep_alive,
            label: None,
            at_least: at_least.map(Box::new),
            keep_warm: Nanos::of(asked.warm),
            probes: false,
            is_fair: asked.mode == Mode::Fair && self.setup.flaw != Some(Flaw::AsksNoList),
        };
        self.has_fair |= asked.mode == Mode::Fair;
        let client = &mut self.clients[place];
        let request = client.next_request(now);
        client.asked.insert(request.0, asked.clone());
        self.invariants.order.begins((place, request.0), now);
        self.say(|| format!("{} asks, {}: {asked:?}", name(place), request.0));
        if self.takes_idle(place, request, &acquire) {
            return;
        }
        if let Some(machine) = &mut self.clients[place].machine {
            machine.handle_acquire(local, request, acquire);
        }
        self.turn(place);
    }

    fn cancel(&mut self, place: usize, dice: u64) {
        let asked = &self.clients[place].asked;
        if asked.is_empty() {
            return;
        }
        let request = asked.keys().nth(dice as usize % asked.len()).copied().expect("a request");
        self.cancel_request(place, request);
    }

    pub(super) fn cancel_request(&mut self, place: usize, request: u64) {
        let local = self.local(place);
        let now = self.agenda.now;
        self.clients[place].end_asked(request, now);
        self.say(|| format!("{} cancels {request}", name(place)));
        if let Some(machine) = &mut self.clients[place].machine {
            machine.handle_cancel(local, RequestId(request));
        }
        self.turn(place);
    }

    fn extend(&mut self, place: usize, dice: u64) {
        let (now, local) = (self.agenda.now, self.local(place));
        let client = &mut self.clients[place];
        let Some(held) = client.any_guard(dice) else { return };
        let request = client.next_request(now);
        client.awaited.insert(request.0);
        let attempt = client.holds[&held].attempt;
        let token = client.holds[&held].token.clone();
        self.say(|| format!("{} extends {token}", name(place)));
        self.claim(place, held);
        if let Some(machine) = &mut self.clients[place].machine {
            machine.handle_extend(local, request, attempt);
        }
        self.turn(place);
    }

    /// A caller makes its writer a reader. From then on others may read beside it.
    fn downgrade(&mut self, place: usize, dice: u64) {
        let (now, local) = (self.agenda.now, self.local(place));
        let client = &mut self.clients[place];
        let writers = client.holds.iter().filter(|(_, held)| {
            held.asked.mode == Mode::Write && !held.is_given_up && !held.is_over
        });
        let writers: Vec<u64> = writers.map(|(hold, _)| *hold).collect();
        if writers.is_empty() {
            return;
        }
        let hold = writers[dice as usize % writers.len()];
        let request = client.next_request(now);
        client.awaited.insert(request.0);
        let Some(held) = client.holds.get_mut(&hold) else { return };
        held.asked.mode = Mode::Read;
        held.downgrades = Some(false);
        held.downgraded_by = request.0;
        let (attempt, token) = (held.attempt, held.token.clone());
        self.say(|| format!("{} becomes a reader by {token}", name(place)));
        self.match_downgrades(&token);
        if let Some(machine) = &mut self.clients[place].machine {
            machine.handle_downgrade(local, request, attempt);
        }
        self.turn(place);
    }

    fn give_up(&mut self, place: usize, dice: u64, heard_after: Duration, awaited: bool) {
        if let Some(hold) = self.clients[place].any_guard(dice) {
            self.give_up_hold(place, hold, heard_after, awaited);
        }
    }

    /// Drops a guard; the machine is notified at once, or later.
    pub(super) fn give_up_hold(
        &mut self,
        place: usize,
        hold: u64,
        heard_after: Duration,
        awaited: bool,
    ) {
        let local = self.local(place);
        let Some(held) = self.clients[place].holds.get_mut(&hold) else { return };
        held.in_time = held.is_valid(local);
        held.is_given_up = true;
        held.is_awaited = awaited;
        let (token, in_time) = (held.token.clone(), held.in_time);
        self.say(|| format!("{} gives {token} up, heard after {heard_after:?}", name(place)));
        if in_time {
            self.ends(place, hold, How::Released);
        }
        if !awaited {
            self.invariants.closed.opens(&token);
            if self.puts_back(place, hold) {
                return;
            }
        }
        if heard_after.is_zero() {
            self.hear(place, hold);
        } else {
            let at = self.agenda.now + nanos(heard_after);
            self.agenda.at(at, Happening::Heard { client: place, hold });
        }
    }

    /// Notifies the machine that a guard was given up.
    pub(super) fn hear(&mut self, place: usize, hold: u64) {
        let (now, local) = (self.agenda.now, self.local(place));
        let client = &mut self.clients[place];
        if client.paused > 0 {
            return client.waiting.push(Happening::Heard { client: place, hold });
        }
        let Some(held) = client.holds.get(&hold) else { return };
        let (attempt, in_time, awaited) = (held.attempt, held.in_time, held.is_awaited);
        self.match_given_back(place, hold);
        self.claim(place, hold);
        if !awaited && self.leaves_idle(place, hold) {
            return;
        }
        let client = &mut self.clients[place];
        let Some(held) = client.holds.get(&hold) else { return };
        let (token, stays) = (held.token.clone(), !held.asked.at_least.is_zero());
        self.invariants.keepers.released(&token, now);
        self.invariants.never_again.over(&token);
        let request = awaited.then(|| client.next_request(now));
        client.awaited.extend(request.map(|request| request.0));
        if let Some(request) = request.filter(|_| stays) {
            self.match_finishing(place, request, &token);
        }
        let client = &mut self.clients[place];
        if let Some(machine) = &mut client.machine {
            // A release says that the work has ended well, and a drop that it has not.
            if request.is_some() {
                machine.handle_ended_well(attempt);
            }
            machine.handle_release(local, request, attempt, in_time);
        }
        self.turn(place);
        let Some(held) = self.clients[place].holds.remove(&hold) else { return };
        // A lock-delay: its keys stay, for commands that are still in flight.
        let (is_lost, stays) = (held.is_gone || !in_time, !held.asked.at_least.is_zero());
        if is_lost && !held.asked.lock_delay.is_zero() || stays && (is_lost || awaited) {
            self.kept.insert(held.token);
        }
    }

    fn forget(&mut self, place: usize, dice: u64) {
        let local = self.local(place);
        let client = &mut self.clients[place];
        let Some(hold) = client.any_guard(dice) else { return };
        self.claim(place, hold);
        self.ends(place, hold, How::Forgotten);
        let Some(held) = self.clients[place].holds.remove(&hold) else { return };
        self.say(|| format!("{} leaves {}", name(place), held.token));
        self.invariants.never_again.over(&held.token);
        self.invariants.keepers.released(&held.token, self.agenda.now);
        self.kept.insert(held.token);
        if let Some(machine) = &mut self.clients[place].machine {
            machine.handle_forget(local, held.attempt);
        }
        self.turn(place);
    }

    fn inspect(&mut self, place: usize, key: &'static str) {
        let (now, local) = (self.agenda.now, self.local(place));
        let client = &mut self.clients[place];
        let request = client.next_request(now);
        client.inspected.insert(request.0, (key, now));
        if let Some(machine) = &mut client.machine {
            machine.handle_inspect(local, request, key, None);
        }
        self.turn(place);
    }

    fn force_release(&mut self, place: usize) {
        let (now, local) = (self.agenda.now, self.local(place));
        let client = &mut self.clients[place];
        // No client owns the mark of readers.
        let seen = client.seen.take().filter(|(_, value)| value != MARK);
        let Some((key, value)) = seen else { return };
        let request = client.next_request(now);
        client.awaited.insert(request.0);
        self.say(|| format!("{} takes {key} away from {value}", name(place)));
        let token = value.strip_prefix(DONE).unwrap_or(&value);
        self.invariants.owners.name(key, token);
        let token = token.to_owned();
        self.match_leaving(&token);
        if let Some(machine) = &mut self.clients[place].machine {
            machine.handle_force_release(local, request, key, None, value);
        }
        self.turn(place);
    }
}

//! Locks that are kept warm: a guard that is dropped leaves its lock with its client, for the next guard there.
//! Messages ask for it, at any time and from any client.

use super::client::name;
use super::clock::{Time, millis, nanos};
use super::flaw::Flaw;
use super::judge::KEYS;
use super::plan::{Act, Asked, Mode, RESOURCES};
use super::seed::Rng;
use super::setup::Setup;
use super::world::World;
use quorumlock_core::coordinator::{AcquireRequest, AttemptId, RequestId};
use quorumlock_core::shelf::{IdleHold, Lent};
use std::sync::Arc;
use std::time::Duration;

/// Lets most callers want the same, and leave it warm, and draws asks. In a world with a fencing token for each
/// guard all of them want one.
pub(super) fn draw(setup: &Setup, acts: &mut Vec<(Time, Act)>, rng: &mut Rng) {
    let mut again = Vec::new();
    let is_about_blocks = setup.flaw.is_some_and(Flaw::is_about_blocks);
    let fenced = setup.can_fence() && (rng.chance(50) || is_about_blocks);
    for (at, act) in acts.iter_mut() {
        match act {
            Act::Acquire { asked, seat } if asked.keys.len() == 1 && rng.chance(70) => {
                let ttl = setup.kind(*seat).max_ttl;
                (asked.mode, asked.is_permit, asked.fenced) = (Mode::Alone, false, fenced);
                (asked.keys, asked.ttl) = (RESOURCES[0], ttl);
                (asked.lock_delay, asked.at_least) = (Duration::ZERO, Duration::ZERO);
                asked.warm = millis(*rng.pick(&[50, 300, 1_000, 5_000]));
                // Its client wants it again, and again.
                for _ in 0..rng.within(0..4) {
                    let then = *at + rng.within(0..nanos(ttl));
                    let dice = rng.next();
                    again.push((then, Act::Drop { seat: *seat, dice }));
                    let asked = Asked { wait: asked.wait.max(millis(50)), ..asked.clone() };
                    let soon = then + rng.within(0..nanos(millis(100)));
                    again.push((soon, Act::Acquire { seat: *seat, asked }));
                }
            }
            Act::Release { seat, dice, .. } if rng.chance(80) => {
                *act = Act::Drop { seat: *seat, dice: *dice };
            }
            _ => {}
        }
    }
    acts.append(&mut again);
    for _ in 0..rng.within(0..15) {
        let at = rng.within(0..nanos(setup.length));
        let seat = rng.within(0..setup.seats() as u64) as usize;
        let key = *rng.pick(&KEYS);
        acts.push((at, Act::Ask { seat, key }));
    }
}

impl World {
    /// Drops a guard whose lock is to be kept warm. Returns `false` if the client does not keep it.
    pub(super) fn leaves_idle(&mut self, place: usize, hold: u64) -> bool {
        let local = self.local(place);
        let client = &mut self.clients[place];
        let Some(held) = client.holds.get(&hold).filter(|held| !held.asked.warm.is_zero()) else {
            return false;
        };
        let (token, attempt, in_time) = (held.token.clone(), held.attempt, held.in_time);
        let Some(machine) = &mut client.machine else { return false };
        if !machine.handle_leave_idle(local, attempt, in_time) {
            return false;
        }
        let warm = client.holds.remove(&hold).map_or(Duration::ZERO, |held| held.asked.warm);
        self.invariants.never_again.leaves_idle(&token);
        self.note_warm(place, &token, warm);
        self.say(|| format!("{} keeps {token} warm", name(place)));
        self.turn(place);
        true
    }

    /// Lets a caller take an idle lock of its client, as the shell does: without the machine. Returns `false` if there
    /// is none that suits it.
    pub(super) fn takes_idle(
        &mut self,
        place: usize,
        request: RequestId,
        acquire: &AcquireRequest,
    ) -> bool {
        let local = self.local(place);
        let Some(terms) = acquire.warm_terms() else { return false };
        let client = &mut self.clients[place];
        let mut lent = None;
        let lend = |hold: &Arc<Lent<u64>>| {
            lent = Some(hold.clone());
            request.0
        };
        if client.shelf.take(acquire.keys.first(), &terms, local, lend).is_none() {
            return false;
        }
        let Some(hold) = lent else { return false };
        self.taken += 1;
        let IdleHold { attempt, deadline, .. } = hold.hold;
        self.won(place, request, (attempt, deadline, 0), Some(hold));
        true
    }

    /// Gives a lock back to the shelf from which its guard has it. Returns `false` if the machine is to do that.
    pub(super) fn puts_back(&mut self, place: usize, hold: u64) -> bool {
        let local = self.local(place);
        let client = &mut self.clients[place];
        let Some(held) = client.holds.get(&hold).filter(|held| held.in_time) else { return false };
        if !held.lent.as_ref().is_some_and(|lent| lent.give_back(local)) {
            return false;
        }
        let token = held.token.clone();
        let warm = client.holds.remove(&hold).map_or(Duration::ZERO, |held| held.asked.warm);
        self.invariants.never_again.leaves_idle(&token);
        self.note_warm(place, &token, warm);
        self.say(|| format!("{} puts {token} back", name(place)));
        true
    }

    /// Lets the machine know of a guard that has its lock from the shelf.
    pub(super) fn claim(&mut self, place: usize, hold: u64) {
        let local = self.local(place);
        let client = &mut self.clients[place];
        let Some(held) = client.holds.get(&hold) else { return };
        if held.lent.as_ref().is_some_and(|lent| lent.claim())
            && let Some(machine) = &mut client.machine
        {
            machine.handle_claimed(local, held.attempt);
        }
    }

    /// Publishes an ask in the mailbox of a client, at every master.
    pub(super) fn ask(&mut self, place: usize, key: &str) {
        let now = self.agenda.now;
        let channel = format!("quorumlock:free:0:@{:016x}", (place as u64 + 1) << 32);
        self.say(|| format!("{} is asked for {key}", name(place)));
        for node in 0..self.masters.len() {
            self.masters[node].operate(now, &["PUBLISH", &channel, &format!("ask {key}")]);
            let outputs = std::iter::from_fn(|| self.masters[node].poll_output()).collect();
            self.send_answers(node, outputs);
        }
    }

    /// A guard is notified that a client elsewhere asks for its lock: some are given back.
    pub(super) fn wanted(&mut self, place: usize, attempt: AttemptId) {
        self.asks += 1;
        let local = self.local(place);
        let client = &mut self.clients[place];
        let gives_way = client.rng.chance(50);
        let held = client.holds.iter().find(|(_, held)| held.attempt == attempt);
        let held = held.filter(|(_, held)| held.is_valid(local) && !held.is_given_up);
        if let Some(hold) = held.map(|(hold, _)| *hold).filter(|_| gives_way) {
            self.give_up_hold(place, hold, millis(1), false);
        }
    }
}

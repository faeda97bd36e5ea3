//! Callers that detach a lock, and others that adopt it.

use super::agenda::Happening;
use super::client::{Held, name};
use super::clock::{millis, nanos, shown};
use super::flaw::Flaw;
use super::history::How;
use super::invariants::HonestDeadline;
use super::plan::{Asked, Mode};
use super::setup::DRIFT;
use super::world::World;
use quorumlock_core::coordinator::{
    Adopted, AttemptId, DetachedLock, NotAdopted, NotExtended, RequestId,
};
use quorumlock_core::quorum::Instant;
use std::time::Duration;

/// A lock on its way from one caller to another.
#[derive(Clone, Debug)]
pub(super) struct Parcel {
    asked: Asked,
    token: String,
    ballot: u64,
    lock: DetachedLock,
    /// The last deadline of the guard that was detached, on a clock that means nothing elsewhere.
    deadline: Instant,
    /// The number of times that it was not adopted.
    tries: usize,
}

/// The most times that a value is tried again.
const MOST_TRIES: usize = 4;

/// What becomes of a hold once it is detached.
#[derive(Clone, Copy, Debug)]
pub(super) struct Onward {
    pub(super) hold: u64,
    to: usize,
    after: Duration,
}

impl World {
    pub(super) fn detach(&mut self, place: usize, dice: u64, to: usize, after: Duration) {
        if self.setup.story.is_some() {
            return;
        }
        let (now, local) = (self.agenda.now, self.local(place));
        let client = &mut self.clients[place];
        let Some(hold) = client.any_guard(dice) else { return };
        // What readers and writers hold has no value to hand on.
        if client
            .holds
            .get(&hold)
            .is_none_or(|held| !matches!(held.asked.mode, Mode::Alone | Mode::Fair))
        {
            return;
        }
        let request = client.next_request(now);
        client.detaching.insert(request.0, Onward { hold, to, after });
        let attempt = client.holds[&hold].attempt;
        let token = client.holds[&hold].token.clone();
        self.say(|| format!("{} detaches {token}", name(place)));
        self.claim(place, hold);
        if let Some(machine) = &mut self.clients[place].machine {
            machine.handle_detach(local, request, attempt);
        }
        self.turn(place);
    }

    /// A guard is over before the value is in any other hands.
    pub(super) fn detached(
        &mut self,
        place: usize,
        request: RequestId,
        result: Result<Box<DetachedLock>, NotExtended>,
    ) {
        let Some(onward) = self.clients[place].detaching.remove(&request.0) else { return };
        let (Ok(lock), local) = (result, self.local(place)) else { return };
        let client = &mut self.clients[place];
        let hold = client.holds.get(&onward.hold);
        let Some(held) = hold.filter(|held| !held.is_given_up) else {
            // Its caller is gone, and takes the value with it: that is no work that has ended well.
            hold.into_iter().for_each(|held| self.invariants.closed.opens(&held.token));
            if let Some(machine) = &mut client.machine {
                machine.handle_give_back(local, *lock, None);
            }
            return;
        };
        let (token, asked, ballot) = (held.token.clone(), held.asked.clone(), held.ballot);
        let parcel =
            Parcel { asked, token, ballot, lock: *lock, deadline: held.deadline, tries: 0 };
        self.say(|| format!("{} has detached {}", name(place), parcel.token));
        self.kept.insert(parcel.token.clone());
        self.invariants.handed.given(&parcel.token);
        if self.setup.flaw != Some(Flaw::DetachedStaysValid) {
            self.ends(place, onward.hold, How::HandedOn);
            self.clients[place].holds.remove(&onward.hold);
        }
        let at = self.agenda.now + nanos(onward.after);
        let to = onward.to;
        self.agenda.at(at, Happening::Delivered { seat: to, parcel: Box::new(parcel) });
    }

    /// A parcel arrives where it is adopted; if no client is there, it is lost, and expires.
    pub(super) fn adopt(&mut self, seat: usize, parcel: Box<Parcel>) {
        let place = self.seats[seat];
        let (now, local) = (self.agenda.now, self.local(place));
        let client = &mut self.clients[place];
        if client.machine.is_none() || client.is_ending || self.every_client_goes {
            return;
        }
        if client.paused > 0 {
            return client.waiting.push(Happening::Delivered { seat, parcel });
        }
        let request = client.next_request(now);
        let lock = parcel.lock.clone();
        self.say(|| format!("{} adopts {}", name(place), parcel.token));
        self.adopters.insert(parcel.token.clone(), place);
        self.clients[place].adopts += 1;
        self.clients[place].adopting.insert(request.0, parcel);
        if let Some(machine) = &mut self.clients[place].machine {
            machine.handle_adopt(local, request, lock);
        }
        self.turn(place);
        if self.setup.flaw == Some(Flaw::HoldsBeforehand)
            && let Some(parcel) = self.clients[place].adopting.get(&request.0)
        {
            let (asked, token) = (parcel.asked.clone(), parcel.token.clone());
            let validity = asked.ttl.saturating_sub(DRIFT.of(asked.ttl));
            let attempt = AttemptId::NONE;
            let deadline = local.after(validity);
            let held = Held::new(asked, attempt, (token, parcel.ballot), now, deadline);
            self.clients[place].holds.insert(request.0, held);
        }
    }

    /// Lets a value that was not adopted be adopted once more: at any seat, now or later.
    fn try_again(&mut self, place: usize, mut parcel: Box<Parcel>) {
        if self.setup.flaw.is_some() || parcel.tries >= MOST_TRIES {
            return;
        }
        parcel.tries += 1;
        let seats = self.setup.seats() as u64;
        let rng = &mut self.clients[place].rng;
        let seat = rng.within(0..seats) as usize;
        let later = *rng.pick(&[5, 100, 400, 1_000, 2_500]);
        let at = self.agenda.now + nanos(millis(later));
        self.agenda.at(at, Happening::Delivered { seat, parcel });
    }

    /// Drops all that is being adopted: it is released.
    pub(super) fn cancel_adoptions(&mut self, place: usize) {
        let local = self.local(place);
        for (request, parcel) in std::mem::take(&mut self.clients[place].adopting) {
            // That is no work that has ended well.
            self.invariants.closed.opens(&parcel.token);
            if let Some(machine) = &mut self.clients[place].machine {
                machine.handle_give_back(local, parcel.lock, Some(RequestId(request)));
            }
        }
        self.turn(place);
    }

    pub(super) fn adopted(
        &mut self,
        place: usize,
        request: RequestId,
        result: Result<Adopted, NotAdopted>,
    ) {
        let local = self.local(place);
        let now = self.agenda.now;
        let Some(parcel) = self.clients[place].adopting.remove(&request.0) else {
            return self.find(Err("an adoption that was not asked for is answered".into()));
        };
        let again = parcel.clone();
        let Parcel { asked, token, ballot, deadline: old, .. } = *parcel;
        let adopted = match result {
            Ok(adopted) => adopted,
            Err(why) => {
                let why = why.as_str();
                self.say(|| format!("{} has not adopted {token}: {why}", name(place)));
                return self.try_again(place, again);
            }
        };
        let deadline = match self.setup.flaw {
            Some(Flaw::AdoptsTheDeadline) => old.max(adopted.deadline),
            _ => adopted.deadline,
        };
        self.adoptions += 1;
        self.invariants.closed.adopted(&token, asked.at_least);
        self.match_adopted(place, adopted.attempt, &token, deadline);
        let honest = HonestDeadline { ttl: asked.ttl, drift: DRIFT, now: local, deadline };
        let verdict = honest.judge(&token).and_then(|()| {
            let known = (&self.setup, &self.invariants.owners);
            // What another client takes away by force may be adopted all the same, by grants that came before.
            let excused = |other: &str| self.grounds.excuse_or_forced(known, &token, other);
            self.invariants.handed.adopted(&token, asked.keys, excused)
        });
        self.rests(place, &token, asked.ttl, deadline);
        let until = shown(self.clients[place].clock.when(deadline));
        self.say(|| format!("{} has adopted {token} until {until}", name(place)));
        let held = Held::new(asked, adopted.attempt, (token, ballot), now, deadline);
        self.clients[place].holds.insert(request.0, held);
        self.find(verdict);
    }
}

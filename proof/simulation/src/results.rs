//! The results reported to callers, and the checks of those results.

use super::agenda::Happening;
use super::callers::CHANNEL;
use super::client::{Held, name, named};
use super::clock::{Time, millis, nanos, shown};
use super::flaw::Flaw;
use super::history::{HoldSpan, How};
use super::invariants::{Extended, HonestDeadline, Verdict};
use super::plan::{Asked, Mode, RESOURCES};
use super::setup::DRIFT;
use super::world::World;
use quorumlock_core::coordinator::{
    AttemptId, Event, FailureKind, Mark, NotExtended, RequestId, StoredValue,
};
use quorumlock_core::quorum::{Instant, NodeSet};
use quorumlock_core::report::LossReason;
use quorumlock_core::shelf::Lent;
use std::num::NonZeroU64;
use std::sync::Arc;

impl World {
    pub(super) fn note(&mut self, place: usize, event: Event) {
        match event {
            Event::Connected => self.connected(place),
            Event::Acquired { request, attempt, .. }
                if self.serves_burst(place, request, attempt) => {}
            Event::Acquired { request, attempt, deadline, ballot } => {
                let ballot = ballot.map_or(0, NonZeroU64::get);
                self.won(place, request, (attempt, deadline, ballot), None);
            }
            Event::NotAcquired { request, failure, waited } => {
                let kind = failure.kind;
                self.say(|| {
                    format!("{} gets {} not after {waited:?}: {kind:?}", name(place), request.0)
                });
                self.stopped += u64::from(matches!(kind, FailureKind::Disagreement(_)));
                let now = self.agenda.now;
                self.clients[place].end_of_burst(request.0, now);
                self.clients[place].end_asked(request.0, now);
                if self.clients[place].is_leaving {
                    let violation = format!("all is well, and a lock cannot be had: {kind:?}");
                    self.find(Err(violation));
                }
            }
            Event::NoRandomness { .. } => self.find(Err("no random bits".into())),
            Event::Extended { request, attempt, result } => {
                request.iter().for_each(|id| _ = self.clients[place].awaited.remove(&id.0));
                if let (Some(request), Err(NotExtended::Lost)) = (request, &result) {
                    let verdict = self.judge_reported_lost(place, attempt, request);
                    self.find(verdict);
                }
                if let Ok(extended) = result {
                    self.match_extended(place, attempt, extended.deadline);
                    let held = self.clients[place].won(attempt);
                    if let Some(held) = held.filter(|held| held.downgrades == Some(true)) {
                        let token = &held.token;
                        let verdict = format!("{token} is extended as a writer, and was to read");
                        self.find(Err(verdict));
                    }
                    self.extended(place, attempt, extended.deadline);
                }
            }
            Event::Downgraded { request, attempt, result } => {
                self.clients[place].awaited.remove(&request.0);
                if let Some(held) = self.clients[place].won(attempt) {
                    held.downgrades = None;
                }
                match result {
                    Ok(extended) => {
                        self.match_extended(place, attempt, extended.deadline);
                        self.downgraded(place, attempt, extended.deadline);
                    }
                    Err(NotExtended::Lost) => {}
                    Err(NotExtended::Unconfirmed(_)) => self.is_a_writer_again(place, attempt),
                }
            }
            Event::Released { request, release } => {
                self.clients[place].awaited.remove(&request.0);
                self.match_released(place, request, &release);
            }
            Event::ForceReleased { request, .. } => {
                self.clients[place].awaited.remove(&request.0);
            }
            Event::Ahead { .. }
            | Event::Asked { .. }
            | Event::Heard { .. }
            | Event::InTheWay { .. }
            | Event::Looked { .. } => {}
            Event::Keep { attempt } => {
                let local = self.local(place);
                if let Some(machine) = &mut self.clients[place].machine {
                    machine.handle_keep(local, attempt);
                }
            }
            Event::Broken(invariant) => {
                self.find(Err(format!("broken: {}", invariant.as_str())));
            }
            Event::Wanted { attempt } => self.wanted(place, attempt),
            Event::Lost { attempt, reason } => {
                self.match_lost(place, attempt, &reason);
                self.lost(place, attempt, &reason);
            }
            Event::Inspected { request, nodes, .. } => {
                let membership = self.setup.kind(self.clients[place].seat).own_members();
                let client = &mut self.clients[place];
                let Some((key, since)) = client.inspected.remove(&request.0) else { return };
                let standing: Vec<Option<&StoredValue>> =
                    nodes.iter().map(|(_, seen)| seen.as_ref().ok()?.as_ref()).collect();
                let on = |value: &Mark| -> NodeSet {
                    let same = |(node, other): (usize, &Option<&StoredValue>)| {
                        other.is_some_and(|other| other.value == *value).then_some(node)
                    };
                    standing.iter().enumerate().filter_map(same).collect()
                };
                let holder = standing.iter().flatten();
                let mut holder = holder.filter(|stored| membership.is_quorum(on(&stored.value)));
                client.seen = holder.next().map(|stored| (key, stored.value.to_string()));
                let counts = nodes.iter().map(|(_, seen)| seen.is_ok());
                let counts = counts.enumerate().filter_map(|(own, counts)| counts.then_some(own));
                let verdict = self.judge_seen(place, since, counts.collect());
                self.find(verdict);
            }
            Event::Detached { request, attempt, result } => {
                match &result {
                    Ok(lock) => self.match_detached(place, attempt, lock),
                    Err(NotExtended::Unconfirmed(_)) => self.match_returned(place, attempt),
                    Err(NotExtended::Lost) => {}
                }
                self.detached(place, request, result);
            }
            Event::Adopted { request, result } => self.adopted(place, request, result),
            Event::Observed(_) => {}
        }
    }

    /// Checks that no caller hears that a hold is lost which has become a reader's since it asked.
    fn judge_reported_lost(&self, place: usize, attempt: AttemptId, request: RequestId) -> Verdict {
        let (client, local) = (&self.clients[place], self.local(place));
        let mut holds = client.holds.values();
        let held = holds.find(|held| held.attempt == attempt && held.is_valid(local));
        match held.filter(|held| !held.is_given_up && held.downgraded_by > request.0) {
            Some(held) => Err(format!("{} is reported as lost, and is held to read", held.token)),
            None => Ok(()),
        }
    }

    /// Checks that no master counts in an inspection that had lost its memory, and may not vote.
    fn judge_seen(&self, place: usize, since: Time, counts: NodeSet) -> Verdict {
        if !self.setup.may_forget() || self.setup.flaw.is_some() {
            return Ok(());
        }
        let (now, client) = (self.agenda.now, &self.clients[place]);
        // Clients' clocks are not the world's.
        let quarantine = self.setup.kind(client.seat).quarantine;
        let quarantine = nanos(quarantine - quarantine / 50);
        let is_cold = |own: &usize| {
            let forgot_at = self.masters[client.nodes[*own]].forgot_at;
            forgot_at.is_some_and(|at| at < since && now < at + quarantine)
        };
        match counts.iter().find(is_cold) {
            Some(own) => {
                let at = client.nodes[own] + 1;
                Err(format!("{} is shown what n{at} has, which has lost its memory", name(place)))
            }
            None => Ok(()),
        }
    }

    pub(super) fn won(
        &mut self,
        place: usize,
        request: RequestId,
        (attempt, deadline, ballot): (AttemptId, Instant, u64),
        lent: Option<Arc<Lent<u64>>>,
    ) {
        let (now, local) = (self.agenda.now, self.local(place));
        let client = &mut self.clients[place];
        let asked = client.end_asked(request.0, now);
        let Some(machine) = &mut client.machine else { return };
        let token = machine.token(attempt).expect("the token of a win");
        let Some(asked) = asked else {
            // No caller waits for it any more.
            return machine.handle_release(local, None, attempt, true);
        };
        let slot = machine.slot(attempt).map(usize::from);
        let asked = match slot.filter(|_| asked.is_permit) {
            Some(slot) => Asked { keys: RESOURCES[slot], ..asked },
            None => asked,
        };
        let is_next = self.invariants.never_again.is_idle(&token);
        let repeats = self.setup.flaw == Some(Flaw::NumberTwice) && is_next && ballot != 0;
        let ballot = if repeats { ballot - 1 } else { ballot };
        match is_next {
            true => self.match_next((place, request.0), (attempt, ballot), &token, deadline),
            false => {
                let won = (attempt, ballot);
                self.match_won((place, request.0), won, &token, &asked, deadline);
            }
        }
        self.rests(place, &token, asked.ttl, deadline);
        self.invariants.given_back.won(&token);
        let (keys, named) = (asked.keys, self.invariants.owners.is_named(&token));
        if asked.mode == Mode::Fair {
            // What is kept warm goes to the next guard of its client.
            if asked.is_permit {
                self.invariants.order.won((place, CHANNEL), self.agenda.now);
            } else if !is_next {
                let verdict = self.judge_fair_win(place, request.0, keys[0], asked.ttl);
                self.find(verdict);
            }
        }
        let reads = asked.mode == Mode::Read;
        let honest = HonestDeadline { ttl: asked.ttl, drift: DRIFT, now: local, deadline };
        let verdict = honest.judge(&token).and_then(|()| {
            let known = (&self.setup, &self.invariants.owners);
            let excused = |other: &str| self.grounds.excuse(&self.setup, &token, other);
            // A hold that was taken away by force goes on warm until its client notices.
            let open = |other: &str| self.grounds.excuse_or_forced(known, &token, other);
            self.invariants.closed.won((&token, reads), keys, now, open)?;
            // Numbers go down where masters lose fences and have their clocks set back.
            let goes_down = self.setup.steps_back && (self.setup.replaces || self.forgets_fences());
            let fences = &mut self.invariants.fences;
            let excused = |other: &str| goes_down || excused(other);
            fences.won(&token, keys, asked.fenced, ballot, named, excused)?;
            self.invariants.never_again.won(&token)
        });
        self.note_win(place, &asked);
        self.works(place, request.0);
        if !asked.at_least.is_zero() {
            // A deadline is that far behind the start of its attempt.
            let validity = asked.ttl - DRIFT.of(asked.ttl);
            let began = Instant::from_nanos(deadline.as_nanos() - nanos(validity));
            let until = self.clients[place].clock.when(began.after(asked.at_least));
            self.invariants.closed.stays(&token, keys, until);
        }
        match is_next {
            true => {
                self.passed_on += 1;
                self.passed_on_fenced += u64::from(asked.fenced);
            }
            false => self.invariants.handed.won(&token, keys),
        }
        let client = &mut self.clients[place];
        self.wins += 1;
        let until = shown(client.clock.when(deadline));
        let is_leaving = client.is_leaving;
        client.won += usize::from(is_leaving);
        let mut held = Held::new(asked, attempt, (token.clone(), ballot), now, deadline);
        held.lent = lent;
        client.holds.insert(request.0, held);
        self.say(|| {
            format!("{} has {keys:?} by {token}, ballot {ballot}, until {until}", name(place))
        });
        self.find(verdict);
        if is_leaving {
            let at = now + nanos(millis(1));
            if let Some(held) = self.clients[place].holds.get_mut(&request.0) {
                held.in_time = true;
                held.is_given_up = true;
            }
            self.ends(place, request.0, How::Released);
            self.claim(place, request.0);
            self.agenda.at(at, Happening::Heard { client: place, hold: request.0 });
        }
    }

    fn extended(&mut self, place: usize, attempt: AttemptId, deadline: Instant) {
        let local = self.local(place);
        let Some(held) = self.clients[place].won(attempt) else { return };
        let (token, ttl) = (held.token.clone(), held.asked.ttl);
        let extended = Extended { old: held.deadline, new: deadline, now: local };
        held.deadline = deadline;
        let verdict = self.invariants.never_again.extended(&token, &extended);
        let honest = HonestDeadline { ttl, drift: DRIFT, now: local, deadline };
        let verdict = verdict.and_then(|()| honest.judge(&token));
        self.rests(place, &token, ttl, deadline);
        let until = shown(self.clients[place].clock.when(deadline));
        self.say(|| format!("{} has {token} extended until {until}", name(place)));
        self.find(verdict);
    }

    /// Notes that a writer has become a reader. Its deadline stays as it was if too few masters have
    /// confirmed.
    fn downgraded(&mut self, place: usize, attempt: AttemptId, deadline: Instant) {
        self.downgrades += 1;
        let Some(held) = self.clients[place].won(attempt) else { return };
        if held.deadline != deadline {
            self.extended(place, attempt, deadline);
        }
    }

    /// Notes that no master can have made a writer a reader.
    fn is_a_writer_again(&mut self, place: usize, attempt: AttemptId) {
        if let Some(held) = self.clients[place].won(attempt) {
            held.asked.mode = Mode::Write;
            let token = held.token.clone();
            self.match_writes_again(&token);
            let verdict = self.judge_writer(&token);
            self.find(verdict);
        }
    }

    fn lost(&mut self, place: usize, attempt: AttemptId, reason: &LossReason) {
        let local = self.local(place);
        let clock = self.clients[place].clock;
        let holds = &self.clients[place].holds;
        let hold = holds.iter().find(|(_, held)| held.attempt == attempt).map(|(hold, _)| *hold);
        let Some(hold) = hold else { return };
        let Some(held) = self.clients[place].holds.get_mut(&hold) else { return };
        let (token, deadline) = (held.token.clone(), held.deadline);
        let why = match reason {
            LossReason::Lapsed => How::Lapsed,
            LossReason::QuorumGone(_) => How::QuorumGone,
            _ => How::Released,
        };
        held.is_gone |= matches!(reason, LossReason::QuorumGone(_));
        let is_delayed = !(held.asked.at_least.is_zero() && held.asked.lock_delay.is_zero());
        // A client that adopts it late does not know of a time that is over by then.
        let is_delayed = is_delayed && !self.adopters.contains_key(&token);
        if is_delayed && (held.is_gone || !held.in_time) && self.setup.flaw.is_none() {
            self.invariants.closed.leaves(&token);
        }
        if !held.in_time {
            let (keys, delay) = (held.asked.keys, held.asked.lock_delay);
            let reads = held.asked.mode == Mode::Read;
            self.invariants.closed.lost((&token, reads), keys, clock.when(deadline), delay);
        }
        self.invariants.never_again.over(&token);
        self.say(|| format!("{} has lost {token}: {why:?}", name(place)));
        let verdict = self.judge_lost(place, hold, why);
        self.find(verdict);
        if *reason == LossReason::Lapsed && local < deadline {
            let early = deadline.since(local);
            self.find(Err(format!("{token} is reported lapsed {early:?} before its deadline")));
        }
        self.ends(place, hold, why);
    }

    /// Ends a hold: its holder no longer believes in it.
    pub(super) fn ends(&mut self, place: usize, hold: u64, how: How) {
        let now = self.agenda.now;
        let clock = self.clients[place].clock;
        let Some(held) = self.clients[place].holds.get_mut(&hold) else { return };
        if std::mem::replace(&mut held.is_over, true) {
            return;
        }
        self.match_given_back(place, hold);
        let Some(held) = self.clients[place].holds.get(&hold) else { return };
        let span = |key: &&str| HoldSpan {
            client: name(place),
            resource: (*key).to_owned(),
            token: named(&held.token),
            from: held.won_at,
            to: now,
            deadline: clock.when(held.deadline),
            ballot: held.ballot,
            how,
        };
        self.history.holds.extend(held.asked.keys.iter().map(span));
    }
}

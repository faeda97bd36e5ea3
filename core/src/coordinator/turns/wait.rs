//! The wait of an acquire for its turn: it does what the table says, one round at a time.

use super::Turn;
use crate::coordinator::contention::Phase;
use crate::coordinator::timers::Timer;
use crate::coordinator::wire::Token;
use crate::coordinator::{self, AttemptId, Coordinator, Failure, RequestId};
use crate::quorum::Instant;
use crate::quorum::turns::{Does, Event};

impl Coordinator {
    /// Lets an acquire wait in turn that has lost an attempt, if it may. Returns its failure otherwise.
    pub(in crate::coordinator) fn wait_in_turn(
        &mut self,
        now: Instant,
        request: RequestId,
        failed: AttemptId,
        failure: Failure,
    ) -> Option<Failure> {
        let acquisition = self.acquisitions.get(request)?;
        let (keys, until) = (acquisition.request.keys.clone(), acquisition.until());
        let contention = acquisition.contention.as_ref()?;
        let has_place = contention.turn.is_some();
        let may_stand = failure.kind.is_contended() && !contention.is_denied_turns;
        if keys.queue().is_none() || !(has_place || may_stand) {
            return Some(failure);
        }
        if !has_place {
            // Without a name it waits as any other acquire does.
            let Some(name) = self.random.bits().map(Token::new) else { return Some(failure) };
            let contention = self.acquisitions.contention_mut(request)?;
            contention.turn = Some(Box::new(Turn::new(now, name)));
        }
        if self.settings.wake_ups {
            self.listen(now, &keys);
        }
        let (membership, backoff) = (self.settings.membership, self.settings.backoff);
        let random = self.random.jitter();
        let contention = self.acquisitions.contention_mut(request)?;
        let event = contention.event(membership, &failure.reports, false);
        let turn = contention.turn.as_mut()?;
        turn.lose(now, backoff, random);
        let mut failure = failure;
        let ahead = turn.ahead(membership);
        failure.ahead = ahead;
        contention.phase =
            Phase::Waiting { failed, since: now, random: None, again_at: until, failure };
        self.timers.set(until, Timer::Attempt(request));
        self.tell_wait(request, ahead);
        match has_place {
            true => self.learn_turn(now, request, event),
            false => self.take_turn(now, request),
        }
        None
    }

    /// Tells the caller how many are `ahead` of it, if that is known and new, and observers what it waits
    /// for.
    pub(super) fn tell_wait(&mut self, request: RequestId, ahead: Option<usize>) {
        self.observe_wait(request);
        if let Some(turn) = self.acquisitions.turn_mut(request)
            && turn.place.ticket.and(ahead).is_some()
            && turn.ahead_told != ahead
        {
            turn.ahead_told = ahead;
            self.events.push(coordinator::Event::Ahead { request, ahead });
        }
    }

    /// Handles a message on the channel of the key that this acquire waits for in turn; `None` if one
    /// may have been missed. Returns `false` if it does not wait in turn.
    pub(in crate::coordinator) fn call(
        &mut self,
        now: Instant,
        request: RequestId,
        message: Option<&str>,
    ) -> bool {
        let Some(turn) = self.acquisitions.turn_mut(request) else { return false };
        let event = match message {
            None => Event::Second,
            Some("") => Event::Freed,
            Some(name) if name.as_bytes() == turn.place.waiter.digits() => Event::Named,
            Some(_) => return true,
        };
        self.happens(now, request, event);
        self.take_turn(now, request);
        true
    }

    /// Lets a waiter look that has heard no quorum, now that one can vote.
    pub(in crate::coordinator) fn look_again(&mut self, now: Instant, request: RequestId) {
        self.happens(now, request, Event::Second);
        self.take_turn(now, request);
    }

    /// Lets an event happen to a waiter.
    pub(super) fn happens(&mut self, now: Instant, request: RequestId, event: Event) {
        let Some(turn) = self.acquisitions.turn_mut(request) else { return };
        if turn.happens(now, event) == Does::Withdraw {
            self.withdraw_from_turn(now, request);
        }
    }

    /// Goes on with what is due, unless a round is under way.
    pub(in crate::coordinator) fn take_turn(&mut self, now: Instant, request: RequestId) {
        loop {
            let Some(turn) = self.acquisitions.turn_mut(request) else { return };
            let Some(event) = turn.due(now) else { break };
            self.happens(now, request, event);
        }
        let Some(acquisition) = self.acquisitions.get_mut(request) else { return };
        let until = acquisition.until();
        let Some(contention) = &mut acquisition.contention else { return };
        let Some(turn) = &mut contention.turn else { return };
        let Phase::Waiting { again_at, .. } = &mut contention.phase else { return };
        // A look that it need not wait for: a try brings an answer of its own.
        let ended = turn.looking.take_if(|_| turn.wants && turn.place.ticket.is_some());
        let (rests, tries, looks) = (turn.looking.is_some(), turn.wants, turn.looks);
        let next_at = turn.next_at().min(until);
        let old = std::mem::replace(again_at, next_at);
        self.timers.cancel(old, Timer::Attempt(request));
        if let Some(round) = ended {
            self.close_round(round);
        }
        if !rests && tries {
            if let Some(turn) = self.acquisitions.turn_mut(request) {
                turn.try_now();
            }
            return self.try_again(now, request);
        }
        self.timers.set(next_at, Timer::Attempt(request));
        if !rests && looks {
            self.look(now, request);
        }
    }
}

//! The wait of an acquire for its turn: it does what the table says, one round at a time.

use super::Turn;
use crate::quorum::turns::{Does, Event};
use crate::shared::{self, AttemptId, Cx, Failure, Keys, RequestId, Timer};
use crate::waiting::{Phase, Step, Waiters};

impl Waiters {
    /// Lets an acquire wait in turn that has lost an attempt, if it may. Returns its failure otherwise.
    pub(crate) fn wait_in_turn(
        &mut self,
        cx: &mut Cx,
        request: RequestId,
        keys: &Keys,
        failed: AttemptId,
        failure: Failure,
    ) -> Option<Failure> {
        let acquisition = self.acquisitions.get(request)?;
        let contention = acquisition.contention.as_ref()?;
        let has_place = contention.turn.is_some();
        let may_stand = failure.kind.is_contended() && !contention.is_denied_turns;
        if !(has_place || may_stand) {
            return Some(failure);
        }
        if !has_place && !self.takes_place(cx, request) {
            return Some(failure);
        }
        let (membership, backoff) = (cx.masters.settings.membership, cx.masters.settings.backoff);
        let random = cx.masters.random.jitter();
        let contention = self.acquisitions.contention_mut(request)?;
        contention.mended = false;
        let event = contention.event(membership, &failure.reports, false);
        let turn = contention.turn.as_mut()?;
        turn.lose(cx.now, backoff, random);
        self.stand_in_turn(cx, request, keys, failed, failure);
        self.ask_holders(cx, request, keys);
        match has_place {
            true => self.learn_turn(cx, request, event),
            false => self.take_turn(cx, request),
        }
        None
    }

    /// Gives an acquire a place. Returns `false` without a name for it: then it waits as any other acquire does.
    pub(super) fn takes_place(&mut self, cx: &mut Cx, request: RequestId) -> bool {
        let Some(name) = cx.masters.token() else { return false };
        let Some(contention) = self.acquisitions.contention_mut(request) else { return false };
        contention.turn = Some(Box::new(Turn::new(cx.now, name)));
        true
    }

    /// Lets an acquire wait that has a place.
    pub(super) fn stand_in_turn(
        &mut self,
        cx: &mut Cx,
        request: RequestId,
        keys: &Keys,
        failed: AttemptId,
        mut failure: Failure,
    ) {
        if cx.masters.settings.wake_ups {
            self.open_mailbox(cx, keys);
        }
        let Some(acquisition) = self.acquisitions.get_mut(request) else { return };
        let until = acquisition.until();
        let Some(contention) = &mut acquisition.contention else { return };
        let membership = cx.masters.settings.membership;
        let ahead = contention.turn.as_ref().and_then(|turn| turn.ahead(membership));
        failure.ahead = ahead;
        contention.phase =
            Phase::Waiting { failed, since: cx.now, random: None, again_at: until, failure };
        cx.timers.set(until, Timer::Attempt(request));
        self.tell_wait(cx, request, ahead);
    }

    /// Listens on the channel of the key for one that is still first after another look: the holder may be
    /// a client that does not know of the queue.
    pub(super) fn listen_while_first(&mut self, cx: &mut Cx, request: RequestId) {
        let Some(acquisition) = self.acquisitions.get_mut(request) else { return };
        let keys = acquisition.request.keys.clone();
        let turn = acquisition.contention.as_mut().and_then(|contention| contention.turn.as_mut());
        let Some(turn) = turn else { return };
        if cx.masters.settings.wake_ups && turn.is_first() {
            turn.listens = true;
            self.listen(cx, &keys);
            self.ask_holders(cx, request, &keys);
        }
    }

    /// Tells the caller how many are `ahead` of it, if that is known and new, and observers what it waits
    /// for.
    pub(super) fn tell_wait(&mut self, cx: &mut Cx, request: RequestId, ahead: Option<usize>) {
        self.observe_wait(cx, request);
        if let Some(turn) = self.acquisitions.turn_mut(request)
            && turn.place.ticket.and(ahead).is_some()
            && turn.last_ahead != ahead
        {
            turn.last_ahead = ahead;
            cx.events.push(shared::Event::Ahead { request, ahead });
        }
    }

    /// Handles a message for the acquire, which names a waiter or no one; `None` if one may have been missed.
    /// Returns `false` if it does not wait in turn.
    pub(crate) fn call(&mut self, cx: &mut Cx, request: RequestId, message: Option<&str>) -> bool {
        let Some(turn) = self.acquisitions.turn_mut(request) else { return false };
        let event = match message {
            None => Event::Due,
            Some("") => Event::Freed,
            Some(name) if name.as_bytes() == turn.place.waiter.digits() => Event::Named,
            Some(_) => return true,
        };
        self.happens(cx, request, event);
        self.take_turn(cx, request);
        true
    }

    /// Lets a waiter look that comes nearer faster than it knows, if it is the one that a message names: its
    /// place has been shortened.
    pub(crate) fn hurry(&mut self, cx: &mut Cx, request: RequestId, name: &str) {
        let turn = self.acquisitions.turn_mut(request);
        if let Some(turn) = turn.filter(|turn| name.as_bytes() == turn.place.waiter.digits()) {
            turn.hurry(cx.now);
            self.look_again(cx, request);
        }
    }

    /// Lets a waiter look that has heard no quorum, now that one can vote.
    pub(crate) fn look_again(&mut self, cx: &mut Cx, request: RequestId) {
        self.happens(cx, request, Event::Due);
        self.take_turn(cx, request);
    }

    /// Lets an event happen to a waiter.
    pub(super) fn happens(&mut self, cx: &mut Cx, request: RequestId, event: Event) {
        let Some(turn) = self.acquisitions.turn_mut(request) else { return };
        if turn.happens(cx.now, event) == Does::Withdraw {
            self.withdraw_from_turn(cx, request);
        }
    }

    /// Goes on with what is due, unless a round is under way.
    pub(crate) fn take_turn(&mut self, cx: &mut Cx, request: RequestId) {
        loop {
            let Some(turn) = self.acquisitions.turn_mut(request) else { return };
            let Some(event) = turn.due(cx.now) else { break };
            self.happens(cx, request, event);
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
        cx.timers.cancel(old, Timer::Attempt(request));
        if let Some(round) = ended {
            self.step(Step::Drop(round));
        }
        if !rests && tries {
            if let Some(turn) = self.acquisitions.turn_mut(request) {
                turn.try_now();
            }
            return self.try_again(cx, request);
        }
        cx.timers.set(next_at, Timer::Attempt(request));
        if !rests && looks {
            self.step(Step::Ask(request));
        }
    }
}

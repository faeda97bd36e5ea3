//! The withdrawal of a waiter: its place is taken out of the queues.

use super::Turn;
use crate::master::{Debt, Deleted, Deletion};
use crate::quorum::{Clocks, Membership, NodeSet};
use crate::report::{Answer, Refusal};
use crate::shared::{Cx, Event, Keys, RequestId, Timer};
use crate::waiting::{Contention, Phase, Step, Waiters};
use crate::wire::{Claim, Leaves, PLACE_LIVES, Place, is_denied};
use std::sync::Arc;
use std::time::Duration;

impl Contention {
    /// Returns whether so many masters deny a right to a waiter that it can have no place at a quorum.
    fn denies_turns(&self, membership: Membership) -> bool {
        let Phase::Waiting { failure, .. } = &self.phase else { return false };
        let denies = |answer: &Answer| matches!(answer, Answer::Refused(Refusal::Server(error)) if is_denied(error));
        !membership.is_quorum(NodeSet::places(&failure.reports, |report| !denies(&report.answer)))
    }
}

impl Contention {
    /// Returns the place from which a try is made, whose round begins.
    pub(crate) fn place(&mut self, cx: &Cx) -> Option<Box<Place>> {
        let turn = self.turn.as_deref_mut()?;
        self.clocks = Clocks::default();
        turn.begin_try(cx.now, cx.masters.sessions.len());
        Some(Box::new(turn.place))
    }
}

impl Waiters {
    /// Leaves the place of an acquire to its try, if one is under way: it goes with that. Where the try was
    /// not sent, the place is given back by itself.
    pub(crate) fn leave_place_to_try(&mut self, cx: &mut Cx, request: RequestId) {
        let Some(acquisition) = self.acquisitions.get_mut(request) else { return };
        let keys = acquisition.request.keys.clone();
        if let Some(contention) = &mut acquisition.contention
            && matches!(contention.phase, Phase::Trying { .. })
            && let Some(mut turn) = contention.turn.take()
        {
            turn.leave_to_try();
            self.leave_turn(cx, keys, *turn, false);
        }
    }

    /// Takes a waiter that cannot win out of the queues, so that no other waits for it. From now on it
    /// waits as any other acquire does.
    pub(super) fn withdraw_from_turn(&mut self, cx: &mut Cx, request: RequestId) {
        let random = cx.masters.quorum_can_vote(cx.now).then(|| cx.masters.random.jitter());
        let Some(acquisition) = self.acquisitions.get_mut(request) else { return };
        let keys = acquisition.request.keys.clone();
        let Some(contention) = &mut acquisition.contention else { return };
        let Some(turn) = contention.turn.take() else { return };
        contention.is_denied_turns = contention.denies_turns(cx.masters.settings.membership);
        if matches!(contention.phase, Phase::Waiting { .. })
            && let Phase::Waiting { failed, again_at, failure, .. } =
                std::mem::replace(&mut contention.phase, Phase::Confirming)
        {
            cx.timers.cancel(again_at, Timer::Attempt(request));
            let settings = &cx.masters.settings;
            let at = contention.wait(cx.now, settings, failed, failure, Duration::ZERO, random);
            cx.timers.set(at, Timer::Attempt(request));
        }
        if turn.last_ahead.is_some() {
            cx.events.push(Event::Ahead { request, ahead: None });
        }
        let is_untried = contention.attempts == 0;
        self.queues.forget(keys.first());
        self.leave_turn(cx, keys, *turn, false);
        if is_untried {
            self.retry(cx, request);
        }
    }

    /// Gives a place back. A master names the next, in case the key was kept for this one; if it has won, it
    /// has the key, and there is nothing to announce.
    pub(crate) fn leave_turn(&mut self, cx: &mut Cx, keys: Keys, turn: Turn, has_won: bool) {
        let announces = cx.masters.settings.wake_ups && !has_won;
        let channel = keys.messages().next().filter(|_| announces);
        let tellers =
            channel.map_or(NodeSet::EMPTY, |(channel, _)| cx.masters.tellers(cx.now, channel));
        if let Some(look) = turn.looking {
            self.step(Step::Drop(look));
        }
        if turn.listens {
            self.stop_listening(cx, &keys);
        }
        let claim = Claim {
            keys: keys.clone(),
            // It is under no key.
            token: turn.place.waiter,
            life: PLACE_LIVES.into(),
            ballot: None,
            label: None,
            unsettled: NodeSet::EMPTY,
            place: Some(Box::new(turn.place)),
        };
        let deletion = Arc::new(Deletion {
            what: Deleted::Claim(claim),
            leaves: Leaves::Place,
            ttl: PLACE_LIVES,
            notifies: false,
            calls: false,
            round: None,
            began: cx.now,
        });
        for node in turn.touched().iter() {
            let mut debt = Debt::new(deletion.clone());
            debt.tells = tellers.contains(node).then(|| keys.clone());
            cx.masters.sessions[node].send_deletion(cx.now, debt, &mut cx.masters.packer);
        }
    }
}

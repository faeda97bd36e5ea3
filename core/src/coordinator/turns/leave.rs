//! The withdrawal of a waiter: its place is taken out of the queues.

use super::Turn;
use crate::coordinator::contention::{Contention, Phase};
use crate::coordinator::ledger::{Debt, Deleted, Deletion};
use crate::coordinator::timers::Timer;
use crate::coordinator::wire::{Claim, Leaves, PLACE_LIVES, is_denied};
use crate::coordinator::{Coordinator, Event, Keys, RequestId};
use crate::quorum::{Instant, Membership, NodeSet};
use crate::report::{Answer, Refusal};
use std::sync::Arc;
use std::time::Duration;

impl Contention {
    /// Returns whether so many masters deny a right to a waiter that it can have no place at a quorum.
    fn denies_turns(&self, membership: Membership) -> bool {
        let Phase::Waiting { failure, .. } = &self.phase else { return false };
        let denies = |answer: &Answer| matches!(answer, Answer::Refused(Refusal::Server(error)) if is_denied(error));
        let others = failure.reports.iter().enumerate().filter(|(_, one)| !denies(&one.answer));
        !membership.is_quorum(others.map(|(node, _)| node).collect())
    }
}

impl Coordinator {
    /// Takes a waiter that cannot win out of the queues, so that no other waits for it. From now on it
    /// waits as any other acquire does.
    pub(super) fn withdraw_from_turn(&mut self, now: Instant, request: RequestId) {
        let random = self.quorum_can_vote(now).then(|| self.random.jitter());
        let Some(acquisition) = self.acquisitions.get_mut(request) else { return };
        let keys = acquisition.request.keys.clone();
        let Some(contention) = &mut acquisition.contention else { return };
        let Some(turn) = contention.turn.take() else { return };
        contention.is_denied_turns = contention.denies_turns(self.settings.membership);
        if let Phase::Waiting { failed, again_at, failure, .. } =
            std::mem::replace(&mut contention.phase, Phase::Confirming)
        {
            self.timers.cancel(again_at, Timer::Attempt(request));
            let settings = &self.settings;
            let at = contention.wait(now, settings, failed, failure, Duration::ZERO, random);
            self.timers.set(at, Timer::Attempt(request));
        }
        if turn.ahead_told.is_some() {
            self.events.push(Event::Ahead { request, ahead: None });
        }
        self.leave_turn(now, keys, *turn);
    }

    /// Gives a place back. The master that tells names the next, if the key was kept for this one.
    pub(in crate::coordinator) fn leave_turn(&mut self, now: Instant, keys: Keys, turn: Turn) {
        let channel = keys.messages().next().filter(|_| self.settings.wake_ups);
        let teller = channel.and_then(|(channel, _)| self.first_node(now, channel));
        self.take_out(now, keys, turn, teller);
    }

    /// Gives back the place of a winner: however its hold ends, none waits for it. There is nothing to
    /// tell, since it has the key.
    pub(in crate::coordinator) fn leave_turn_won(&mut self, now: Instant, keys: Keys, turn: Turn) {
        self.take_out(now, keys, turn, None);
    }

    fn take_out(&mut self, now: Instant, keys: Keys, turn: Turn, teller: Option<usize>) {
        if let Some(look) = turn.looking {
            self.close_round(look);
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
            is_told: false,
            round: None,
            began: now,
        });
        for node in turn.touched().iter() {
            let mut debt = Debt::new(deletion.clone());
            debt.tells = (teller == Some(node)).then(|| keys.clone());
            self.sessions[node].send_deletion(now, debt, &mut self.packer);
        }
    }
}

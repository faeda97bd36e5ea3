//! Releases and rollbacks: sent in the cheapest way that the server supports, and owed until an
//! integer answers.

use super::{Incoming, PendingReply, Session};
use crate::coordinator::ledger::{Debt, Deleted};
use crate::coordinator::release;
use crate::coordinator::wire::{Claim, Leaves, Packer, Reply, Way};
use crate::coordinator::{Keys, Queue, Settings};
use crate::quorum::Instant;
use std::sync::Arc;

/// The ways in which the server can release, as far as this connection has shown.
#[derive(Default)]
pub(super) struct Known {
    /// It has a command for single keys.
    pub(super) native: bool,
    /// The server has run the script for single keys in full, and so knows it by its hash.
    release: bool,
    /// The same for the script for several keys and fences.
    release_all: bool,
    /// The same for the script of readers, and those that were loaded for them.
    release_read: bool,
    pub(super) reads: bool,
    /// The same for those of clients that wait in turn.
    leave: bool,
    /// Our user may not leave in turn: what it holds is released as any other lock.
    denies_turns: bool,
    pub(super) asks: bool,
    /// Our user may not call anything by its hash.
    denies_hashes: bool,
}

impl Known {
    fn script(&mut self, claim: &Claim) -> &mut bool {
        match claim.keys.as_reader() {
            Some(_) => &mut self.release_read,
            None if self.queue_of(claim).is_some() => &mut self.leave,
            None if claim.is_plain() => &mut self.release,
            None => &mut self.release_all,
        }
    }

    /// Returns the queue of a claim that the script of those who wait in turn releases.
    fn queue_of<'a>(&self, claim: &'a Claim) -> Option<&'a Queue> {
        claim.keys.queue().filter(|_| !self.denies_turns)
    }

    /// Returns the cheapest way that may work.
    fn way(&mut self, debt: &Debt) -> Way {
        match debt.deletion.what.claim() {
            _ if matches!(debt.deletion.what, Deleted::Kept(_)) => Way::Shorten,
            claim if self.native && claim.is_plain() => Way::Native,
            claim if debt.by_hash && !self.denies_hashes && *self.script(claim) => Way::Hash,
            _ => Way::Full,
        }
    }

    /// Learns from an answer whether the way that was used works.
    fn learn(&mut self, debt: &Debt, way: Way, reply: &Reply) {
        let claim = debt.deletion.what.claim();
        match (way, reply) {
            (_, denied) if denied.is_denied() && self.queue_of(claim).is_some() => {
                self.denies_turns = true;
            }
            (_, other) if other.is_wrong_type() => {}
            (Way::Native, Reply::Error(_)) => self.native = false,
            (Way::Hash, denied) if denied.is_denied() => self.denies_hashes = true,
            (Way::Hash, Reply::Error(_)) => *self.script(claim) = false,
            (Way::Full, Reply::Int(_)) => *self.script(claim) = true,
            _ => {}
        }
    }
}

impl Session {
    /// Sends a rollback or a release, or keeps it until there is a connection.
    pub(in crate::coordinator) fn send_deletion(
        &mut self,
        now: Instant,
        mut debt: Debt,
        packer: &mut Packer,
    ) {
        if !self.is_open() {
            return self.ledger.owe(debt);
        }
        debt.repeat_while_unkillable(self.unkillable_since);
        let (deletion, mut tells) = (debt.deletion.clone(), debt.tells.clone());
        let way = self.known.way(&debt);
        let command = match &deletion.what {
            Deleted::Kept(kept) => kept.claim.shorten(packer, kept.left(now)),
            Deleted::Claim(claim) => {
                self.give_back(claim, deletion.leaves, way, &mut tells, packer)
            }
        };
        self.push(PendingReply::Deletion(debt, way), command);
        // Who may not leave in turn stood nowhere: only what it held is free now. A waiter that told of
        // its own withdrawal would wake itself, and all others, again and again.
        let is_in_turn = deletion.what.claim().keys.queue().is_some();
        if is_in_turn && deletion.leaves != Leaves::Hold {
            return;
        }
        for (channel, message) in tells.iter().flat_map(Keys::messages) {
            self.tell(channel, message, packer);
        }
    }

    /// Packs the release of a claim. What its script tells is taken out of `tells`: it knows whether
    /// there is anything to tell.
    fn give_back<'a>(
        &self,
        claim: &Claim,
        leaves: Leaves,
        way: Way,
        tells: &mut Option<Keys>,
        packer: &'a mut Packer,
    ) -> &'a [u8] {
        let mut channels = || tells.take().map(|_| &*self.channels);
        match (claim.keys.as_reader(), self.known.queue_of(claim)) {
            (Some(beside), _) => claim.release_read(packer, beside, way, channels()),
            (_, Some(queue)) => claim.leave(packer, queue, leaves, way, channels()),
            _ => claim.release(packer, way),
        }
    }

    /// Notifies those who wait that a key of `channel` is free. It is a hint, and not a debt.
    pub(in crate::coordinator) fn tell(
        &mut self,
        channel: &Arc<str>,
        message: &str,
        packer: &mut Packer,
    ) {
        let command = packer.publish(&self.channels, channel, message);
        self.pipe.push(PendingReply::Tell(channel.clone()), command);
    }

    /// Sends all that has waited for a connection, or to be sent again.
    pub(super) fn pay(&mut self, now: Instant, packer: &mut Packer) {
        for debt in self.ledger.take() {
            self.send_deletion(now, debt, packer);
        }
    }

    pub(super) fn debt_answered(
        &mut self,
        now: Instant,
        settings: &Settings,
        mut debt: Debt,
        way: Way,
        reply: &Reply,
    ) -> Incoming {
        let left_in_turn = !self.known.denies_turns;
        self.known.learn(&debt, way, reply);
        let is_unknown = reply.is_noscript() || reply.is_denied();
        let is_denied_a_turn = left_in_turn && self.known.denies_turns;
        if is_denied_a_turn || matches!(way, Way::Hash | Way::Native) && is_unknown {
            // Nothing was done. Sent again behind later commands, it is late, and no less certain.
            debt.by_hash = false;
            return Incoming::NotDone(debt);
        }
        let (round, may_have_run) = (debt.deletion.round, debt.may_have_run);
        let said = match reply {
            Reply::Int(deleted) => {
                self.ledger.answered(debt, now, settings.operation_timeout);
                Ok(*deleted > 0)
            }
            other if other.is_wrong_type() && is_nowhere(&debt, way) => {
                self.ledger.answered(debt, now, settings.operation_timeout);
                Ok(false)
            }
            other => {
                self.ledger.refused(debt, now, settings);
                Err(other.unexpected())
            }
        };
        match round {
            // It is unknown whether this client or another deleted the key: no vote.
            Some(round) if !(may_have_run && said == Ok(false)) => {
                Incoming::Release { round, answer: release::answer(said, way) }
            }
            _ => Incoming::Nothing,
        }
    }
}

/// Returns whether a master has nothing of a claim if something of another type has the name of a key.
/// The script that deletes several keys goes on with the others; the one that shortens them does not.
fn is_nowhere(debt: &Debt, way: Way) -> bool {
    debt.deletion.what.claim().keys.len() == 1 || way != Way::Shorten
}

//! Releases and rollbacks: sent in the cheapest way that the server supports, and owed until an
//! integer answers.

use crate::lock::release;
use crate::master::{Debt, PendingReply, Session};
use crate::quorum::Instant;
use crate::report::Answer;
use crate::shared::{Keys, RoundId};
use crate::wire::{Native, Packer, Reply, Way};
use std::sync::Arc;

/// The ways in which the server can release, as far as this connection has shown.
#[derive(Default)]
pub(super) struct Known {
    /// It has a command for single keys.
    pub(super) native: Option<Native>,
    /// The scripts that the server has run in full, and so knows by their hashes.
    ran: Vec<&'static str>,
    /// The scripts that were loaded for claims that call them by their hashes.
    pub(super) loaded: Vec<&'static str>,
    /// Our user may not call anything by its hash.
    denies_hashes: bool,
    /// Our user may not call a waiter.
    pub(super) denies_calls: bool,
    /// Our user may not publish, so clients of that user hear nothing of each other.
    pub(super) denies_messages: bool,
}

impl Known {
    /// Returns the cheapest way that may work.
    fn way(&self, debt: &Debt) -> Way {
        let claim = &debt.deletion.claim;
        let may_know = debt.by_hash && !self.denies_hashes;
        match self.native.filter(|_| claim.acquires_by_set()) {
            _ if debt.deletion.at_least.is_some() => Way::Shorten,
            Some(native) => Way::Native(native),
            None if may_know && self.ran.contains(&claim.release_script()) => Way::Hash,
            _ => Way::Full,
        }
    }

    /// Learns from an answer whether the way that was used works.
    fn learn(&mut self, debt: &Debt, way: Way, reply: &Reply) {
        let script = debt.deletion.claim.release_script();
        match (way, reply) {
            (_, other) if other.is_wrong_type() => {}
            (Way::Native(_), Reply::Error(_)) => self.native = None,
            (Way::Hash, denied) if denied.is_denied() => self.denies_hashes = true,
            (Way::Hash, Reply::Error(_)) => self.ran.retain(|known| *known != script),
            (Way::Full, Reply::Int(_)) if !self.ran.contains(&script) => self.ran.push(script),
            _ => {}
        }
    }
}

impl Session {
    /// Sends a rollback or a release, or keeps it until there is a connection.
    pub(crate) fn send_deletion(&mut self, now: Instant, mut debt: Debt, packer: &mut Packer) {
        if !self.is_open() {
            return self.owe(now, debt);
        }
        debt.repeat_while_unkillable(self.unkillable_since);
        let (deletion, mut tells, says) = (debt.deletion.clone(), debt.tells.clone(), debt.says);
        let way = self.known.way(&debt);
        let command = match deletion.left(now) {
            Some(left) => deletion.claim.shorten(packer, left),
            None => {
                let channels = tells.as_ref().map(|_| &*self.channels);
                let (command, announces) = deletion.claim.give_back(packer, way, channels);
                tells = tells.filter(|_| !announces);
                command
            }
        };
        self.push(PendingReply::Deletion(debt, way), command);
        match &tells {
            Some(keys) if deletion.calls => {
                keys.each().for_each(|key| self.call(key, says, false, packer));
            }
            Some(keys) => self.tell_of(keys, packer),
            None => {}
        }
    }

    /// Notifies the waiters for these keys that they are free.
    pub(crate) fn tell_of(&mut self, keys: &Keys, packer: &mut Packer) {
        if let Some(hint) = keys.hint().filter(|_| !self.known.denies_calls) {
            return self.tell_by_hint(keys.first(), hint, true, packer);
        }
        for (channel, message) in keys.messages() {
            self.tell(channel, message, packer);
        }
    }

    /// Notifies waiters that a key of `channel` is free. It is a hint, and not a debt.
    pub(crate) fn tell(&mut self, channel: &Arc<str>, message: &str, packer: &mut Packer) {
        let command = packer.publish(&self.channels, channel, message);
        self.push(PendingReply::Tell, command);
    }

    /// Does the same for a key that this hint keeps readers out of, or notifies only readers.
    pub(crate) fn tell_by_hint(
        &mut self,
        key: &Arc<str>,
        hint: &str,
        writers: bool,
        packer: &mut Packer,
    ) {
        let command = packer.notify(&self.channels, key, hint, writers);
        self.push(PendingReply::Tell, command);
    }

    /// Sends all that has waited for a connection, or to be sent again.
    pub(super) fn pay(&mut self, now: Instant, packer: &mut Packer) {
        for debt in self.ledger.take() {
            self.send_deletion(now, debt, packer);
        }
    }

    /// Handles the answer to a release or a rollback. Returns what it says to the round that waits for it, if there
    /// is one.
    ///
    /// # Errors
    ///
    /// The debt, if the release was not executed: the server does not know the command, or does not allow it for
    /// our user.
    pub(crate) fn debt_answered(
        &mut self,
        now: Instant,
        mut debt: Debt,
        way: Way,
        reply: &Reply,
    ) -> Result<Option<(RoundId, Answer)>, Debt> {
        self.known.learn(&debt, way, reply);
        let is_unknown = reply.is_noscript() || reply.is_denied();
        if matches!(way, Way::Hash | Way::Native(_)) && is_unknown {
            // Nothing was done. Sent again behind later commands, it is late, and no less certain.
            debt.by_hash = false;
            return Err(debt);
        }
        let (round, may_have_run) = (debt.deletion.round, debt.may_have_run);
        let outcome = match reply {
            Reply::Int(deleted) => Ok(*deleted > 0),
            other if other.is_wrong_type() && is_nowhere(&debt, way) => Ok(false),
            other => Err(other.unexpected()),
        };
        match outcome {
            Ok(_) => self.ledger.answered(debt, now, self.settings.operation_timeout),
            Err(_) => self.ledger.refused(debt, now, &self.settings),
        }
        // It is unknown whether this client or another deleted the key: no vote.
        let round = round.filter(|_| !(may_have_run && outcome == Ok(false)));
        Ok(round.map(|round| (round, release::answer(outcome, way))))
    }
}

/// Returns whether a master has nothing of a claim if something of another type has the name of a key.
/// The script that deletes several keys goes on with the others; the one that shortens them does not.
fn is_nowhere(debt: &Debt, way: Way) -> bool {
    debt.deletion.claim.keys.len() == 1 || way != Way::Shorten
}

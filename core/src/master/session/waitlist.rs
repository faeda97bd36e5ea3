//! Waitlists: the commands of a waiter that stands in one, and of a release that calls it.

use crate::master::{PendingReply, Session};
use crate::shared::{Keys, RequestId};
use crate::wire::waitlist::{Asks, Says, Wanted, leave_waitlist};
use crate::wire::{Packer, Reply, Token, WAITLIST};
use std::time::Duration;

impl Session {
    /// Asks whether a waiter may try, or where it stands. Returns `false` if nothing is asked now.
    pub(crate) fn wait(
        &mut self,
        request: RequestId,
        wanted: Wanted<'_>,
        asks: Asks,
        quiet: Duration,
        packer: &mut Packer,
    ) -> bool {
        let list = wanted.list().and_then(|name| self.settings.waitlist(name));
        let Some(list) = list else { return false };
        let spans = (quiet, self.settings.backoff.cap);
        let command = packer.wait((wanted, &list), asks, &self.channels, spans);
        let is_admitted = self.admits(command.len()).is_ok();
        if is_admitted {
            self.load_all(&[WAITLIST]);
            self.push(PendingReply::Wait(request, asks.waiter), command);
        }
        is_admitted
    }

    /// Takes a waiter out of the list. If the command gets lost, a call in vain does it.
    pub(crate) fn leave_waitlist(&mut self, key: &str, waiter: Token) {
        let Some(list) = self.settings.waitlist(key) else { return };
        let command = leave_waitlist(&list.places, waiter);
        if self.admits(command.len()).is_ok() {
            self.push(PendingReply::Uncounted, &command);
        }
    }

    /// Calls the next waiter for a key that is free, or `says` nothing here, and notifies those on its channel. It is a
    /// hint, and not a debt.
    pub(crate) fn call(&mut self, key: Keys, says: Says, is_repeated: bool, packer: &mut Packer) {
        let Some((channel, message)) = key.messages().next() else { return };
        match self.settings.waitlist(channel).filter(|_| !self.known.denies_calls) {
            Some(list) => {
                self.load_all(&[WAITLIST]);
                let command = packer.call((&key, &list), &self.channels, says);
                self.push(PendingReply::Call { key, says, is_repeated }, command);
            }
            None => self.tell(channel, message, packer),
        }
    }

    /// Returns whether this client may not publish here, so that no other is expected to.
    pub(crate) const fn denies_messages(&self) -> bool {
        self.known.denies_messages
    }

    /// Handles an error in place of a call, which has called no waiter and notified none. Returns whether the call is
    /// repeated: the master had forgotten the script.
    pub(crate) fn not_called(&mut self, reply: &Reply, is_repeated: bool) -> bool {
        let is_forgotten = reply.is_noscript() && !is_repeated;
        if is_forgotten {
            self.forget_scripts();
        }
        self.known.denies_calls |= reply.is_denied();
        is_forgotten
    }
}

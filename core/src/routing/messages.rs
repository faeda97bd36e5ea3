//! The messages to waiters, readers and holders: the masters at which each is written.

use crate::master::Masters;
use crate::quorum::Instant;
use crate::shared::Keys;
use crate::wire::waitlist::Says;
use crate::wire::{self, Mailbox};
use std::sync::Arc;

impl Masters {
    /// Returns the command that asks the process which reads this mailbox at `node` to give `key` back.
    pub(crate) fn asking(&mut self, node: usize, mailbox: Mailbox, key: &str) -> Vec<u8> {
        let (channel, message) = (wire::mailbox(mailbox), format!("ask {key}"));
        self.packer.publish(&self.sessions[node].channels, &channel, &message).to_vec()
    }

    /// Notifies the waiters for `key` at `node` once more that it is free, and calls the next of them by what it
    /// `says` there, if any is to be called.
    pub(crate) fn notify(&mut self, node: usize, key: Keys, says: Option<Says>) {
        let session = &mut self.sessions[node];
        match says {
            Some(says) => session.call(key, says, true, &mut self.packer),
            None => session.tell_of(&key, &mut self.packer),
        }
    }

    /// Calls the next waiter for a key, if it is free where its list is.
    pub(crate) fn call_next(&mut self, now: Instant, key: Arc<str>) {
        if let Some(node) = self.first_node(now, &key) {
            self.notify(node, Keys::one(key), Some(Says::Held));
        }
    }

    /// Notifies the waiters for these keys, wherever they listen, that the keys are free.
    pub(crate) fn tell_all_of(&mut self, now: Instant, keys: &Keys) {
        for key in keys.each() {
            let Some((channel, _)) = key.messages().next() else { continue };
            for node in self.tellers(now, channel).iter() {
                self.sessions[node].tell_of(&key, &mut self.packer);
            }
        }
    }

    /// Notifies the readers that wait for this key that they may be let in.
    pub(crate) fn tell_readers(&mut self, now: Instant, key: &Arc<str>, hint: &str) {
        for node in self.tellers(now, key).iter() {
            self.sessions[node].tell_by_hint(key, hint, false, &mut self.packer);
        }
    }
}

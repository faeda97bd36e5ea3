//! Mailboxes: a channel of this process alone at each master, on which a message reaches it and no other.
//!
//! The channel of a key reaches all that wait for it. A message for one of them goes to its mailbox instead:
//! the first digits of its name, as of each token of its process, name that channel. A process subscribes
//! to it once on a connection, as it opens, and to nothing for each wait or hold.
//!
//! A message is only a hint, as on every channel: what it says is looked up before anything follows.

use super::{Step, Waiters};
use crate::master::PendingReply;
use crate::quorum::NodeSet;
use crate::shared::Cx;
use crate::wire;
use std::sync::Arc;

/// The mailboxes of this process.
#[derive(Default)]
pub(crate) struct Mailboxes {
    /// The name of the channel, behind the prefix that all channels have.
    name: Option<Arc<str>>,
    /// The masters whose messages come.
    opened: NodeSet,
}

/// What a message in a mailbox says: a verb, and what is behind it. A verb that this version does not know
/// is ignored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Letter<'a> {
    /// `free <waiter> <key>`: the key is free, and this waiter tries.
    Free { waiter: &'a str, key: &'a str },
    /// `slot <waiter> <slot> <channel>`: the same for a slot of a semaphore.
    Slot { waiter: &'a str, slot: u8, channel: &'a str },
    /// `watch <waiter> <key>`: another waiter was called for the key, in case that is in vain.
    Watch { waiter: &'a str, key: &'a str },
    /// `ask <key>`: a client elsewhere waits for the key, which this process holds.
    Ask { key: &'a str },
}

impl<'a> Letter<'a> {
    fn in_message(message: &'a str) -> Option<Self> {
        let (verb, rest) = message.split_once(' ')?;
        match verb {
            "free" => rest.split_once(' ').map(|(waiter, key)| Self::Free { waiter, key }),
            "slot" => {
                let (waiter, rest) = rest.split_once(' ')?;
                let (slot, channel) = rest.split_once(' ')?;
                Some(Self::Slot { waiter, slot: slot.parse().ok()?, channel })
            }
            "watch" => rest.split_once(' ').map(|(waiter, key)| Self::Watch { waiter, key }),
            "ask" => Some(Self::Ask { key: rest }),
            _ => None,
        }
    }
}

impl Mailboxes {
    /// Returns whether messages come from `node`, as far as is known.
    pub(super) fn is_reached_from(&self, cx: &Cx, node: usize) -> bool {
        self.opened.contains(node) && !cx.masters.sessions[node].denies_messages()
    }
}

impl Waiters {
    /// Opens the mailbox at a node that has just opened.
    pub(crate) fn open_mailbox(&mut self, cx: &mut Cx, node: usize) {
        if cx.masters.settings.wake_ups
            && let Some(mailbox) = cx.masters.mailbox()
        {
            let name = self.mailboxes.name.get_or_insert_with(|| wire::mailbox(mailbox)).clone();
            let session = &mut cx.masters.sessions[node];
            let command = wire::subscribe(&session.channels, &name);
            session.push(PendingReply::Subscribe(name), &command);
        }
    }

    /// Returns whether a channel is that of the mailboxes.
    pub(crate) fn is_mailbox(&self, channel: &str) -> bool {
        self.mailboxes.name.as_deref() == Some(channel)
    }

    /// Handles a message.
    pub(crate) fn read_mailbox(&mut self, cx: &mut Cx, message: &str) {
        match Letter::in_message(message) {
            Some(Letter::Free { waiter, key }) => self.called_to_try(cx, waiter, key),
            Some(Letter::Slot { waiter, slot, channel }) => {
                self.slot_called(cx, waiter, slot, channel);
            }
            Some(Letter::Watch { waiter, key }) => self.watch_call(cx, waiter, key),
            Some(Letter::Ask { key }) => self.asked_for(cx, key.into()),
            None => {}
        }
    }

    /// Notes that messages come from now on.
    pub(crate) fn mailbox_opened(&mut self, node: usize) {
        self.mailboxes.opened.insert(node);
    }

    /// Forgets the mailbox at `node`, whose connection is gone.
    pub(crate) fn close_mailbox(&mut self, node: usize) {
        self.mailboxes.opened.remove(node);
    }

    /// Handles that a client elsewhere waits for `key`. If this process has just released it, and did not know of that
    /// client, the next waiter is called now.
    fn asked_for(&mut self, cx: &mut Cx, key: Arc<str>) {
        let was_known = self.waitlists.is_waited_for(cx.now, &key);
        self.waitlists.note(cx.now, &key, true);
        self.local_queue.heard(&key, true);
        if !was_known && !self.local_queue.is_wanted(&key) {
            cx.masters.call_next(cx.now, key.clone());
        }
        self.step(Step::GiveWay(key));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_a_verb_and_what_it_is_about_and_any_other_is_ignored() {
        let free = Letter::Free { waiter: "01", key: "a key with spaces" };
        assert_eq!(Letter::in_message("free 01 a key with spaces"), Some(free));
        let watch = Letter::Watch { waiter: "01", key: "a key with spaces" };
        assert_eq!(Letter::in_message("watch 01 a key with spaces"), Some(watch));
        let slot = Letter::Slot { waiter: "01", slot: 7, channel: "a channel with spaces" };
        assert_eq!(Letter::in_message("slot 01 7 a channel with spaces"), Some(slot));
        let ask = Letter::Ask { key: "a key with spaces" };
        assert_eq!(Letter::in_message("ask a key with spaces"), Some(ask));
        for unknown in [
            "",
            "ask",
            "free",
            "free 01",
            "watch 01",
            "slot 01 7",
            "slot 01 r r",
            "freely 01 r",
            "next 01 r",
            " free 01 r",
        ] {
            assert_eq!(Letter::in_message(unknown), None, "{unknown}");
        }
    }
}

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
    pub(super) opened: NodeSet,
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

    /// Handles a message: a verb, and what is behind it.
    pub(crate) fn read_mailbox(&mut self, cx: &mut Cx, message: &str) {
        let Some((verb, rest)) = message.split_once(' ') else { return };
        match (verb, rest.split_once(' ')) {
            // A client elsewhere waits for the key, which this process holds.
            ("ask", _) => self.asked_for(cx, rest.into()),
            // The key is free, and this waiter tries.
            ("free", Some((waiter, key))) => self.called_to_try(cx, waiter, key),
            // Another waiter was called for the key, in case that is in vain.
            ("watch", Some((waiter, key))) => self.watch_call(cx, waiter, key),
            // A slot of the semaphore with this channel is free.
            ("slot", Some((waiter, rest))) => {
                if let Some((slot, channel)) = rest.split_once(' ')
                    && let Ok(slot) = slot.parse()
                {
                    self.slot_called(cx, waiter, slot, channel);
                }
            }
            // A verb that this version does not know.
            _ => {}
        }
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
        self.steps.push(Step::GiveWay(key));
    }
}

//! Listeners: callers that are notified of the messages on a channel, without an acquire that waits
//! there.
//!
//! A listener listens where the messages are published, at the channel's first node: wherever that
//! is, as nodes come and go. Each time its messages begin again it is notified, too, since one may
//! have been missed. A message is only a hint: it may be late, in vain, or never come.

use super::{Coordinator, Event, RequestId};
use crate::quorum::Instant;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The maximum number of listeners that are notified. Any others have to ask.
const MOST_LISTENERS: usize = 1 << 12;

#[derive(Default)]
pub(super) struct Listeners {
    by_channel: BTreeMap<Arc<str>, Vec<RequestId>>,
    len: usize,
}

impl Listeners {
    /// Returns whether there is a listener to this channel.
    pub(super) fn want(&self, channel: &str) -> bool {
        self.by_channel.contains_key(channel)
    }

    #[cfg(any(test, feature = "testing"))]
    pub(super) const fn len(&self) -> usize {
        self.len
    }
}

impl Coordinator {
    /// Notifies `listener` of each message on the channel of this name from now on, and each time
    /// one may have been missed.
    pub fn handle_listen(&mut self, now: Instant, listener: RequestId, channel: Arc<str>) {
        if !self.settings.wake_ups || self.listeners.len >= MOST_LISTENERS {
            return;
        }
        self.listeners.len += 1;
        self.listeners.by_channel.entry(channel.clone()).or_default().push(listener);
        self.listen_at_first(now, &channel);
    }

    /// Notifies `listener` no longer. What no caller wants any more is unsubscribed from with the
    /// next heartbeat.
    pub fn handle_unlisten(&mut self, listener: RequestId, channel: &str) {
        let Listeners { by_channel, len } = &mut self.listeners;
        let Some(listeners) = by_channel.get_mut(channel) else { return };
        let before = listeners.len();
        listeners.retain(|one| *one != listener);
        *len -= before - listeners.len();
        if listeners.is_empty() {
            by_channel.remove(channel);
        }
    }

    /// Subscribes again where the messages of listeners, and of those who wait in turn, now come from:
    /// a node has come or gone. Other waiters subscribe with their next attempt.
    pub(super) fn listen_anew(&mut self, now: Instant) {
        if !self.settings.wake_ups {
            return;
        }
        let waiting = self.acquisitions.iter().filter(|(_, one)| one.has_turn());
        let waiting = waiting.filter_map(|(_, one)| Some(one.request.keys.messages().next()?.0));
        let channels: Vec<_> = self.listeners.by_channel.keys().chain(waiting).cloned().collect();
        channels.iter().for_each(|channel| self.listen_at_first(now, channel));
    }

    /// Passes a message on; `None` says that one may have been missed.
    pub(super) fn hear(&mut self, channel: &str, message: Option<&Arc<str>>) {
        let Self { listeners, events, .. } = self;
        for listener in listeners.by_channel.get(channel).into_iter().flatten() {
            events.push(Event::Heard { listener: *listener, message: message.cloned() });
        }
    }
}

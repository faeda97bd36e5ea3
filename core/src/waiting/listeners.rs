//! Listeners: callers that are notified of the messages on a channel, without an acquire that waits
//! there.
//!
//! A listener listens where the messages are published, at the channel's first node: wherever that
//! is, as nodes come and go. Each time its messages begin again it is notified, too, since one may
//! have been missed. A message is only a hint: it may be late, in vain, or never come.

use super::Waiters;
use crate::shared::{Cx, Event, MOST_REMEMBERED, RequestId};
use std::collections::BTreeMap;
use std::sync::Arc;

#[derive(Default)]
pub(crate) struct Listeners(BTreeMap<Arc<str>, Vec<RequestId>>);

impl Listeners {
    /// Returns whether there is a listener to this channel.
    pub(crate) fn want(&self, channel: &str) -> bool {
        self.0.contains_key(channel)
    }

    /// Notifies `listener` no longer. What no caller wants any more is unsubscribed from with the
    /// next heartbeat.
    pub(crate) fn forget(&mut self, listener: RequestId, channel: &str) {
        let Some(listeners) = self.0.get_mut(channel) else { return };
        listeners.retain(|other| *other != listener);
        if listeners.is_empty() {
            self.0.remove(channel);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.0.values().map(Vec::len).sum()
    }
}

impl Waiters {
    /// Notifies `listener` of each message on the channel of this name from now on, and each time
    /// one may have been missed.
    pub(crate) fn notify(&mut self, cx: &mut Cx, listener: RequestId, channel: Arc<str>) {
        if !cx.masters.settings.wake_ups || self.listeners.len() >= MOST_REMEMBERED {
            return;
        }
        self.listeners.0.entry(channel.clone()).or_default().push(listener);
        self.listen_at_first(cx, &channel);
    }

    /// Subscribes again where the messages of listeners now come from: a node has come or gone. Waiters subscribe with
    /// their next attempt, or as they ask in another list.
    pub(crate) fn listen_anew(&mut self, cx: &mut Cx) {
        if !cx.masters.settings.wake_ups {
            return;
        }
        self.move_entries(cx);
        let channels: Vec<_> = self.listeners.0.keys().cloned().collect();
        channels.iter().for_each(|channel| self.listen_at_first(cx, channel));
    }

    /// Passes a message on; `None` says that one may have been missed.
    pub(crate) fn hear(&mut self, cx: &mut Cx, channel: &str, message: Option<&Arc<str>>) {
        for listener in self.listeners.0.get(channel).into_iter().flatten() {
            cx.events.push(Event::Heard { listener: *listener, message: message.cloned() });
        }
    }
}

//! Wake-ups between processes: a release of what clients may wait for (`policy.rs`) publishes on its key's channel that
//! the key is free, and the key's waiters try again at once.
//!
//! One node publishes, and the waiters listen to it: the node that all clients ask first for the
//! key. To publish on all nodes would cost each release one more command on each. If two clients do
//! not agree on which node that is, a message is missed.
//!
//! A message is only a hint: polling goes on behind it, ever more seldom behind a long hold
//! (`contention.rs`). Other clients do not publish, messages get lost, and a master may deny the
//! permission.

use super::{Acquisition, Phase, Waiters};
use crate::master::PendingReply;
use crate::pace::Backoff;
use crate::shared::{Cx, Keys, MOST_REMEMBERED, RequestId};
use crate::waiting::rules::{News, Wait};
use crate::wire;
use crate::wire::notice::{Notice, UNDONE};
use crate::wire::waitlist::{CALLED, Called, Says};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// The source of one key's messages.
struct Topic {
    node: usize,
    /// Whether messages come. Before that, one could have been missed.
    confirmed: bool,
}

#[derive(Default)]
pub(crate) struct WakeUps(BTreeMap<Arc<str>, Topic>);

impl Waiters {
    /// Subscribes to `keys`, for which an acquire waits, where that is not done yet. Returns `true`
    /// if messages of all of them come already.
    pub(crate) fn listen(&mut self, cx: &mut Cx, keys: &Keys) -> bool {
        keys.iter().for_each(|key| self.listen_at_first(cx, key));
        keys.iter().all(|key| self.hears(cx, key))
    }

    /// Subscribes to a key, or to a channel of another name, at its first node, unless that is done.
    pub(crate) fn listen_at_first(&mut self, cx: &mut Cx, channel: &Arc<str>) {
        let Some(first) = cx.masters.first_node(cx.now, channel) else { return };
        let known = self.wake_ups.0.get(channel).map(|topic| topic.node);
        if known == Some(first) {
            return;
        }
        if let Some(session) = known.and_then(|node| cx.masters.sessions.get_mut(node)) {
            let command = wire::unsubscribe(&session.channels, channel);
            session.push(PendingReply::Unsubscribe, &command);
        }
        self.subscribe(cx, first, channel);
    }

    /// Unsubscribes from keys whose messages no other acquire, reader or listener here is known to want.
    pub(crate) fn stop_listening(&mut self, cx: &mut Cx, keys: &Keys) {
        for (channel, _) in keys.messages() {
            if !self.readers.want(channel)
                && !self.listeners.want(channel)
                && let Some(topic) = self.wake_ups.0.remove(channel)
            {
                let session = &mut cx.masters.sessions[topic.node];
                let command = wire::unsubscribe(&session.channels, channel);
                session.push(PendingReply::Unsubscribe, &command);
            }
        }
    }

    fn subscribe(&mut self, cx: &mut Cx, node: usize, channel: &Arc<str>) {
        if self.wake_ups.0.len() < MOST_REMEMBERED || self.wake_ups.0.contains_key(channel) {
            let session = &mut cx.masters.sessions[node];
            let command = wire::subscribe(&session.channels, channel);
            session.push(PendingReply::Subscribe(channel.clone()), &command);
            let topic = Topic { node, confirmed: false };
            self.wake_ups.0.insert(channel.clone(), topic);
        }
    }

    /// Returns whether messages of `key` from `node` come to us, too.
    fn listens(&self, node: usize, key: &str) -> bool {
        self.wake_ups.0.get(key).is_some_and(|topic| topic.node == node && topic.confirmed)
    }

    /// Returns whether messages on this channel come, as far as is known.
    pub(crate) fn hears(&self, cx: &Cx, channel: &str) -> bool {
        let topic = self.wake_ups.0.get(channel).filter(|topic| topic.confirmed);
        topic.is_some_and(|topic| !cx.masters.sessions[topic.node].denies_messages())
    }

    /// Notes that messages of `key` come from now on. The key may have become free before, so its
    /// contender tries once more.
    pub(crate) fn subscribed(&mut self, cx: &mut Cx, node: usize, key: &str) {
        if self.is_mailbox(key) {
            return self.mailboxes.opened.insert(node);
        }
        if let Some(topic) = self.wake_ups.0.get_mut(key)
            && topic.node == node
        {
            topic.confirmed = true;
            self.note_message(key);
            self.wake_contender(cx, key, News::Listens);
            self.hear(cx, key, None);
        }
    }

    /// Handles a message on `channel`.
    pub(crate) fn freed_elsewhere(&mut self, cx: &mut Cx, channel: &str, message: &Arc<str>) {
        if self.is_mailbox(channel) {
            return self.read_mailbox(cx, message);
        }
        self.note_message(channel);
        if &**message == UNDONE {
            return;
        }
        let message = match Notice::in_message(message) {
            Some(Notice::Writers) => {
                let writer = self.local_queue.contender(channel);
                writer.into_iter().for_each(|writer| self.wake(cx, writer, News::Freed));
                return self.hear(cx, channel, Some(&Arc::from("")));
            }
            Some(Notice::Readers { within }) => return self.wake_readers(cx, channel, within),
            None => message,
        };
        // The first waiter of a list was called: for those that stand in none, the key is free.
        let is_call = &**message == CALLED;
        let message = if is_call { Arc::from("") } else { message.clone() };
        // Any other text names the next waiter of a client of an older version.
        if message.is_empty() && !(is_call && self.watch(cx, channel)) {
            self.wake_contender(cx, channel, News::Freed);
        }
        self.hear(cx, channel, Some(&message));
    }

    /// Notes which waiter was called for a key that was released, and how many listened.
    pub(crate) fn called(
        &mut self,
        cx: &mut Cx,
        node: usize,
        key: Keys,
        says: Says,
        called: Called,
    ) {
        let Called { waiters, goes_on, listeners } = called;
        let Some((channel, _)) = key.messages().next() else { return };
        let channel = channel.clone();
        let is_wanted = waiters > 0 || listeners > u64::from(self.listens(node, &channel));
        // Where most do not look, no waiter says nothing.
        if is_wanted || cx.masters.is_first(cx.now, &channel, node) {
            self.waitlists.note(cx.now, &channel, is_wanted);
            self.local_queue.heard(&channel, is_wanted);
        }
        if self.left.are_others(cx.now, &channel, waiters) {
            self.share(cx, &key);
        }
        if goes_on {
            cx.masters.notify(node, key, Some(says));
        }
    }

    /// Lets the contender for `key` learn that it may be free, and the reader that polls for it.
    fn wake_contender(&mut self, cx: &mut Cx, key: &str, news: News) {
        let writer = self.local_queue.contender(key);
        for request in writer.into_iter().chain(self.readers.poller(key)) {
            self.wake(cx, request, news);
        }
    }

    /// Makes the reader that polls for `key` try again, at some moment within this time: the readers of all processes
    /// are let in together, and spread.
    fn wake_readers(&mut self, cx: &mut Cx, key: &str, within: Duration) {
        let Some(request) = self.readers.poller(key) else { return };
        let spread = Backoff { base: within, cap: within };
        let at = cx.now.after(spread.delay(0, None, cx.masters.random.jitter()));
        match self.acquisitions.contention_mut(request) {
            Some(contention)
                if !within.is_zero() && matches!(contention.phase, Phase::Waiting { .. }) =>
            {
                contention.notice(cx.now, &cx.masters.settings);
                self.pause_at_most(cx, request, at);
            }
            _ => self.wake(cx, request, News::Freed),
        }
    }

    fn wake(&mut self, cx: &mut Cx, request: RequestId, news: News) {
        let Some(contention) = self.acquisitions.contention_mut(request) else { return };
        if !matches!(contention.waits(), Wait::HeldUp | Wait::StepsBack) {
            contention.notice(cx.now, &cx.masters.settings);
        }
        self.learns(cx, request, news);
    }

    /// Notes that the attempt at `keys` that is under way may be refused because of what this process has
    /// left there: then the contender tries again at once. A later attempt comes behind the rollback.
    pub(crate) fn meet_own(&mut self, keys: &Keys) {
        for request in keys.iter().filter_map(|key| self.local_queue.contender(key)) {
            if let Some(contention) = self.acquisitions.contention_mut(request) {
                contention.wake();
            }
        }
    }

    /// Forgets the subscriptions and the entries at `node`, whose connection is gone, and lets the contenders that have
    /// listened there poll as often as if nothing were reported.
    pub(crate) fn miss_messages(&mut self, cx: &mut Cx, node: usize) {
        self.mailboxes.opened.remove(node);
        self.forget_places(cx, node);
        let mut contenders = Vec::new();
        self.wake_ups.0.retain(|key, topic| {
            if topic.node == node && topic.confirmed {
                contenders.extend([self.local_queue.contender(key), self.readers.poller(key)]);
            }
            topic.node != node
        });
        let is_gone =
            |acquisition: &Acquisition| acquisition.entry().is_some_and(|entry| entry.node == node);
        let gone = self.acquisitions.iter().filter(|(_, acquisition)| is_gone(acquisition));
        for request in gone.map(|(request, _)| request).collect::<Vec<_>>() {
            if let Some(contention) = self.acquisitions.contention_mut(request) {
                contention.place.entry = None;
            }
            // It asks in the list of another master at once.
            let asks = self.may_ask_waitlist(cx, request);
            if !(asks && self.learns(cx, request, News::Moved)) {
                contenders.push(Some(request));
            }
        }
        for request in contenders.into_iter().flatten() {
            let Some(contention) = self.acquisitions.contention_mut(request) else { continue };
            contention.miss_messages(cx.now);
            if let Some(at) = contention.pause_from(cx.now, &cx.masters.settings) {
                self.pause_at_most(cx, request, at);
            }
        }
    }

    /// Unsubscribes from keys that this process no longer wants.
    pub(crate) fn unsubscribe_unwanted(&mut self, cx: &mut Cx, node: usize) {
        let session = &mut cx.masters.sessions[node];
        self.wake_ups.0.retain(|key, topic| {
            if topic.node != node
                || self.local_queue.is_wanted(key)
                || self.readers.want(key)
                || self.listeners.want(key)
            {
                return true;
            }
            session.push(PendingReply::Unsubscribe, &wire::unsubscribe(&session.channels, key));
            false
        });
    }

    #[cfg(test)]
    pub(crate) fn topics(&self) -> usize {
        self.wake_ups.0.len()
    }
}

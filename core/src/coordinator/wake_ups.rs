//! Wake-ups between processes: a release publishes on its key's channel that the key is free, and
//! the key's waiters try again at once.
//!
//! One node publishes, and the waiters listen to it: the node that all clients ask first for the
//! key. To publish on all nodes would cost each release one more command on each. If two clients do
//! not agree on which node that is, a message is missed.
//!
//! A message is only a hint: polling goes on behind it, ever more seldom behind a long hold
//! (`contention.rs`). Other clients do not publish, messages get lost, and a master may deny the
//! permission.

use super::contention::Phase;
use super::session::PendingReply;
use super::{AttemptId, Coordinator, Epoch, Keys, RequestId, wire};
use crate::quorum::Instant;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The maximum number of keys that are subscribed to. Any other keys are polled for: few keys are
/// waited for in one process at a time.
const MOST_TOPICS: usize = 1 << 12;

/// The source of one key's messages.
struct Topic {
    node: usize,
    /// Another connection does not have the subscription.
    epoch: Epoch,
    /// Whether messages come. Before that, one could have been missed.
    confirmed: bool,
}

#[derive(Default)]
pub(super) struct WakeUps(BTreeMap<Arc<str>, Topic>);

impl Coordinator {
    /// Subscribes to `keys`, for which an acquire waits, where that is not done yet. Returns `true`
    /// if messages of all of them come already.
    pub(super) fn listen(&mut self, now: Instant, keys: &Keys) -> bool {
        let mut all = true;
        for key in keys.iter() {
            let known = self.wake_ups.0.get(key).filter(|topic| {
                self.sessions
                    .get(topic.node)
                    .is_some_and(|one| one.is_open() && one.epoch() == topic.epoch)
            });
            if let Some(topic) = known {
                all &= topic.confirmed;
                continue;
            }
            all = false;
            if let Some(node) = self.first_node(now, key) {
                self.subscribe(node, key);
            }
        }
        all
    }

    /// Subscribes to a key, or to a channel of another name, at its first node, unless that is done.
    pub(super) fn listen_at_first(&mut self, now: Instant, channel: &Arc<str>) {
        let Some(first) = self.first_node(now, channel) else { return };
        let is_current = |topic: &Topic| self.sessions[topic.node].epoch() == topic.epoch;
        let known = self.wake_ups.0.get(channel).filter(|topic| is_current(topic));
        let known = known.map(|topic| topic.node);
        if known == Some(first) {
            return;
        }
        if let Some(session) = known.and_then(|node| self.sessions.get_mut(node))
            && session.is_open()
        {
            let command = wire::unsubscribe(&session.channels, channel);
            session.push(PendingReply::Unsubscribe, &command);
        }
        self.subscribe(first, channel);
    }

    fn subscribe(&mut self, node: usize, channel: &Arc<str>) {
        if self.wake_ups.0.len() < MOST_TOPICS || self.wake_ups.0.contains_key(channel) {
            let session = &mut self.sessions[node];
            let command = wire::subscribe(&session.channels, channel);
            session.push(PendingReply::Subscribe(channel.clone()), &command);
            let topic = Topic { node, epoch: session.epoch(), confirmed: false };
            self.wake_ups.0.insert(channel.clone(), topic);
        }
    }

    /// Returns whether messages of `key` from `node` come to us, too.
    pub(super) fn listens(&self, node: usize, key: &str) -> bool {
        self.wake_ups.0.get(key).is_some_and(|topic| {
            topic.node == node && topic.confirmed && topic.epoch == self.sessions[node].epoch()
        })
    }

    /// Returns whether messages on this channel come.
    pub(super) fn hears(&self, channel: &str) -> bool {
        self.wake_ups.0.get(channel).is_some_and(|topic| self.listens(topic.node, channel))
    }

    /// Notes that messages of `key` come from now on. The key may have become free before, so its
    /// contender tries once more.
    pub(super) fn subscribed(&mut self, now: Instant, node: usize, key: &str) {
        let epoch = self.sessions[node].epoch();
        if let Some(topic) = self.wake_ups.0.get_mut(key)
            && (topic.node, topic.epoch) == (node, epoch)
        {
            topic.confirmed = true;
            self.wake_contender(now, key, None);
            self.hear(key, None);
        }
    }

    /// Makes the contender for `key` try again at once, and the reader that polls for it. A message
    /// that names who is next is for that one alone.
    pub(super) fn wake_contender(&mut self, now: Instant, key: &str, message: Option<&str>) {
        let writer = self.local_queue.contender(key);
        for request in writer.into_iter().chain(self.readers.poller(key)) {
            if !self.call(now, request, message) && message.is_none_or(str::is_empty) {
                self.wake(now, request);
            }
        }
    }

    fn wake(&mut self, now: Instant, request: RequestId) {
        let Some(contention) = self.acquisitions.contention_mut(request) else { return };
        match contention.phase {
            // The contender has just let others go first.
            Phase::Waiting { failed: AttemptId::NONE, .. } => {}
            Phase::Waiting { .. } => {
                contention.notice(now, &self.settings);
                self.retry_acquire(now, request);
            }
            // The nodes may have been asked too early.
            Phase::Trying { .. } => {
                contention.woken = true;
                contention.notice(now, &self.settings);
            }
            Phase::Confirming => {}
        }
    }

    /// Lets the contenders that listen to `node` poll as often as if nothing were reported: its
    /// connection is gone.
    pub(super) fn miss_messages(&mut self, now: Instant, node: usize) {
        let listened = self.wake_ups.0.iter_mut().filter(|(_, topic)| topic.node == node);
        let contenders = listened.filter_map(|(key, topic)| {
            let was_heard = std::mem::take(&mut topic.confirmed);
            was_heard.then(|| [self.local_queue.contender(key), self.readers.poller(key)])
        });
        let contenders = contenders.flatten().flatten();
        for request in contenders.collect::<Vec<_>>() {
            let contention = self.acquisitions.contention_mut(request);
            if let Some(sooner) = contention.and_then(|one| one.miss_messages(now, &self.settings))
            {
                self.try_sooner(request, sooner);
            }
        }
    }

    /// Unsubscribes from keys that this process no longer wants.
    pub(super) fn unsubscribe_unwanted(&mut self, node: usize) {
        let session = &mut self.sessions[node];
        let epoch = session.epoch();
        self.wake_ups.0.retain(|key, topic| {
            if topic.node != node
                || self.local_queue.is_wanted(key)
                || self.readers.want(key)
                || self.listeners.want(key)
            {
                return true;
            }
            if topic.epoch == epoch && session.is_open() {
                session.push(PendingReply::Unsubscribe, &wire::unsubscribe(&session.channels, key));
            }
            false
        });
    }

    #[cfg(test)]
    pub(super) fn topics(&self) -> usize {
        self.wake_ups.0.len()
    }
}

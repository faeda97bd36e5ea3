//! Wake-ups between processes: a release tells on a channel of its key that it is free, and who
//! waits for it tries again at once.
//!
//! One node tells and is listened to, the one that everybody asks first for the key: to tell at all
//! of them would cost each release a command more on each. Where two clients do not agree on which
//! one that is, a message is missed.
//!
//! A message is a hint, never a truth: polling goes on behind it, since other clients do not
//! publish, messages get lost, and a master may deny the right.

use super::contention::Phase;
use super::session::Purpose;
use super::{AttemptId, Coordinator, Epoch, Keys, wire};
use crate::quorum::Instant;
use std::collections::BTreeMap;
use std::sync::Arc;

/// More keys than this are polled for: what is waited for in one process at a time is few.
const MOST_TOPICS: usize = 1 << 12;

/// Where messages of one key come from.
struct Topic {
    node: usize,
    /// Another connection knows nothing of it.
    epoch: Epoch,
    /// Messages come from now on; before that one could have been missed.
    confirmed: bool,
}

#[derive(Default)]
pub(super) struct WakeUps(BTreeMap<Arc<str>, Topic>);

impl Coordinator {
    /// Somebody waits for `keys` to be free: listens, if that is not done yet. `true` if messages
    /// come already.
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
            let Some(node) = self.first_node(now, key) else { continue };
            if self.wake_ups.0.len() < MOST_TOPICS || self.wake_ups.0.contains_key(key) {
                let session = &mut self.sessions[node];
                session.push(
                    Purpose::Subscribe(key.clone()),
                    &wire::subscribe(&session.channels, key),
                );
                let topic = Topic { node, epoch: session.epoch(), confirmed: false };
                self.wake_ups.0.insert(key.clone(), topic);
            }
        }
        all
    }

    /// Whether messages of `key` come from `node` to us, too.
    pub(super) fn listens(&self, node: usize, key: &str) -> bool {
        self.wake_ups.0.get(key).is_some_and(|topic| {
            topic.node == node && topic.confirmed && topic.epoch == self.sessions[node].epoch()
        })
    }

    /// Messages of `key` come from now on. It may have become free before: tries once more.
    pub(super) fn subscribed(&mut self, now: Instant, node: usize, key: &str) {
        let epoch = self.sessions[node].epoch();
        if let Some(topic) = self.wake_ups.0.get_mut(key)
            && (topic.node, topic.epoch) == (node, epoch)
        {
            topic.confirmed = true;
            self.wake_contender(now, key);
        }
    }

    /// Whoever contends for `key` tries again at once.
    pub(super) fn wake_contender(&mut self, now: Instant, key: &str) {
        let Some(request) = self.local_queue.contender(key) else { return };
        let Some(contention) = self.acquisitions.contention_mut(request) else { return };
        match contention.phase {
            // It has just let others go first.
            Phase::Waiting { failed: AttemptId::NONE, .. } => {}
            Phase::Waiting { .. } => {
                contention.told = Some(0);
                self.retry_acquire(now, request);
            }
            // What it has asked may have been asked too early.
            Phase::Trying { .. } => (contention.woken, contention.told) = (true, Some(0)),
            Phase::Confirming => {}
        }
    }

    /// Nobody listens any more to what nobody here wants.
    pub(super) fn unsubscribe_unwanted(&mut self, node: usize) {
        let session = &mut self.sessions[node];
        let epoch = session.epoch();
        self.wake_ups.0.retain(|key, topic| {
            if topic.node != node || self.local_queue.is_wanted(key) {
                return true;
            }
            if topic.epoch == epoch && session.is_open() {
                session.push(Purpose::Unsubscribe, &wire::unsubscribe(&session.channels, key));
            }
            false
        });
    }

    #[cfg(test)]
    pub(super) fn topics(&self) -> usize {
        self.wake_ups.0.len()
    }
}

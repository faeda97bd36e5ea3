//! Readers in this process. They do not exclude each other, so each contends by itself, and has no
//! place in the local queue. Of those that were refused, one listens and polls for all that want the
//! same resource. When any of them wins, all of them try at once.

use super::Waiters;
use crate::shared::{Cx, RequestId};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The readers that were refused and wait.
#[derive(Default)]
pub(crate) struct Readers {
    /// In the order in which they came, which is that of their ids.
    waiting: BTreeMap<Arc<str>, BTreeSet<RequestId>>,
    /// Those that try again at the end of the turn.
    stirred: Vec<RequestId>,
}

impl Readers {
    /// Returns whether a reader waits for `key`.
    pub(crate) fn want(&self, key: &str) -> bool {
        self.waiting.contains_key(key)
    }

    /// Returns the reader that polls for all that wait for `key`.
    pub(crate) fn poller(&self, key: &str) -> Option<RequestId> {
        self.waiting.get(key)?.first().copied()
    }

    /// Returns whether another reader polls for this one, which waits.
    pub(crate) fn sleeps(&self, key: &str, request: RequestId) -> bool {
        let waiting = self.waiting.get(key).filter(|waiting| waiting.contains(&request));
        waiting.is_some_and(|waiting| waiting.first() != Some(&request))
    }

    /// Lets a reader wait; `true` if it polls.
    pub(crate) fn wait(&mut self, key: &Arc<str>, request: RequestId) -> bool {
        self.waiting.entry(key.clone()).or_default().insert(request);
        self.poller(key) == Some(request)
    }

    /// Removes a reader that no longer waits. The next one polls from now on.
    pub(crate) fn forget(&mut self, key: &str, request: RequestId) {
        let polled = self.poller(key) == Some(request);
        let Some(waiting) = self.waiting.get_mut(key) else { return };
        waiting.remove(&request);
        match waiting.first() {
            None => _ = self.waiting.remove(key),
            next => self.stirred.extend(next.filter(|_| polled)),
        }
    }

    /// Makes all readers that wait for `key` try at once: they may be let in.
    pub(crate) fn stir(&mut self, key: &str) {
        self.stirred.extend(self.waiting.remove(key).into_iter().flatten());
    }

    #[cfg(any(test, feature = "testing"))]
    pub(crate) fn len(&self) -> usize {
        self.waiting.values().flatten().count() + self.stirred.len()
    }
}

impl Waiters {
    /// Takes a reader out of those that wait. If it has won, all others may.
    pub(crate) fn leave_readers(&mut self, key: &str, request: RequestId, has_won: bool) {
        self.readers.forget(key, request);
        if has_won {
            self.readers.stir(key);
        }
    }

    /// Lets the next reader try that has a reason to; `false` if there is none.
    #[inline]
    pub(crate) fn serve_reader(&mut self, cx: &mut Cx) -> bool {
        let Some(request) = self.readers.stirred.pop() else { return false };
        self.retry(cx, request);
        true
    }
}

//! Readers in this process. They do not exclude each other, so each contends by itself, and has no
//! place in the local queue. Of those that were refused, one listens and polls for all that want the
//! same resource. When any of them wins, all of them try at once.

use crate::coordinator::acquisition::Acquisition;
use crate::coordinator::{AcquireRequest, Coordinator, RequestId};
use crate::quorum::Instant;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The readers that were refused and wait.
#[derive(Default)]
pub(in crate::coordinator) struct Readers {
    waiting: BTreeMap<Arc<str>, BTreeSet<RequestId>>,
    /// Those that try again at the end of the turn.
    stirred: Vec<RequestId>,
}

impl Readers {
    /// Returns whether a reader waits for `key`.
    pub(in crate::coordinator) fn want(&self, key: &str) -> bool {
        self.waiting.contains_key(key)
    }

    /// Returns the reader that polls for all that wait for `key`.
    pub(in crate::coordinator) fn poller(&self, key: &str) -> Option<RequestId> {
        self.waiting.get(key)?.first().copied()
    }

    /// Returns whether another reader polls for this one, which waits.
    pub(in crate::coordinator) fn sleeps(&self, key: &str, request: RequestId) -> bool {
        let waiting = self.waiting.get(key);
        waiting.is_some_and(|all| all.contains(&request) && all.first() != Some(&request))
    }

    /// Lets a reader wait; `true` if it polls.
    pub(in crate::coordinator) fn wait(&mut self, key: &Arc<str>, request: RequestId) -> bool {
        let waiting = self.waiting.entry(key.clone()).or_default();
        waiting.insert(request);
        waiting.first() == Some(&request)
    }

    /// Removes a reader that no longer waits. The next one polls from now on.
    pub(in crate::coordinator) fn forget(&mut self, key: &str, request: RequestId) {
        let polled = self.poller(key) == Some(request);
        let Some(waiting) = self.waiting.get_mut(key) else { return };
        waiting.remove(&request);
        match waiting.first() {
            Some(next) if polled => self.stirred.push(*next),
            Some(_) => {}
            None => _ = self.waiting.remove(key),
        }
    }

    /// Makes all readers that wait for `key` try at once: they may be let in.
    pub(in crate::coordinator) fn stir(&mut self, key: &str) {
        self.stirred.extend(self.waiting.remove(key).into_iter().flatten());
    }

    #[cfg(any(test, feature = "testing"))]
    pub(in crate::coordinator) fn len(&self) -> usize {
        self.waiting.values().map(BTreeSet::len).sum::<usize>() + self.stirred.len()
    }
}

impl Coordinator {
    /// Begins the acquire of a reader.
    pub(in crate::coordinator) fn begin_read(
        &mut self,
        now: Instant,
        request: RequestId,
        acquire: AcquireRequest,
    ) {
        let acquisition = Acquisition { request: acquire, began: now, contention: None };
        self.acquisitions.insert(request, acquisition);
        self.acquisitions.contend(request);
        self.try_again(now, request);
    }

    /// Lets all readers try that have a reason to.
    #[inline]
    pub(in crate::coordinator) fn serve_readers(&mut self, now: Instant) {
        while let Some(request) = self.readers.stirred.pop() {
            self.retry_acquire(now, request);
        }
    }
}

//! Readers in this process. They do not exclude each other, so each contends by itself, and has no
//! place in the local queue. Of those that were refused, one listens and polls for all that want the
//! same resource. When any of them wins, all of them try at once.

use super::Waiters;
use super::line::Line;
use crate::shared::{Cx, RequestId};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The readers that were refused and wait.
#[derive(Default)]
pub(crate) struct Readers {
    lines: BTreeMap<Arc<str>, Line>,
    /// Those that try again at the end of the turn.
    stirred: Vec<RequestId>,
}

impl Readers {
    /// Returns whether a reader waits for `key`.
    pub(crate) fn want(&self, key: &str) -> bool {
        self.lines.contains_key(key)
    }

    /// Returns the reader that polls for all that wait for `key`.
    pub(crate) fn poller(&self, key: &str) -> Option<RequestId> {
        self.lines.get(key)?.head()
    }

    /// Returns whether another reader polls for this one, which waits.
    pub(crate) fn sleeps(&self, key: &str, request: RequestId) -> bool {
        self.lines.get(key).is_some_and(|line| line.is_behind(request))
    }

    /// Lets a reader wait; `true` if it polls.
    pub(crate) fn wait(&mut self, key: &Arc<str>, request: RequestId) -> bool {
        self.lines.entry(key.clone()).or_default().enter(request);
        !self.sleeps(key, request)
    }

    /// Removes a reader that no longer waits. The next one polls from now on.
    pub(crate) fn forget(&mut self, key: &str, request: RequestId) {
        let Some(line) = self.lines.get_mut(key) else { return };
        match (line.leave(request), line.head()) {
            (_, None) => _ = self.lines.remove(key),
            (polled, Some(next)) => self.stirred.extend(polled.then_some(next)),
        }
    }

    /// Makes all readers that wait for `key` try at once: they may be let in.
    pub(crate) fn stir(&mut self, key: &str) {
        self.stirred.extend(self.lines.remove(key).iter().flat_map(Line::waiting));
    }

    #[cfg(any(test, feature = "testing"))]
    pub(crate) fn len(&self) -> usize {
        self.lines.values().flat_map(Line::waiting).count() + self.stirred.len()
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

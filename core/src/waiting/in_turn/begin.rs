//! The begin of an acquire in a queue where others were seen lately: it takes its place there at once. A first attempt
//! would be refused, and cost as much as its place.

use super::pace::LOOKS_EVERY;
use crate::obstacle::Obstacle;
use crate::quorum::Instant;
use crate::shared::{AttemptId, Cx, Failure, Keys, Lately, RequestId};
use crate::waiting::Waiters;
use std::sync::Arc;
use std::time::Duration;

/// How long others are expected in a queue after they were last seen there.
const EXPECTED_FOR: Duration = Duration::from_secs(60);

/// An acquire that waits for less than this begins with an attempt: it might have no time for its turn.
const SHORTEST_WAIT: Duration = LOOKS_EVERY;

/// The keys in whose queues others were before this client lately. In any other, an acquire begins with an attempt.
pub(crate) struct Queues(Lately);

impl Default for Queues {
    fn default() -> Self {
        Self(Lately::new(EXPECTED_FOR))
    }
}

impl Queues {
    /// Notes how many were ahead in the queue of a key.
    pub(super) fn note(&mut self, now: Instant, key: &Arc<str>, ahead: usize) {
        match ahead {
            0 => self.0.forget(key),
            _ => _ = self.0.note(now, key, ()),
        }
    }

    /// Notes that no place can be taken there.
    pub(super) fn forget(&mut self, key: &str) {
        self.0.forget(key);
    }

    pub(in crate::waiting) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn expect_others(&self, now: Instant, key: &str) -> bool {
        self.0.get(now, key).is_some()
    }
}

impl Waiters {
    /// Takes the place of an acquire at once if others are expected before it. Returns `false` if its first attempt is
    /// due.
    pub(in crate::waiting) fn begins_in_turn(
        &mut self,
        cx: &mut Cx,
        request: RequestId,
        keys: &Keys,
    ) -> bool {
        let Some(acquisition) = self.acquisitions.get(request) else { return false };
        let until = acquisition.until();
        let waits = until > cx.now.after(SHORTEST_WAIT);
        let begins = waits
            && self.queues.expect_others(cx.now, keys.first())
            && self.takes_place(cx, request);
        if !begins {
            return false;
        }
        let failure = Failure::contended(Obstacle::Holder(None), 0);
        self.stand_in_turn(cx, request, keys, AttemptId::NONE, failure);
        self.take_turn(cx, request);
        true
    }

    /// Asks the holders for an acquire that is first, and has not asked since it was refused.
    pub(super) fn ask_holders_as_first(&mut self, cx: &mut Cx, request: RequestId, keys: &Keys) {
        let Some(contention) = self.acquisitions.contention(request) else { return };
        let is_first = contention.turn.as_ref().is_some_and(|turn| turn.is_first());
        if is_first && contention.asked_at.is_none() {
            self.ask_holders(cx, request, keys);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn others_are_expected_for_a_minute_or_until_none_is_ahead() {
        let mut queues = Queues::default();
        let key: Arc<str> = "r".into();
        let at = |millis: u64| Instant::from_nanos(millis * 1_000_000);
        queues.note(at(0), &key, 2);
        assert!(queues.expect_others(at(59_999), "r") && !queues.expect_others(at(60_000), "r"));
        queues.note(at(1_000), &key, 1);
        assert!(queues.expect_others(at(60_000), "r") && !queues.expect_others(at(60_000), "s"));
        queues.note(at(60_000), &key, 0);
        assert!(!queues.expect_others(at(60_000), "r") && queues.is_empty());
    }
}

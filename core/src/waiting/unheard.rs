//! What a waiter sees of holders while it hears nothing: whether messages reach it at all, and how long it pauses.

use super::Waiters;
use crate::quorum::Instant;
use crate::waiting::tuning::{CERTAIN_AFTER, SILENCE_PER_PAUSE};
use std::time::Duration;

/// The digits of a token that are those of its process.
const PROCESS: usize = 16;

/// For how long a waiter has had no news of what it waits for, and the holders that it has seen since its latest message.
#[derive(Default)]
pub(super) struct Unheard {
    /// When there was last news of it: a message, or an attempt that some nodes granted.
    pub(super) since: Instant,
    /// For each key, the latest token, and how often in a row its process had another one before.
    seen: Vec<(Box<str>, Box<str>, u32)>,
    /// What it waits for has changed hands, and no message said so: one was missed, or none is sent or comes. So the
    /// waiter does not pause for long.
    pub(super) is_certain: bool,
}

impl Unheard {
    pub(super) fn new(since: Instant) -> Self {
        Self { since, ..Self::default() }
    }

    fn sees(&mut self, key: &str, token: &str) {
        let Some((_, before, anew)) = self.seen.iter_mut().find(|(seen, ..)| **seen == *key) else {
            return self.seen.push((key.into(), token.into(), 0));
        };
        if **before != *token {
            *anew = if before.get(..PROCESS) == token.get(..PROCESS) { *anew + 1 } else { 0 };
            *before = token.into();
        }
        self.is_certain |= *anew >= CERTAIN_AFTER;
    }

    /// Notes a message, whatever it says.
    pub(super) fn hears(&mut self) {
        self.seen.clear();
        self.is_certain = false;
    }

    /// Notes a message that says that the resource is free: the silence begins anew.
    pub(super) fn hears_news(&mut self, now: Instant) {
        self.since = now;
        self.hears();
    }

    /// Returns the longest pause of a waiter that messages should reach: a share of the silence, of one `cap` at least.
    pub(super) fn longest_pause(&self, now: Instant, cap: Duration) -> Duration {
        let silence = if self.is_certain { Duration::ZERO } else { now.since(self.since) };
        (silence / SILENCE_PER_PAUSE).clamp(cap, cap.saturating_mul(SILENCE_PER_PAUSE))
    }
}

impl Waiters {
    /// Notes for those that wait for a key that they have seen this holder.
    pub(super) fn saw_holder(&mut self, key: &str, token: &str) {
        let writer = self.local_queue.contender(key);
        for request in writer.into_iter().chain(self.readers.poller(key)) {
            if let Some(contention) = self.acquisitions.contention_mut(request) {
                contention.unheard.sees(key, token);
            }
        }
        if let Some(unheard) = self.semaphores.unheard_of(key) {
            unheard.sees(key, token);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns whether a waiter is certain after it has seen these holders of a key.
    fn is_certain(seen: &[&str]) -> bool {
        let mut unheard = Unheard::default();
        let token = |name: &&str| format!("{:016}{:016}", &name[..1], &name[1..]);
        seen.iter().map(token).for_each(|token| unheard.sees("r", &token));
        unheard.is_certain
    }

    #[test]
    fn what_one_process_has_again_and_again_between_two_messages_was_not_heard_of() {
        assert!(is_certain(&["a1", "a2", "a3"]) && is_certain(&["a1", "a1", "a2", "a2", "a3"]));
        assert!(!is_certain(&["a1", "a1", "a1"]), "one hold");
        assert!(!is_certain(&["a1", "b1", "a2", "c1", "a1", "b2"]), "attempts of many");
        let mut unheard = Unheard { is_certain: true, ..Unheard::default() };
        unheard.hears();
        assert!(!unheard.is_certain);
    }
}

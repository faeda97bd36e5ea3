//! The leaders of one election, as one observer sees them: terms that never go back.
//!
//! An observer reads from time to time the value that a quorum has under the key. One reading follows
//! another, so elections never show a lower term after a higher one: a fence keeps the lower term out.
//! If an observer sees that, the higher term was never won. Another client has written it, or a version
//! that does not refuse such labels. Such a value must not silence the observer for ever: it forgets the
//! value after that has been gone for as long as a fence is kept.

use quorumlock_core::quorum::Instant;
use std::time::Duration;

/// The judgement of one observer.
#[derive(Clone, Debug)]
pub(super) struct Terms {
    /// How long a term must be gone to be forgotten: the quarantine.
    forget_after: Duration,
    /// The greatest term that was reported; zero before the first.
    greatest: u64,
    /// Since when a quorum has had something else each time that it was clear.
    gone_since: Option<Instant>,
    /// The last news, if there was any: the term of the leader, or that there is none.
    last: Option<Option<u64>>,
}

impl Terms {
    pub(super) const fn new(forget_after: Duration) -> Self {
        Self { forget_after, greatest: 0, gone_since: None, last: None }
    }

    /// Takes what a quorum of masters that may vote had under the key at `now`: the value of a leader in
    /// this term, or that of no leader. Returns what there is to report, if that is news: the term of the
    /// leader, or that there is none.
    pub(super) fn see(&mut self, now: Instant, seen: Option<u64>) -> Option<Option<u64>> {
        let leads = match seen {
            Some(term) if term >= self.greatest => Some(term),
            _ => {
                let since = *self.gone_since.get_or_insert(now);
                if now.since(since) >= self.forget_after {
                    self.greatest = 0;
                }
                seen.filter(|_| self.greatest == 0)
            }
        };
        if let Some(term) = leads {
            self.gone_since = None;
            self.greatest = term;
        }
        (self.last.replace(leads) != Some(leads)).then_some(leads)
    }
}

#[cfg(test)]
mod tests;

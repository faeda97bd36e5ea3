//! The leaders of one election, as one observer sees them: terms that never go back.
//!
//! An observer reads from time to time the value that a quorum has under the key. One reading follows
//! another, so elections never show a lower term after a higher one: a fence keeps the lower term out.
//! If an observer sees that, the higher term was never won. Another client has written it, or a version
//! that does not refuse such labels. Such a value must not silence the observer for ever: it forgets the
//! value after that has been gone for as long as a fence is kept.

use quorumlock_core::quorum::Instant;
use std::time::Duration;

/// The value that a quorum of masters that may vote has under the key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Sight {
    /// The same value, of a leader in this term.
    Leader(u64),
    /// The key does not exist, or has the same value, of a holder that is no leader.
    Vacant,
    /// Neither: masters are down or warming up, or the key is on its way.
    Unclear,
}

/// The news for an observer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum News {
    /// The leader that was seen leads.
    Leader,
    /// There is none.
    Vacant,
}

/// The judgement of one observer.
#[derive(Clone, Debug)]
pub(super) struct Terms {
    /// How long a term must be gone to be forgotten: the quarantine.
    forget_after: Duration,
    /// The greatest term that was reported; zero before the first.
    greatest: u64,
    /// Since when a quorum has had something else each time that it was clear.
    gone_since: Option<Instant>,
    last: Option<News>,
}

impl Terms {
    pub(super) const fn new(forget_after: Duration) -> Self {
        Self { forget_after, greatest: 0, gone_since: None, last: None }
    }

    /// Takes what was seen at `now`, and returns the news if there is any.
    pub(super) fn see(&mut self, now: Instant, sight: Sight) -> Option<News> {
        let leads = match sight {
            Sight::Unclear => return None,
            Sight::Leader(term) if term >= self.greatest => Some(term),
            _ => {
                let since = *self.gone_since.get_or_insert(now);
                if now.since(since) >= self.forget_after {
                    self.greatest = 0;
                }
                match sight {
                    Sight::Leader(term) if self.greatest == 0 => Some(term),
                    _ => None,
                }
            }
        };
        let news = match leads {
            Some(term) => {
                self.gone_since = None;
                let is_new = std::mem::replace(&mut self.greatest, term) != term;
                (is_new || self.last != Some(News::Leader)).then_some(News::Leader)?
            }
            None if self.last == Some(News::Vacant) => return None,
            None => News::Vacant,
        };
        self.last = Some(news);
        Some(news)
    }
}

#[cfg(test)]
mod tests;

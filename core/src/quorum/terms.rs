//! The leaders of one election, as one observer sees them: terms that never go back.
//!
//! An observer looks now and then at what a quorum has under the key. Looks follow each other, so a
//! leader of a lower term after one of a higher term is nothing that elections do: a fence keeps
//! the lower term out. The higher one was never won then. Another client has written it, or a
//! version that does not refuse such labels. It must not silence the observer from then on: once it has
//! been gone for as long as a fence is kept, it is forgotten.

use super::Instant;
use std::time::Duration;

/// What a quorum of masters that may vote has under the key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sight {
    /// The same value, of a leader in this term.
    Leader(u64),
    /// No key, or the same value of a holder that is no leader.
    Vacant,
    /// Neither: masters are down or warming up, or the key is on its way.
    Unclear,
}

/// What an observer learns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum News {
    /// The leader that was seen leads.
    Leader,
    /// There is none.
    Vacant,
}

/// The judgement of one observer.
#[derive(Clone, Debug)]
pub struct Terms {
    /// How long a term must be gone to be forgotten: the quarantine.
    forget_after: Duration,
    /// The greatest term that was reported; zero before the first.
    greatest: u64,
    /// Since when a quorum has had something else each time that it was clear.
    gone_since: Option<Instant>,
    last: Option<News>,
}

impl Terms {
    pub const fn new(forget_after: Duration) -> Self {
        Self { forget_after, greatest: 0, gone_since: None, last: None }
    }

    /// Takes what was seen at `now`, and returns the news if there is any.
    pub fn see(&mut self, now: Instant, sight: Sight) -> Option<News> {
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

//! Checks of a history. They are pure: a story in, violations and figures out. So each check is
//! itself checked, with histories that it must refuse.
//!
//! | file | property |
//! |---|---|
//! | `exclusion.rs` | no two holds of a resource at one instant |
//! | `fences.rs` | tokens rise from win to win; the store accepts no smaller one after a greater, and refuses no valid holder |
//! | `orphans.rs` | no key of a process that has released everything, nor of one that is long gone |
//! | `availability.rs` | while a minority is away, a retry within one ttl cures a failed acquire |
//! | `kept.rs` | no lock that a client keeps alive under its own bursts is lost while a quorum of its masters is well |
//! | `hand_over.rs` | the time from one holder to the next (a figure) |
//! | `crowd.rs` | how long a client of a crowd waits, and how many go before it (a figure) |
//! | `turns.rs` | how many waiters enter before an earlier one (a figure) |

pub(crate) mod availability;
pub(crate) mod crowd;
pub(crate) mod exclusion;
pub(crate) mod fences;
pub(crate) mod hand_over;
pub(crate) mod kept;
pub(crate) mod orphans;
#[cfg(test)]
pub(crate) mod shorthand;
pub(crate) mod turns;

use super::clock::Nanos;
use super::story::Story;
use std::time::Duration;

/// Time until a client has redialled a master that is up again.
pub(crate) const REDIALLED: Duration = Duration::from_millis(2500);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Overlap,
    FenceOrder,
    /// The store accepts a smaller token after a greater one.
    Accepted,
    /// It refuses a client that holds the lock.
    Refused,
    Orphan,
    Unavailable,
    Lost,
    Odd,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Violation {
    pub(crate) at: Nanos,
    /// Duration, if it is known.
    pub(crate) until: Option<Nanos>,
    pub(crate) kind: Kind,
    pub(crate) text: String,
}

impl Violation {
    const fn new(at: Nanos, kind: Kind, text: String) -> Self {
        Self { at, until: None, kind, text }
    }
}

/// Returns all violations in order of time.
pub(crate) fn violations(story: &Story) -> Vec<Violation> {
    let odd = story.odd.iter().map(|(at, text)| Violation::new(*at, Kind::Odd, text.clone()));
    let mut all: Vec<Violation> = odd.collect();
    all.extend(exclusion::violations(story));
    all.extend(fences::violations(story));
    all.extend(orphans::violations(story));
    all.extend(availability::violations(story));
    all.extend(kept::violations(story));
    all.sort_by_key(|violation| violation.at);
    all
}

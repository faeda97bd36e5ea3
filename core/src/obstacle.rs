//! What is in the way of an acquire: one type, from the masters' answers to the text of the error.

#![warn(missing_docs)]

use crate::pace::readiness::quorum_in;
use crate::quorum::Membership;
use crate::report::{Answer, NodeReport, Refusal};
use std::sync::Arc;
use std::time::Duration;

/// What was in the way of an acquire, as most of the masters said that refused its last attempt. Another
/// client may hold the lock by now: to ask again, inspect the resource.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Obstacle {
    /// Another client holds the lock. Its label, unless it has none, is another kind of client, two labels
    /// were named as often, or the lock was released meanwhile. Where the last attempt has not asked for
    /// it, the masters are asked once afterwards: by `try_acquire`, by an acquire that is fenced, and by
    /// one of several resources. The error then comes one round trip later, or an operation timeout if no
    /// quorum answers.
    Holder(Option<Arc<str>>),
    /// Readers hold the lock.
    Readers,
    /// A writer waits for the lock, and no new reader is let in before it.
    Writer,
    /// The lock is free, and a client of an older version reserves it for the next waiter in the queue.
    Reserved,
    /// Other waiters are ahead in the list.
    Queue,
    /// The work of the last holder has ended well, and the resource stays closed for some time.
    Ended {
        /// The time until a quorum may be free, as far as masters have said.
        free_in: Option<Duration>,
    },
    /// A greater fencing token was already granted. That lasts if the masters' clocks were set back.
    GreaterToken,
    /// All permits of a semaphore are taken.
    Permits {
        /// The number of permits.
        all: u8,
        /// The time until the first of them expires, if it is not released before; `None` if that is
        /// unknown.
        free_in: Option<Duration>,
    },
    /// This very client has the lock, so that no master was asked: by a guard, or by an acquire that has won and
    /// whose future is not polled. If it was the caller's own, the acquire has waited for itself: acquires that
    /// nest go through one re-entrant handle.
    OwnGuard,
    /// Other acquires of this client came first, so that no master was asked.
    LocalQueue,
}

impl Obstacle {
    /// Returns what kept this round from a quorum, if clients did. `named` is the holder that most of the
    /// masters named.
    pub(crate) fn of(membership: Membership, reports: &[NodeReport], named: Self) -> Self {
        let refused = |with: fn(&Refusal) -> bool| {
            reports.iter().any(|report| matches!(&report.answer, Answer::Refused(why) if with(why)))
        };
        match named {
            _ if refused(|why| matches!(why, Refusal::Held { .. })) => match named {
                Self::Ended { .. } => Self::Ended { free_in: free_in(membership, reports) },
                named => named,
            },
            _ if refused(|why| matches!(why, Refusal::Wanted { .. })) => Self::Writer,
            _ if refused(|why| matches!(why, Refusal::Behind { .. })) => Self::Queue,
            _ => Self::GreaterToken,
        }
    }

    /// Returns it in a word, as events and JSON name it.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Holder(_) => "holder",
            Self::Readers => "readers",
            Self::Writer => "writer",
            Self::Reserved => "reserved",
            Self::Queue => "queue",
            Self::Ended { .. } => "ended",
            Self::GreaterToken => "greater_token",
            Self::Permits { .. } => "permits",
            Self::OwnGuard => "own_guard",
            Self::LocalQueue => "local_queue",
        }
    }

    /// Returns the label of the holder, if there is one and masters have named it.
    #[must_use]
    pub fn holder(&self) -> Option<&str> {
        let Self::Holder(label) = self else { return None };
        label.as_deref()
    }
}

/// Returns the time until a quorum may be free, as far as masters have said how long they are not.
fn free_in(membership: Membership, reports: &[NodeReport]) -> Option<Duration> {
    let waits = reports.iter().map(|report| match &report.answer {
        Answer::Granted | Answer::Outstanding => Some(Duration::ZERO),
        Answer::Refused(Refusal::Held { remaining }) => *remaining,
        _ => None,
    });
    quorum_in(membership, &waits.collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_holder_is_named_only_where_a_key_has_one() {
        let membership = Membership::of(3).unwrap();
        let held = |left: u64| Refusal::Held { remaining: Some(Duration::from_secs(left)) };
        let wanted = Refusal::Wanted { remaining: Duration::from_secs(1) };
        let behind = Refusal::Behind { ahead: 2 };
        let mine = || Obstacle::Holder(Some("me".into()));
        let closed = |free_in| Obstacle::Ended { free_in };
        for (refusals, named, obstacle) in [
            ([held(4), wanted.clone()], mine(), mine()),
            ([held(4), held(9)], closed(None), closed(Some(Duration::from_secs(9)))),
            ([held(4), wanted.clone()], closed(None), closed(None)),
            ([wanted.clone(), behind.clone()], mine(), Obstacle::Writer),
            ([behind, Refusal::Stale], mine(), Obstacle::Queue),
            ([Refusal::Stale, Refusal::Stale], mine(), Obstacle::GreaterToken),
        ] {
            let report = |why| NodeReport::new("n".into(), Answer::Refused(why));
            let reports: Vec<_> = refusals.into_iter().map(report).collect();
            assert_eq!(Obstacle::of(membership, &reports, named), obstacle);
        }
    }
}

//! The waiters for a lock, as an inspection finds them.

use super::Inspection;
use crate::options::Options;
use std::fmt;
use std::sync::Arc;

/// A free lock that an older version keeps for the next waiter.
pub(super) const KEPT: &str = "free, reserved for the next waiter";

impl Inspection {
    /// Returns how many clients wait for the lock in its [waitlist](crate::RedlockBuilder::wake_ups), at one master:
    /// [fair](crate::Acquire::fair) ones and others. A client counts once, however many of its tasks wait, and not
    /// at all if it is in no list. A client that has died counts until it would be called. `None` if no master says:
    /// they are down, their user has no right to see the list (`zrangebyscore`), or this is about a permit.
    ///
    /// ```no_run
    /// # async fn example(redlock: quorumlock::Redlock) -> Result<(), quorumlock::InspectError> {
    /// let inspection = redlock.inspect("printer").await?;
    /// if inspection.waiting().is_some_and(|waiting| waiting > 10) {
    ///     println!("{inspection}"); // "printer" is held by worker-7, expires in 8 s, 12 waiting: …
    /// }
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn waiting(&self) -> Option<usize> {
        self.waiting.and_then(|waiting| usize::try_from(waiting).ok())
    }

    /// Checks whether the lock is free, and so many masters keep it for a [fair](crate::Acquire::fair) client of an
    /// older version that others cannot have it now. That ends after 4 s, unless it is won.
    #[must_use]
    pub const fn is_kept(&self) -> bool {
        self.is_kept
    }

    /// Returns the channel on which masters announce that the lock is free.
    pub(crate) fn channel(&self, options: &Options) -> Arc<str> {
        match self.slot {
            Some(_) => options.slots_channel(&self.resource),
            None => self.key.clone(),
        }
    }

    pub(super) fn fmt_waiting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.waiting {
            None | Some(0) => Ok(()),
            Some(waiting) => write!(f, ", {waiting} waiting"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::judge::tests::seen;
    use super::super::{Inspection, LockState};
    use quorumlock_core::quorum::Membership;

    const KEPT: &str = "quorumlock:next:0123456789abcdef0123456789abcdef";
    const TOKEN: &str = "fedcba9876543210fedcba9876543210:me";

    fn inspected(lives: [Option<(&str, Option<u64>)>; 3]) -> Inspection {
        Inspection::new("r".into(), "r".into(), seen(&lives), Membership::of(3).unwrap())
    }

    #[test]
    fn a_key_that_is_kept_is_held_by_no_client() {
        let (kept, held) = (Some((KEPT, Some(1_500))), Some((TOKEN, Some(8_000))));
        for (lives, is_free, is_kept) in [
            ([kept, kept, kept], true, true),
            ([kept, kept, None], true, true),
            ([kept, None, None], true, false),
            ([kept, kept, held], true, true),
            ([kept, None, held], true, true),
            ([kept, held, held], false, false),
        ] {
            let inspection = inspected(lives);
            let found = (*inspection.state() == LockState::Free, inspection.is_kept());
            assert_eq!(found, (is_free, is_kept), "{lives:?}");
            assert_eq!(inspection.holder().is_none(), is_free);
        }
    }

    #[test]
    fn the_line_says_how_many_wait_and_keeps_their_names_to_itself() {
        let kept = Some((KEPT, Some(1_500)));
        let inspection = |lives, waiting| Inspection { waiting, ..inspected(lives) };
        let line = "\"r\" is free, reserved for the next waiter, 1 waiting: n0 reserved for the next \
                    waiter, for 1.5 s; n1 reserved for the next waiter, for 1.5 s; n2 free";
        assert_eq!(inspection([kept, kept, None], Some(1)).to_string(), line);
        let line = "\"r\" is free, 12 waiting: n0 free; n1 free; n2 free";
        assert_eq!(inspection([None; 3], Some(12)).to_string(), line);
        let none = inspection([None; 3], Some(0));
        assert_eq!(none.to_string(), "\"r\" is free: n0 free; n1 free; n2 free");
        assert_eq!((none.waiting(), inspected([None; 3]).waiting()), (Some(0), None));
        assert!(!format!("{:?}", inspection([kept; 3], None)).contains("0123"));
    }
}

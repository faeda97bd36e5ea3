//! How long to wait before the next attempt, given a random number.

use super::instant::nanos;
use super::{Membership, NodeSet};
use std::time::Duration;

/// Full jitter over a window that doubles with each attempt, up to a cap.
///
/// Source: M. Brooker, "Exponential Backoff And Jitter" (AWS Architecture Blog, 2015).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Backoff {
    /// The window after the first refusal.
    pub(crate) base: Duration,
    /// The widest window.
    pub(crate) cap: Duration,
}

impl Backoff {
    /// A delay in `0..=min(cap, base * 2^attempt, ceiling)`, where `random` picks the place in the
    /// window. `attempt` counts from 0.
    pub(crate) fn delay(self, attempt: u32, ceiling: Option<Duration>, random: u64) -> Duration {
        let doubled = self.base.saturating_mul(1_u32.checked_shl(attempt).unwrap_or(u32::MAX));
        let window = doubled.min(self.cap).min(ceiling.unwrap_or(Duration::MAX));
        let picked = ((u128::from(nanos(window)) + 1) * u128::from(random)) >> 64;
        Duration::from_nanos(u64::try_from(picked).unwrap_or(u64::MAX))
    }
}

/// The earliest time at which a quorum may be free again, by what each master has told of how long
/// it will be. `None` while those that have told are no quorum.
pub(crate) fn earliest_quorum(
    membership: Membership,
    free_in: &mut [(usize, Duration)],
) -> Option<Duration> {
    free_in.sort_unstable_by_key(|(_, wait)| *wait);
    let mut free = NodeSet::EMPTY;
    free_in.iter().find_map(|&(node, wait)| {
        free.insert(node);
        membership.is_quorum(free).then_some(wait)
    })
}

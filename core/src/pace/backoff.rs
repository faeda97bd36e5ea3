//! The wait before the next attempt, given a random number.

use crate::quorum::instant::nanos;
use std::time::Duration;

/// Exponential backoff with full jitter: a random pause within a window that doubles with each
/// attempt, up to a cap. Default: 5 ms to 250 ms.
///
/// Source: M. Brooker, "Exponential Backoff And Jitter" (AWS Architecture Blog, 2015).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Backoff {
    /// The window after the first refusal.
    pub base: Duration,
    /// The widest window, but for twice the time that a lost attempt took which some masters granted. An acquire
    /// that is notified of the release may pause for up to eight times as long. What a process takes again and again, it leaves to others for so long, once in 51 times that.
    pub cap: Duration,
}

impl Default for Backoff {
    fn default() -> Self {
        Self { base: Duration::from_millis(5), cap: Duration::from_millis(250) }
    }
}

impl Backoff {
    /// Returns a delay in `0..=min(cap, base * 2^attempt, ceiling)`, where `random` picks the place
    /// in the window. `attempt` counts from 0.
    #[doc(hidden)] // A user only sets the fields.
    pub fn delay(self, attempt: u32, ceiling: Option<Duration>, random: u64) -> Duration {
        let doubled = self.base.saturating_mul(1_u32.checked_shl(attempt).unwrap_or(u32::MAX));
        let window = doubled.min(self.cap).min(ceiling.unwrap_or(Duration::MAX));
        let picked = ((u128::from(nanos(window)) + 1) * u128::from(random)) >> 64;
        Duration::from_nanos(u64::try_from(picked).unwrap_or(u64::MAX))
    }
}

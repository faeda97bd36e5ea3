//! The times at which a command is ended whose lock is no longer extended.

use std::time::Duration;

/// The longest margin: a busy machine takes a moment to kill.
const LONGEST_MARGIN: Duration = Duration::from_secs(1);

const LONGEST_TICK: Duration = Duration::from_millis(250);

/// Times before the deadline, and between looks at it. All are shares of the validity that the lock
/// was won with, so that a short ttl also leaves time for work and for extensions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Limits {
    /// The time from SIGKILL to the deadline.
    pub(super) margin: Duration,
    /// The same for the watchdog's SIGKILL, which comes later, if this process has not sent its
    /// own.
    pub(super) watchdog_margin: Duration,
    /// The time from SIGTERM to SIGKILL.
    pub(super) grace: Duration,
    /// How often the deadline is looked at.
    pub(super) tick: Duration,
}

impl Limits {
    pub(super) fn of(validity: Duration, grace: Duration) -> Self {
        let margin = (validity / 16).min(LONGEST_MARGIN);
        Self {
            margin,
            watchdog_margin: margin / 2,
            grace: grace.min((validity / 3).saturating_sub(margin)),
            tick: (validity / 24).clamp(Duration::from_millis(5), LONGEST_TICK),
        }
    }

    /// Returns the time from SIGTERM to the deadline. The keeper begins to extend at two thirds of
    /// the ttl before it.
    pub(super) fn lead(&self) -> Duration {
        self.margin.saturating_add(self.grace)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_is_killed_in_the_last_third_of_the_validity() {
        for validity in [40, 300, 1_000, 9_898, 29_698, 3_600_000].map(Duration::from_millis) {
            for grace in [0, 1, 500, 5_000, u64::MAX].map(Duration::from_millis) {
                let limits = Limits::of(validity, grace);
                assert!(limits.lead() <= validity / 3, "{validity:?} {limits:?}");
                assert!(limits.grace <= grace && !limits.watchdog_margin.is_zero());
                assert!(limits.margin > limits.watchdog_margin, "{limits:?}");
                assert!(limits.tick * 2 < validity - limits.lead(), "{limits:?}");
            }
        }
    }

    #[test]
    fn the_default_grace_is_cut_by_the_default_ttl_not_the_longest() {
        let of = |validity| Limits::of(Duration::from_millis(validity), Duration::from_secs(5));
        assert!(of(9_898).grace < Duration::from_secs(3), "{:?}", of(9_898));
        assert_eq!(of(29_698).grace, Duration::from_secs(5));
    }
}

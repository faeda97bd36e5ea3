//! The number of rounds that a client may have open at a time: as many as its masters answer in time.
//!
//! A congestion window that follows the delay of the answers, as a sender's in a network does. Sources:
//! G. Kumar et al., "Swift: Delay is Simple and Effective for Congestion Control in the Datacenter"
//! (SIGCOMM 2020), section 3.1, for the target delay, and for the decrease by the share of the delay
//! that is above it, once in a round trip; RFC 5681, section 3.1, for the increase by one for each
//! answer, as in slow start; RFC 6817 (LEDBAT), section 3.4.2, for the base delay, the least of the last
//! minutes. It differs in that it grows by slow start whenever answers come early: a window that was
//! halved is back after a few round trips, and not after a thousand.

use crate::quorum::Instant;
use crate::quorum::instant::nanos;
use std::time::Duration;

/// The window of a client that has heard nothing yet.
const FIRST: usize = 512;

/// The narrowest window. What is slow with so few open rounds is slow by itself.
const NARROWEST: usize = 32;

/// The widest. Every number of rounds below is of use somewhere: this one is far beyond what is.
const WIDEST: usize = 1 << 16;

/// Rounds may wait behind each other for this part of the time in which they would be answered too late.
const SHARE: u64 = 8;

/// A window grows while they wait for less than this part of that.
const EARLY: u64 = 2;

/// A decrease takes this part, of [`WHOLE`], of the share of the delay that is above the target: Swift's beta, 0.8.
const BETA: u128 = 819;
const WHOLE: u128 = 1024;

/// After so many timeouts as narrow as that, what was sent before is answered.
const SETTLED: u32 = 4;

/// The least delay is of the last period and the present one.
const PERIOD: Duration = Duration::from_secs(300);

/// The rounds that are open, and how many may be.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Window {
    /// The number of open rounds.
    pub open: usize,
    /// How many may be open.
    pub limit: usize,
    /// A round that began before says nothing about the limit since.
    cut_at: Instant,
    /// It is as narrow as can be since then.
    narrow_since: Option<Instant>,
    /// The latest round has ended without an answer in time: masters do not answer at all.
    pub(crate) is_unanswered: bool,
    least: Least,
}

/// The shortest delay of late.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Least {
    since: Instant,
    now: u64,
    before: u64,
}

impl Window {
    pub const fn new(now: Instant) -> Self {
        let least = Least { since: now, now: u64::MAX, before: u64::MAX };
        Self { open: 0, limit: FIRST, cut_at: now, narrow_since: None, is_unanswered: false, least }
    }

    /// Returns whether another round may begin.
    #[inline]
    pub const fn has_room(&self) -> bool {
        self.open < self.limit
    }

    /// Notes that a round begins.
    #[inline]
    pub const fn begin(&mut self) {
        self.open += 1;
    }

    /// Notes that a round is over, whatever has ended it. Returns `false` if none was open.
    #[inline]
    pub const fn end(&mut self) -> bool {
        let was_open = self.open > 0;
        self.open = self.open.saturating_sub(1);
        was_open
    }

    /// Notes that masters have decided a round, which would have been too late after `timeout`.
    #[inline]
    pub fn answered(&mut self, now: Instant, started: Instant, timeout: Duration) {
        self.is_unanswered = false;
        let took = now.nanos_since(started);
        let base = self.least.learn(now, took);
        let most = allowance(base, nanos(timeout));
        let waited = took.saturating_sub(base);
        if waited > most {
            if self.narrow_since.is_some_and(|since| started >= since.after(SETTLED * timeout)) {
                // These few rounds do not wait for each other: the masters are farther away than they were.
                self.least.forget(now);
                self.least.learn(now, took);
            }
            self.shrink(now, started, took, base.saturating_add(most));
        } else if waited <= most / EARLY && self.open > self.limit / 2 {
            // A limit that is not in use is not tested by an answer.
            (self.limit, self.narrow_since) = (WIDEST.min(self.limit + 1), None);
        }
    }

    /// Notes that a round has ended without an answer of enough masters in time.
    pub fn unanswered(&mut self, now: Instant, started: Instant) {
        self.is_unanswered = true;
        self.cut(now, started, self.limit / 2);
    }

    fn shrink(&mut self, now: Instant, started: Instant, took: u64, target: u64) {
        let over = u128::from(took.saturating_sub(target));
        let lost = usize::try_from(over * BETA / u128::from(took.max(1))).unwrap_or(usize::MAX);
        let lost = self.limit.saturating_mul(lost) >> WHOLE.ilog2();
        self.cut(now, started, self.limit.saturating_sub(lost).max(self.limit / 2));
    }

    /// Cuts the limit once for all rounds that were open together.
    fn cut(&mut self, now: Instant, started: Instant, limit: usize) {
        if started >= self.cut_at {
            (self.limit, self.cut_at) = (limit.max(NARROWEST), now);
            if self.limit == NARROWEST {
                self.narrow_since.get_or_insert(now);
            }
        }
    }

    /// Returns how long a round that is `ahead` others from its begin waits for that, by how long answers
    /// take at the least. `None` before the first answer.
    pub(crate) fn wait_behind(&self, ahead: usize) -> Option<Duration> {
        let least = self.least.known()?;
        let trips = u32::try_from(ahead / self.limit).unwrap_or(u32::MAX);
        Some(Duration::from_nanos(least).saturating_mul(trips))
    }

    /// Returns how much longer than at the least a round may take that would be too late after `timeout`.
    pub(crate) fn allowance(&self, timeout: Duration) -> Duration {
        Duration::from_nanos(allowance(self.least.known().unwrap_or_default(), nanos(timeout)))
    }
}

/// Returns how long rounds may wait behind each other.
const fn allowance(base: u64, timeout: u64) -> u64 {
    timeout.saturating_sub(base) / SHARE
}

impl Least {
    fn learn(&mut self, now: Instant, took: u64) -> u64 {
        if now.nanos_since(self.since) >= nanos(PERIOD) {
            (self.since, self.before, self.now) = (now, self.now, u64::MAX);
        }
        self.now = self.now.min(took);
        self.now.min(self.before)
    }

    const fn forget(&mut self, now: Instant) {
        (self.since, self.before, self.now) = (now, u64::MAX, u64::MAX);
    }

    fn known(&self) -> Option<u64> {
        let least = self.now.min(self.before);
        (least < u64::MAX).then_some(least)
    }
}

//! The ballot that a fenced acquire proposes, and what its refusals teach.
//!
//! The token of a fenced win is a ballot. A node grants only a ballot above the fence that it has
//! stored, and only within a window around its own clock. Two winners share a node, and there the
//! later ballot had to be greater. So nothing here decides safety: a client that proposes nonsense
//! is refused. This module decides only how soon it is no longer refused.
//!
//! Times and ballots are microseconds since 1970 on some wall clock, below 2^53: scripts on the
//! node count in doubles.

use super::{Clocks, Membership};
use std::ops::RangeInclusive;
use std::time::Duration;

/// The greatest ballot: 2^53 - 1, a day in the year 2255.
pub const GREATEST: u64 = (1 << 53) - 1;

/// How many numbers an acquire takes whose hold may go from guard to guard: a millisecond on the masters'
/// clocks. Nearly always that has passed once another client can have the lock, so that its ballot is above
/// them at once; and of a lock in one process, one cycle in a thousand asks the masters.
pub const BLOCK: u64 = 1_000;

/// The distance from a master's clock at which it accepts a fencing token. Default: 2 s each way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FencingWindow {
    /// Behind the master's clock.
    pub back: Duration,
    /// Ahead of it.
    pub ahead: Duration,
}

impl Default for FencingWindow {
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl FencingWindow {
    /// Wide enough for NTP, narrow compared with the longest ttl.
    pub const DEFAULT: Self = Self { back: Duration::from_secs(2), ahead: Duration::from_secs(2) };

    /// Returns the width of the whole window.
    pub const fn width(self) -> Duration {
        self.back.saturating_add(self.ahead)
    }
}

/// The ballots of one client: a clock that never goes back, and that catches up with any clock or
/// fence reported to it. One for all resources, so that one ballot can be above the fences of
/// several.
#[derive(Clone, Debug)]
pub struct Ballots {
    window: FencingWindow,
    /// The offset of the nodes' clocks from our wall clock; `None` until they have reported it.
    offset_us: Option<i128>,
    /// The greatest ballot that a quorum still let in when we last looked at the clock. Without
    /// this, one node whose fence is far ahead would make us propose forever what the others
    /// refuse.
    ceiling: u64,
    /// The greatest fence learned.
    learned: u64,
    /// The greatest ballot proposed.
    proposed: u64,
}

impl Ballots {
    /// Until a quorum has reported its time, our wall clock counts as theirs, and any fence is
    /// believed.
    pub const fn new(window: FencingWindow) -> Self {
        Self { window, offset_us: None, ceiling: GREATEST, learned: 0, proposed: 0 }
    }

    /// Returns the next ballot alone.
    #[cfg(test)]
    pub fn propose(&mut self, wall_us: u64) -> u64 {
        *self.propose_block(wall_us, 1).start()
    }

    /// Returns a block of numbers that begins with the next ballot, at `wall_us` on our wall clock. That is
    /// above the nodes' time, the greatest fence learned and the greatest ballot proposed. The block has as
    /// many as wanted, at least one, but ends within the half of the window that is ahead. So a client that
    /// asks for many at a high rate gets shorter blocks, and proposes nothing that masters refuse for their
    /// clocks.
    pub fn propose_block(&mut self, wall_us: u64, wanted: u64) -> RangeInclusive<u64> {
        self.look(wall_us);
        let clock = self.nodes_clock(wall_us);
        let greatest = clock.max(self.learned).max(self.proposed);
        let first = greatest.saturating_add(1).min(GREATEST);
        let within = clock.saturating_add(micros(self.window.ahead) / 2).min(GREATEST);
        let last = first.saturating_add(wanted.saturating_sub(1)).min(within).max(first);
        self.proposed = last;
        first..=last
    }

    /// Learns the fence that a refusal named. One that a quorum would not let in anyway is not
    /// believed.
    pub fn learn_fence(&mut self, fence: u64) {
        if fence <= self.ceiling {
            self.learned = self.learned.max(fence);
        }
    }

    /// Learns the clocks that one lost round has reported, if they are a quorum's; `wall_us` is our
    /// wall clock now. What was learned or proposed beyond what they let in is forgotten. So the
    /// round after a mad clock, ours or a node's, is a sane one.
    pub fn learn_clocks(&mut self, clocks: &Clocks, membership: Membership, wall_us: u64) {
        let Some(offset_us) = clocks.offset_us(membership) else { return };
        self.offset_us = Some(offset_us);
        self.look(wall_us);
        for greatest in [&mut self.learned, &mut self.proposed] {
            if *greatest > self.ceiling {
                *greatest = 0;
            }
        }
    }

    /// Updates the ceiling: the greatest ballot that the node in the middle lets in now.
    fn look(&mut self, wall_us: u64) {
        if self.offset_us.is_some() {
            self.ceiling = self.nodes_clock(wall_us).saturating_add(micros(self.window.ahead));
        }
    }

    fn nodes_clock(&self, wall_us: u64) -> u64 {
        let clock = i128::from(wall_us) + self.offset_us.unwrap_or(0);
        u64::try_from(clock.clamp(0, i128::from(GREATEST))).unwrap_or(GREATEST)
    }
}

/// Returns a span in whole microseconds, at most `u64::MAX`.
pub fn micros(span: Duration) -> u64 {
    u64::try_from(span.as_micros()).unwrap_or(u64::MAX)
}

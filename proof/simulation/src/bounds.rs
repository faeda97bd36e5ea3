//! How long a client waits at most for what it could have: one function of settings and of the time that a message
//! takes. Each bound was written down before it was measured.

use super::clock::millis;
use super::setup::Setup;
use super::turns::KEPT;
use std::time::Duration;

/// So many of the longest pauses, and of round trips, a waiter needs for what is free: most to ask when a key has ended,
/// and what a message costs that is late or lost.
const PAUSES: u32 = 12;
const ROUND_TRIPS: u32 = 8;

/// The same if what is free at a quorum is not at another master, where its list may be: until those in front are overdue
/// that have died or stopped, until it learns that it is first, and until it asks all masters. For up to 32 in front.
const PAUSES_IF_STUCK: u32 = 40;
const OVERDUE: Duration = millis(1_000);

/// So many operation timeouts until it has given up a master that does not answer.
const TIMEOUTS: u32 = 4;

/// The place of a waiter in turn that has died lives for so long.
const PLACE: Duration = millis(3_000);

/// So many of the longest pauses until it has its turn among clients that never pause.
const PAUSES_AMONG_OTHERS: u32 = 60;

/// So often in a row what is free may pass on within a process, for each process that wants it, and so many times more
/// until it is a violation.
const IN_A_ROW: u64 = 8;
const ROUNDS: u64 = 4;

impl Setup {
    /// Returns the longest time for which what is free at all masters stays free, while a client waits that is linked to
    /// them. What is waited for in turn is kept for the dead, in their places, as well.
    pub(super) fn served_within(&self, message: Duration, is_in_turn: bool) -> Duration {
        let dead = if is_in_turn { PLACE + KEPT } else { Duration::ZERO };
        let round_trips = ROUND_TRIPS * 2 * (message + self.lateness);
        dead + PAUSES * self.longest_pause + TIMEOUTS * self.operation_timeout + round_trips
    }

    /// Returns the same for what is free at a quorum, and a client that is linked to that quorum.
    pub(super) fn served_by_a_quorum_within(
        &self,
        message: Duration,
        is_in_turn: bool,
    ) -> Duration {
        let stuck = (PAUSES_IF_STUCK - PAUSES) * self.longest_pause + OVERDUE;
        self.served_within(message, is_in_turn) + stuck
    }

    /// Returns the longest time for which others win what a client waits for that is linked to a quorum, and how often
    /// they may win it meanwhile in any case.
    pub(super) fn has_its_turn_within(&self, message: Duration) -> (Duration, u64) {
        let among_others = (PAUSES_AMONG_OTHERS - PAUSES) * self.longest_pause;
        (self.served_within(message, false) + among_others, IN_A_ROW * ROUNDS * self.seats() as u64)
    }
}

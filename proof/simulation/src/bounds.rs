//! How long a client waits at most for what it could have: one function of settings and of the time that a message
//! takes. Each bound was written down before it was measured.

use super::clock::millis;
use super::jam::Jam;
use super::liveness::heartbeat;
use super::setup::Setup;
use std::fmt::Write as _;
use std::time::Duration;

/// So many of the longest pauses, and of round trips, a waiter needs for what is free: most to ask when a key has ended,
/// and what a message costs that is late or lost.
pub(super) const PAUSES: u32 = 12;
const ROUND_TRIPS: u32 = 8;

/// The same if what is free at a quorum is not at another master, where its list may be: until those in front are overdue
/// that have died or stopped, until it learns that it is first, and until it asks all masters. For up to 32 in front.
const PAUSES_IF_STUCK: u32 = 40;
const OVERDUE: Duration = millis(1_000);

/// So many operation timeouts until it has given up a master that does not answer.
const TIMEOUTS: u32 = 4;

/// A waiter that was notified too early tries so long, with pauses that double.
const TRIES: Duration = millis(100);

/// A holder is asked again after this.
const ASKED_AGAIN: Duration = millis(1_000);

/// The longest of the first pause before a redial, and of any: each by up to a fifth longer.
const FIRST_REDIAL: Duration = millis(120);
const LONGEST_REDIAL: Duration = millis(2_400);
const CONNECT_TIMEOUT: Duration = millis(500);

/// So many operation timeouts until a connection is replaced on which a master is silent.
const SILENCES: u32 = 3;

/// What happens between two looks is seen late.
const LOOK: Duration = millis(30);

/// So many of the longest pauses until it has its turn among clients that never pause.
const PAUSES_AMONG_OTHERS: u32 = 60;

/// So often in a row what is free may pass on within a process, for each process that wants it, and so many times more
/// until it is a violation.
const IN_A_ROW: u64 = 8;
const ROUNDS: u64 = 4;

/// So many round trips until a client has as many rounds open as its masters bear, and then has had all of a burst that
/// no command holds up: their number doubles with each. And so many commands at a master for each lock: its SET and its
/// release, and as many again where a round ends before its answers.
const TRIPS_OF_A_BURST: u32 = 12;
const COMMANDS_EACH: u32 = 4;

/// A client may always have so many rounds open, and so many at first, whatever its masters are.
const NARROWEST: u32 = 32;
pub(super) const FIRST: u32 = 512;

/// Each is a SET and a release, and the first are too many for so often.
const COMMANDS: u32 = 2;
const WAVES: u32 = 3;

impl Setup {
    /// Returns the longest time until a client has so many locks that it has asked for at once, and that are free at a
    /// quorum to which it is linked.
    pub(super) fn serves_a_burst_within(&self, count: usize, message: Duration) -> Duration {
        let commands = COMMANDS_EACH * u32::try_from(count).unwrap_or(u32::MAX / COMMANDS_EACH);
        let round_trips = TRIPS_OF_A_BURST * 2 * (message + self.lateness);
        round_trips
            + commands * self.service
            + TIMEOUTS * (self.operation_timeout + self.longest_pause)
    }

    /// Returns whether masters answer before the end of a round for such a ttl, behind no more rounds than a client always
    /// may have open; and early enough for an extension behind those that it has open at first.
    pub(super) fn answers_in_time(&self, ttl: Duration, message: Duration) -> bool {
        let behind = |rounds: u32| rounds * COMMANDS * self.service;
        let round_trip = 2 * (message + self.lateness) + millis(2) + behind(NARROWEST);
        round_trip < self.operation_timeout.min(ttl / 10) && WAVES * behind(FIRST) < ttl / 3 * 2
    }

    /// Returns the longest time for which what is free at all masters stays free, while a client waits that is linked to
    /// them.
    pub(super) fn served_within(&self, message: Duration) -> Duration {
        let round_trips = ROUND_TRIPS * 2 * (message + self.lateness);
        PAUSES * self.longest_pause + TIMEOUTS * self.operation_timeout + round_trips
    }

    /// Returns the same for what was released, while nothing is wrong: the waiter hears of it, and may try too early.
    pub(super) fn heard_within(&self, message: Duration) -> Duration {
        TRIES + ROUND_TRIPS * 2 * (message + self.lateness)
    }

    /// Returns the same for what is free at a quorum, and a client that is linked to that quorum.
    pub(super) fn served_by_a_quorum_within(&self, message: Duration) -> Duration {
        let stuck = (PAUSES_IF_STUCK - PAUSES) * self.longest_pause + OVERDUE;
        self.served_within(message) + stuck
    }

    /// Returns the longest time for which what no caller wants is at a master that its client reaches: a handshake, the
    /// deletion, and once more after an answer that was an error.
    pub(super) fn deleted_within(&self, message: Duration) -> Duration {
        ROUND_TRIPS * 2 * (message + self.lateness) + 2 * self.operation_timeout
    }

    /// Returns the longest time until what is kept warm is given back to another client that asks: until that was
    /// refused, asks, and asks once more.
    pub(super) fn gives_way_within(&self, message: Duration) -> Duration {
        2 * ASKED_AGAIN + 2 * self.longest_pause + ROUND_TRIPS * 2 * (message + self.lateness)
    }

    /// Returns the longest time until a request has its answer: a round may be under way when its wait is over. A permit
    /// that is not waited for is sought at its own slot and at three that looked free, with a look behind each.
    pub(super) fn answered_within(&self, wait: Duration, is_permit: bool) -> Duration {
        let timeouts = if is_permit { 8 } else { 3 };
        wait + wait / 50 + timeouts * self.operation_timeout + 4 * self.lateness + LOOK
    }

    /// Returns the longest time until a client has a connection to a master that accepts it: the longest pause between two
    /// dials, one that was under way, and the next.
    pub(super) fn reached_within(&self) -> Duration {
        let dials = 2 * Duration::from_micros(self.latency_us.end) + 4 * self.lateness + LOOK;
        LONGEST_REDIAL + CONNECT_TIMEOUT + self.redial_spread + dials
    }

    /// Returns the same for one that has lost a connection that was well, while the master accepts another.
    pub(super) fn reached_again_within(&self) -> Duration {
        self.reached_within() - LONGEST_REDIAL + FIRST_REDIAL
    }

    /// Returns the longest time for which a client keeps a connection on which an answer is owed.
    pub(super) fn silent_within(&self) -> Duration {
        let longest = (SILENCES * self.operation_timeout).max(CONNECT_TIMEOUT);
        longest + longest / 50 + 4 * self.lateness + LOOK
    }

    /// Returns the longest time for which a client without callers is subscribed to what it no longer wants: until its
    /// second heartbeat.
    pub(super) fn unsubscribed_within(&self) -> Duration {
        2 * heartbeat(self.rest.heartbeat) + millis(1_000)
    }

    /// Returns the longest time for which others win what a client waits for that is linked to a quorum, and how often
    /// they may win it meanwhile in any case.
    pub(super) fn has_its_turn_within(&self, message: Duration) -> (Duration, u64) {
        // Of those that hear of no release, another may have one such moment each. Where messages are denied, a waiter
        // may rest at one: its list's master seemed to miss the key.
        let others = self.jam.as_ref().map_or(0, Jam::pollers).saturating_sub(1);
        let moments = (1 + others + usize::from(!self.denied.is_empty())) as u32;
        let among_others = (moments * PAUSES_AMONG_OTHERS - PAUSES) * self.longest_pause;
        (self.served_within(message) + among_others, IN_A_ROW * ROUNDS * self.seats() as u64)
    }
    /// Returns all bounds in words, for a message that takes 3 ms and may be 10 ms late, and for one that takes 150 ms.
    pub(super) fn bounds_shown() -> String {
        let mut near = Self::plain(3, 3, millis(2_000));
        near.latency_us = 100..3_000;
        let mut far = Self::plain(3, 3, millis(5_000));
        (far.latency_us, far.operation_timeout) = (140_000..150_000, millis(1_000));
        let mut text = String::from("bounds, with messages of 13 ms and of 160 ms:");
        let mut row = |what: &str, of: &dyn Fn(&Self, Duration) -> Duration| {
            let [near, far] = [(&near, millis(13)), (&far, millis(160))]
                .map(|(setup, message)| of(setup, message).as_secs_f64());
            let _ = write!(text, "\n{near:>8.2} s {far:>8.2} s  {what}");
        };
        row("L1: free at all masters", &Self::served_within);
        row("L1: free at a quorum", &Self::served_by_a_quorum_within);
        row("L1: released, and nothing is wrong", &Self::heard_within);
        row("L1: kept warm, and asked for", &Self::gives_way_within);
        row("L2: passed over by others", &|setup, message| setup.has_its_turn_within(message).0);
        row("L3: unwanted, and reached", &Self::deleted_within);
        row("L4: an answer after its timeout", &|setup, _| {
            setup.answered_within(Duration::ZERO, false)
        });
        row("L4: a connection to a master", &|setup, _| setup.reached_within());
        row("L4: the same after one that was well", &|setup, _| setup.reached_again_within());
        row("L4: a silent connection", &|setup, _| setup.silent_within());
        row("L5: an unwanted subscription", &|setup, _| setup.unsubscribed_within());
        text
    }
}

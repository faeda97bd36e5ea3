//! The numbers by which waiters are paced, and what each rests on: figures are of `make crowd`, a simulation. Caps and
//! bases are those of the backoff.

use std::time::Duration;

// What has been seen so often.

/// The number of attempts in a row that quickly follow on what says that the resource may be free: a message, a look at
/// the slots of a semaphore, or a clock that a refused ballot has shown. Of a hundred clients in a ring, each of which
/// wants two resources, the one with the fewest sections has 0.50 of the most, and 0.17, 0.33 or 0.60 with 1, 2 or 8 in
/// place of 4.
pub(super) const HURRIES: u32 = 4;

/// So often in a row it is no chance. A waiter has found the key free at the master of its list, and held elsewhere:
/// the hold lacks it there. Only a waiter that was called tries then, for the longest time for which that may be: each
/// further vote that is asked for in vain keeps the holder from bringing the key back. Or one process has had the key
/// anew: no message comes.
pub(super) const CERTAIN_AFTER: u32 = 2;

// Pauses.

/// While messages report when the resource becomes free, a pause is at most this share of the time since the latest
/// news, and at most so many times the widest window of the backoff. So a message that is missed costs little beside
/// the time that was waited anyway. A key that ends without a release is asked for within as many windows, by those
/// that are not in front: not by all of a crowd at once.
pub(super) const SILENCE_PER_PAUSE: u32 = 8;

/// How long only a waiter that was called tries, and how long a waiter in front waits for an answer before it asks all
/// masters: for this, or for so many round trips. Where the first master is slow, a hundred clients have 1,028 permits
/// in a second with 10 ms, instead of 1,233; with 6 round trips in place of 3, one of ten has a fiftieth of another's
/// sections.
///
/// It is also the longest of the first pauses behind a holder that was not called. Where that one has taken the key
/// past the list, the first tries at all masters then: such a client releases the key to no waiter, and may have it
/// again before the answer to a question. Twenty clients among four that poll have 0.56 of all sections so, and 0.07 if
/// the first only asks (`src/driver/tests/waitlist/pollers.rs`).
pub(super) const QUIET: Duration = Duration::from_millis(20);
pub(super) const QUIET_TRIPS: u32 = 3;

/// So many waiters in front ask as often as if there were no list. The pause of any other grows by the cap of theirs
/// for each such number ahead, up to so many caps, of a second at most. A section among two hundred clients costs 12.3
/// commands so, and 20.6 if all ask as those in front.
///
/// A waiter is due after twice its longest pause, or 16 caps, and a second (`waitlist.lua`). One that has not asked by
/// then is in front of none, whatever the key says there, and whether or not its mailbox is read. So a lock that is
/// free at a quorum is won by one of those that wait and reach it. From when it is free, or the last of `n` dead or
/// stopped ones in front of the first of them has asked, that takes, besides a few round trips,
///
/// - if the key ends at the master of the list: 8 caps from then (2 s);
/// - if the key is stuck there: `max(16 caps, n/2 caps) + 1 s` until all in front are overdue, `max(8 caps, n/4 caps)`
///   until that waiter learns it, and 16 caps until it asks all masters: 11 s for up to 32, and 24 s for 100. For more than
///   240, as for 240.
pub(super) const FRONT: usize = 4;
pub(super) const LONGEST_PAUSE_CAPS: u32 = 60;

/// The waiters in front ask all masters after so many of the longest pauses: so no key that is stuck at the first
/// node keeps them out.
pub(super) const ASKS_ALL_AFTER: u32 = 4;

/// The time after which a waiter says again that it waits: to the holder, and a writer to readers. What was held for
/// longer calls as it is released, whether or not its holder was asked: the message may have been lost. A list that has
/// served others within it leaves no moments to clients that poll.
pub(super) const SAID_AGAIN_AFTER: Duration = Duration::from_secs(1);

// Hand-overs within a process.

/// So often in a row a lock passes on within a process. Then other processes are notified, and if a client waits there,
/// the next acquire here steps back. This is the idea of cohort locks (Dice, Marathe, Shavit, 2012).
pub(super) const LOCKS_IN_A_ROW: u32 = 8;

/// The same of permits: fewer, since a process may have none at all for so long, and what it costs to leave one to
/// others is not on the way of the other permits.
pub(super) const PERMITS_IN_A_ROW: u32 = 4;

/// What is held at one moment in so many of the longest pause of a client that polls, or asked for within a pause after
/// it, is left to others for one such pause and an eighth, for its attempts before and after it. So one that polls meets it
/// in that time, also where the process holds it for the most part only, and what one process alone wants loses 2 % at
/// most.
pub(super) const CAPS_APART: u32 = 57;

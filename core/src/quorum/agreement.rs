//! The rule for when a client may vote while other clients have different settings.
//!
//! Clients of the same masters must share a list of masters, a `max_ttl` and a fencing window. Each
//! client notes its own at every master, and asks whether another client's differ. This module
//! decides what it may do until it asks again. Two clients, `A` before `B`, at a master that both
//! have asked:
//!
//! ```text
//!  A asks           A's last SET                         A's deadline        A's note ends
//!  |-- at most L ---|----------- ttl, at most D ---------------|               |
//!  |---------------------- D + L + drift(L) -----------------------------------|
//!       B asks here and learns of A: B does not use this master
//! ```
//!
//! So a client that asks a master after `A` asked it, and before `A`'s last hold is over, learns
//! of `A`. The exception is a master that has lost its memory, and such a master does not vote for
//! `D`.
//!
//! Where lists differ, one master is not enough: `A` may win at others. A client that knows
//! stops altogether, unless the masters that hold *its* note keep the other client from every
//! quorum. Those masters are its shields:
//!
//! ```text
//!  ours    1 2 3 4 5      4 reports a client of 1 2 3 4 6
//!  shields 1 2 3          it can have 4 and 6 alone: we go on, without 4
//!  shields 1 2            it can have 3, 4 and 6: both stop
//! ```

use super::{ClockDrift, FencingWindow, Instant, NodeSet, standing};
use std::time::Duration;

/// The longest time that a master's confirmation counts, from when it was asked: `L`.
pub const LONGEST_SILENCE: Duration = Duration::from_secs(15);

/// The interval at which a master is asked to confirm. A connection that died idle is found by then, before
/// the next acquire needs it.
pub const HEARTBEAT: Duration = Duration::from_secs(10);

/// The longest such interval of a client that rests.
const LONGEST_REST: Duration = Duration::from_secs(30);

/// Returns the interval at which a client asks that rests: of its note's life, a third, so that the note
/// outlives a question that is lost.
pub fn resting_heartbeat(life: Duration) -> Duration {
    (life / 3).clamp(HEARTBEAT, LONGEST_REST)
}

/// Returns whether a confirmation still counts. It was asked for at `asked`, on a clock that counts
/// suspend.
///
/// It counts from the question and not from the answer: the note's life starts between the two.
pub fn is_fresh(asked: Instant, now: Instant) -> bool {
    now.since(asked) <= LONGEST_SILENCE
}

/// Returns how long a client's note lasts at a master after its last confirmation. Whatever is sent
/// while the confirmation is fresh is over before that. The drift is that of `L`; `D` includes its
/// own.
pub fn life(quarantine: Duration, drift: ClockDrift) -> Duration {
    quarantine.saturating_add(LONGEST_SILENCE).saturating_add(drift.of(LONGEST_SILENCE))
}

/// Returns whether a master keeps another client away until the keys that a round starting now sets
/// are over, `life` later. The master has confirmed us and votes for us.
///
/// At a master that remembers, the note lasts longer than that. A master that restarts unseen
/// forgets the note, and does not vote for the other client for `quarantine` from its restart,
/// which is later than `asked`. `quarantine` is the other client's, if that is shorter than ours:
/// on its clock, while the age of the confirmation is measured on ours.
pub fn shields(
    asked: Instant,
    now: Instant,
    life: Duration,
    quarantine: Duration,
    drift: ClockDrift,
) -> bool {
    let oldest = oldest_shield(life, quarantine, drift);
    is_fresh(asked, now) && oldest.is_some_and(|oldest| now.since(asked) <= oldest)
}

/// Returns how old a confirmation may be for its master to be a shield of keys that live for
/// `life`.
pub fn shield_life(life: Duration, quarantine: Duration, drift: ClockDrift) -> Duration {
    oldest_shield(life, quarantine, drift).unwrap_or_default().min(LONGEST_SILENCE)
}

/// Returns the age that a confirmation may have, with the drift of that age, so that the quarantine
/// outlasts the keys; `None` if it never does.
fn oldest_shield(life: Duration, quarantine: Duration, drift: ClockDrift) -> Option<Duration> {
    let rest = quarantine.checked_sub(life)?;
    rest.checked_sub(drift.of(rest))
}

/// A list of another client, reduced to its overlap with ours.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ForeignList {
    /// The number of its masters.
    pub len: usize,
    /// Those of its masters that are ours, too.
    pub ours: NodeSet,
}

/// Returns whether a client of `lists` can hold a majority of each of them without any of our
/// `shields`.
///
/// If it can, it may have won, or may win, at the same time as we do, and we send nothing anywhere.
/// A client without any list cannot exist; it is treated as one that can win.
pub fn wins_apart(lists: &[ForeignList], shields: NodeSet) -> bool {
    lists.iter().all(|list| {
        let left = list.len.saturating_sub(list.ours.intersection(shields).len());
        left > list.len / 2
    })
}

/// The settings that are numbers: the components of a master's quarantine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Numbers {
    pub max_ttl: Duration,
    pub window: FencingWindow,
}

impl Numbers {
    /// Returns the greater of both, number by number.
    #[must_use]
    pub fn joint(self, other: Self) -> Self {
        let (ours, theirs) = (self.window, other.window);
        let window =
            FencingWindow { back: ours.back.max(theirs.back), ahead: ours.ahead.max(theirs.ahead) };
        Self { max_ttl: self.max_ttl.max(other.max_ttl), window }
    }

    /// Returns how long a master that may have forgotten does not vote. A client that knows
    /// others' numbers uses those and its own together, and at every master. A restart elsewhere
    /// may have forgotten what the other client was granted there.
    pub fn quarantine(self, drift: ClockDrift) -> Duration {
        standing::quarantine(self.max_ttl, self.window, drift)
    }
}

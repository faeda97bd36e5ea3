//! When a client may vote beside clients that go by other settings.
//!
//! Clients of the same masters must share a list of masters, a `max_ttl` and a fencing window. Each
//! notes its own at every master and asks whether another client's differ. What it may do until it asks
//! again is decided here. Two clients, `A` before `B`, at a master that both have asked:
//!
//! ```text
//!  A asks           A's last SET                         A's deadline        A's note ends
//!  |-- at most L ---|----------- ttl, at most D ---------------|               |
//!  |---------------------- D + L + drift(L) -----------------------------------|
//!       B asks here and is told of A: B does not use this master
//! ```
//!
//! So whoever asks a master after `A` asked it, and before `A`'s last hold is over, is told of `A`, unless the
//! master has lost its memory; and one that has does not vote for `D`.
//!
//! Where lists differ, one master is not enough: `A` may win at others. A client that was told stops
//! altogether, unless the masters that hold *its* note keep the other from every quorum. Those are its
//! shields:
//!
//! ```text
//!  ours    1 2 3 4 5      told by 4 of a client of 1 2 3 4 6
//!  shields 1 2 3          it can have 4 and 6 alone: we go on, without 4
//!  shields 1 2            it can have 3, 4 and 6: both stop
//! ```

use super::{Drift, Instant, NodeSet, Window, standing};
use std::time::Duration;

/// `L`: what a master has confirmed counts for this long, from when it was asked.
pub(crate) const LONGEST_SILENCE: Duration = Duration::from_secs(15);

/// Whether a confirmation still counts: it was asked for at `asked`, on a clock that counts suspend.
///
/// From the question on and not from the answer: the note's life starts between the two.
pub(crate) fn is_fresh(asked: Instant, now: Instant) -> bool {
    now.since(asked) <= LONGEST_SILENCE
}

/// How long a client's note stands at a master after it was last confirmed: whatever is sent while the
/// confirmation is fresh is over before. The drift is that of `L`; `D` carries its own.
pub(crate) fn life(quarantine: Duration, drift: Drift) -> Duration {
    quarantine.saturating_add(LONGEST_SILENCE).saturating_add(drift.of(LONGEST_SILENCE))
}

/// Whether a master that has confirmed us, and that votes for us, keeps another client away until the
/// keys that a round of `now` sets are over, `life` later.
///
/// The note stands for longer than that at a master that remembers. One that restarts unseen forgets
/// the note, and does not vote for the other client for `quarantine` from then on: later than `asked`.
/// That is the other client's quarantine, if it is shorter than ours.
pub(crate) fn shields(asked: Instant, now: Instant, life: Duration, quarantine: Duration) -> bool {
    is_fresh(asked, now) && asked.after(quarantine) >= now.after(life)
}

/// How old a confirmation may be for its master to be a shield of keys that live for `life`.
pub(crate) fn shield_life(life: Duration, quarantine: Duration) -> Duration {
    quarantine.saturating_sub(life).min(LONGEST_SILENCE)
}

/// A list of another client, as far as it is ours.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ForeignList {
    /// How many masters it has.
    pub(crate) len: usize,
    /// Which of them are ours, too.
    pub(crate) ours: NodeSet,
}

/// Whether a client of `lists` can hold a majority of each of them without any of our `shields`.
///
/// It then may have won, or win, beside us, and we send nothing anywhere. A client of no list at all
/// is none that can be; it is taken for one that can win.
pub(crate) fn wins_apart(lists: &[ForeignList], shields: NodeSet) -> bool {
    lists.iter().all(|list| {
        let left = list.len.saturating_sub(list.ours.intersection(shields).len());
        left > list.len / 2
    })
}

/// The settings that are numbers: what a master's quarantine is made of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Numbers {
    pub(crate) max_ttl: Duration,
    pub(crate) window: Window,
}

impl Numbers {
    /// The greater of both, one by one.
    #[must_use]
    pub(crate) fn joint(self, other: Self) -> Self {
        let (one, two) = (self.window, other.window);
        let window = Window { back: one.back.max(two.back), ahead: one.ahead.max(two.ahead) };
        Self { max_ttl: self.max_ttl.max(other.max_ttl), window }
    }

    /// How long a master that may have forgotten does not vote: for a client that was told of others'
    /// numbers, by those and its own together, and at every master. A restart elsewhere may have
    /// forgotten what the other was granted there.
    pub(crate) fn quarantine(self, drift: Drift) -> Duration {
        standing::quarantine(self.max_ttl, self.window, drift)
    }
}

//! The events of a run: time, actor, event. `line.rs` writes each as a line.
//!
//! A line is written before the effect that it describes. So a process that is killed has reported
//! everything that others could see of it. For an acquisition it is the other way round: its effect
//! is on the holder, which writes the line before it does anything else.

use super::clock::Nanos;
use std::time::Duration;

/// The semaphore of which permits are held, and their number. All other resources are locks.
pub(crate) const PERMITS: (&str, usize) = ("p0", 2);

/// The locks that a crowd of clients waits for: the second in turn.
pub(crate) const CROWDED: [&str; 2] = ["x0", "x1"];

/// The locks that clients keep alive while they begin bursts.
pub(crate) const KEPT_ALIVE: [&str; 8] = ["b0", "b1", "b2", "b3", "b4", "b5", "b6", "b7"];

/// Their ttl: a burst of a few seconds may cost a lock that is not extended meanwhile.
pub(crate) const KEPT_TTL: Duration = Duration::from_millis(1500);

/// The beginning of the names of a burst, which stands for all of them in a history: it counts them.
pub(crate) const BURST: &str = "burst";

/// The longest time for which a lock that was given back is kept warm.
pub(crate) const KEPT_WARM: Duration = Duration::from_millis(600);

/// Returns how many may hold a resource at a time.
pub(crate) fn most_holders(resource: &str) -> usize {
    if resource == PERMITS.0 { PERMITS.1 } else { 1 }
}

/// The actor of what is about the run as a whole.
pub(crate) const RUN: &str = "run";

/// The actor of the store's answers.
pub(crate) const STORE: &str = "store";

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) at: Nanos,
    /// `c7.2`: the second task of the seventh client process; `c7`: the process; `m3`: a master;
    /// `store`: the protected store; `run`: the run itself.
    pub(crate) who: String,
    pub(crate) what: What,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// A task asks for a lock. `cures`: a retry after a failure without a quorum.
    Asks {
        id: u64,
        resources: Vec<String>,
        claim: Claim,
        wait: Duration,
        cures: Option<u64>,
    },
    /// The task has the lock, valid at this instant and until that one.
    Enters {
        id: u64,
        until: Nanos,
        token: Option<u64>,
    },
    /// The task is about to look at its guard.
    Looks {
        id: u64,
    },
    /// The task still has the lock, valid at this instant and until that one.
    Holds {
        id: u64,
        until: Nanos,
    },
    /// The guard that the task looked at is not valid.
    Lapsed {
        id: u64,
    },
    /// The task is about to release the lock, to give it back, or to drop the guard.
    Leaves {
        id: u64,
    },
    /// The release has ended. Confirmed: a quorum has deleted the key, or it was given back, and stays with the
    /// process as far as others are concerned. Either way this hold is over.
    Left {
        id: u64,
        confirmed: bool,
    },
    /// The task did not get the lock.
    Fails {
        id: u64,
        why: Why,
    },

    /// The task begins so many acquires at once.
    Bursts {
        asked: u64,
    },
    /// All of the task's burst are answered or given up, and released. So many were won.
    Served {
        served: u64,
    },

    Born,
    Stopped,
    Continued,
    Killed,
    /// The client shut down by itself; this many deletions were not confirmed.
    Gone {
        owed: usize,
    },

    /// From now on a master is in this condition.
    Is(Condition),
    /// The clock of a master was set, by so many milliseconds.
    Set {
        by: u64,
        is_forward: bool,
    },
    /// A scan that began at this instant was not answered in time.
    Silent {
        until: Nanos,
    },
    /// A scan that began at this instant found this process's key on the master.
    Has {
        resource: String,
        holder: String,
    },

    /// The task is about to write to the store.
    Writes {
        id: u64,
        resource: String,
        token: u64,
    },
    /// The store accepted or refused a write.
    Write {
        by: String,
        id: u64,
        resource: String,
        token: u64,
        accepted: bool,
    },

    /// The whole machine stood still, if the run says so, or a process, until that instant.
    Froze {
        until: Nanos,
    },
    /// From now on no client may have left a key: all clients are gone, and everything has expired.
    Empty,
    /// Some clients have other settings than others, so they keep each other away.
    AtOdds,
    /// Something that must not happen.
    Odd(String),
}

/// How a lock is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Claim {
    Alone,
    /// Alone, with a fencing token.
    Fenced,
    /// Beside other readers.
    Shared,
    /// Alone, in turn.
    Fair,
    /// Alone, in turn, with a fencing token.
    FairFenced,
    /// Alone, and kept warm in the client's process once it is given back.
    Warm,
}

/// The reason why there was no lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Why {
    Contended,
    NoQuorum,
    /// Its client asked for more at once than its masters answered in time.
    Overloaded,
    /// Its future was dropped.
    Cancelled,
    /// The lock was won, and had expired when the task looked at it.
    Late,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Condition {
    Up,
    Killed,
    Paused,
    Disconnected,
    /// Its answers take tens of milliseconds.
    Slow,
    /// Bytes sent to it arrive late, all at once.
    Held,
    /// Its connections have just been reset.
    Reset,
    /// Its connections look alive but are not.
    HalfOpen,
    /// Up again, perhaps without its keys, and too young to vote.
    Warming,
    /// Up, with a clock that is set again and again.
    Astray,
}

impl Claim {
    const ALL: [Self; 6] =
        [Self::Alone, Self::Fenced, Self::Shared, Self::Fair, Self::FairFenced, Self::Warm];

    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Alone => "alone",
            Self::Fenced => "fenced",
            Self::Shared => "shared",
            Self::Fair => "fair",
            Self::FairFenced => "fair-fenced",
            Self::Warm => "warm",
        }
    }

    pub(crate) fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.word() == word)
    }

    pub(crate) const fn is_fenced(self) -> bool {
        matches!(self, Self::Fenced | Self::FairFenced)
    }

    /// Returns whether it is waited for in turn.
    pub(crate) const fn is_fair(self) -> bool {
        matches!(self, Self::Fair | Self::FairFenced)
    }
}

impl Why {
    pub(crate) const ALL: [Self; 5] =
        [Self::Contended, Self::NoQuorum, Self::Overloaded, Self::Cancelled, Self::Late];

    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Contended => "contended",
            Self::NoQuorum => "no-quorum",
            Self::Overloaded => "overloaded",
            Self::Cancelled => "cancelled",
            Self::Late => "late",
        }
    }

    pub(crate) fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.word() == word)
    }
}

impl Condition {
    pub(crate) const ALL: [Self; 10] = [
        Self::Up,
        Self::Killed,
        Self::Paused,
        Self::Disconnected,
        Self::Slow,
        Self::Held,
        Self::Reset,
        Self::HalfOpen,
        Self::Warming,
        Self::Astray,
    ];

    /// Conditions that others inflict on a master.
    pub(crate) const FAULTS: [Self; 7] = [
        Self::Killed,
        Self::Paused,
        Self::Disconnected,
        Self::Slow,
        Self::Held,
        Self::Reset,
        Self::HalfOpen,
    ];

    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Up => "up",
            Self::Killed => "killed",
            Self::Paused => "paused",
            Self::Disconnected => "disconnected",
            Self::Slow => "slow",
            Self::Held => "held",
            Self::Reset => "reset",
            Self::HalfOpen => "half-open",
            Self::Warming => "warming",
            Self::Astray => "astray",
        }
    }

    pub(crate) fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.word() == word)
    }
}

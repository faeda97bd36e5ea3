//! The answers of the masters, as errors and outcomes carry them.

#![warn(missing_docs)]

mod difference;
mod fold;

pub use difference::Difference;
pub use fold::{Folded, Said, fold};

use crate::escape::OneLine;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// The answer of one master in one round, and how long it took.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NodeReport {
    /// The master's address as configured, without credentials.
    pub node: Arc<str>,
    /// The answer.
    pub answer: Answer,
    /// The time from the start of the round to the answer, or to the moment it was given up.
    pub latency: Duration,
}

/// The answer of one master.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Answer {
    /// To an acquire: the key is set for our token.
    Granted,
    /// To an acquire: the master definitely did not set the key. To an extension: it was not asked,
    /// and may hold our key nevertheless.
    Refused(Refusal),
    /// To an extension: our token is there, and its life was extended.
    Held,
    /// To an extension or a release: no key is there.
    Vacant,
    /// To an extension: another holder's token is there.
    Taken,
    /// To a release: our key was there and is deleted.
    Deleted,
    /// To a release of a lock that is closed for some time yet: our key was there, and lives until
    /// that time is over.
    Shortened,
    /// Unknown what the master did: this never helps to win, and it is cleaned up.
    Unknown(UnknownCause),
    /// The round was decided before this answer came.
    Outstanding,
    /// To an acquire for which too few other masters could vote: it may vote, and its grant would not have
    /// been enough.
    Available,
}

/// The reason why one master refused.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// Another holder has the lock there. `remaining` is the remaining life of the key, if the
    /// master was asked for it (it is on attempts after the first) and the key does expire.
    Held {
        /// The remaining life of the other holder's key.
        remaining: Option<Duration>,
    },
    /// A reader: a writer waits for the lock, and no new reader is let in before it.
    Wanted {
        /// For how long the master keeps new readers out, unless the writer renews that.
        remaining: Duration,
    },
    /// An acquire that waits in a list, which stands at this master: others are before it.
    Behind {
        /// How many there are.
        ahead: usize,
    },
    /// A fenced acquire: a greater fencing token has been granted there, or is in flight.
    Stale,
    /// A fenced acquire: the proposed number is too far from the master's clock.
    Clock {
        /// The time that the master's clock showed, in microseconds since 1970.
        shows_us: u64,
    },
    /// No connection: refused within this process, nothing was sent.
    Down(Arc<str>),
    /// Reachable, but not an independent master (a replica, or the same server as another node):
    /// refused within this process, nothing was sent.
    Unfit(Arc<str>),
    /// Another client of this master is configured with other settings (a `max_ttl`, a fencing window,
    /// a list of masters), and both could win: refused within this process, nothing was sent.
    Disagreement(Arc<str>),
    /// Another client, reported by the master `by`, has other lists and could win at the same time
    /// as this one: no master is asked before that is settled.
    Barred {
        /// The master that reported it.
        by: Arc<str>,
    },
    /// The master has not recently confirmed that its other clients have the same settings, and was
    /// asked again: refused within this process, nothing was sent.
    Unconfirmed,
    /// The master started recently and may have forgotten what it had granted: its vote
    /// does not count before `remaining` has passed.
    WarmingUp {
        /// The time until it may vote.
        remaining: Duration,
    },
    /// The master is connected but does not keep up, and too much is queued for it already:
    /// refused within this process, nothing was sent.
    QueueFull,
    /// An error of the server, in its own words.
    Server(Arc<str>),
}

/// The reason why it is not known what a master did.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum UnknownCause {
    /// No answer within the operation timeout.
    TimedOut,
    /// The connection was lost after the command may have been sent.
    ConnectionLost(Arc<str>),
    /// There was no connection to ask over.
    Down(Arc<str>),
    /// The master had started not long before it was asked: what it says does not count yet.
    WarmingUp,
    /// The server answered with an error, in its own words.
    Server(Arc<str>),
}

/// The reason why a hold is over.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LossReason {
    /// The deadline has passed.
    Lapsed,
    /// A quorum of masters is known not to hold our key, before the deadline: they lost their
    /// memory, or the lock was taken away. Contains what every master said.
    QuorumGone(Vec<NodeReport>),
    /// Its guard was released, dropped or left. A lease of that guard sees this.
    Released,
    /// This `Redlock` was shut down, or its runtime is gone: the lock is no longer maintained.
    Closed,
    /// Its guard was detached: the lock is its adopter's. A lease of that guard sees this.
    Detached,
    /// Its guard was to become a reader's: the lock is no longer its own alone. A lease of that guard
    /// sees this.
    Downgraded,
    /// This process is a fork of the one that has the lock.
    Forked,
    /// This is so in this client, although it must not: a fault of this crate. The client has ended, and its keys expire.
    Broken(&'static str),
}

impl LossReason {
    /// Returns the reason in a word, as events and metrics name it.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Lapsed => "lapsed",
            Self::QuorumGone(_) => "quorum_gone",
            Self::Released => "released",
            Self::Closed => "closed",
            Self::Detached => "detached",
            Self::Downgraded => "downgraded",
            Self::Forked => "forked",
            Self::Broken(_) => "broken",
        }
    }
}

#[cfg(any(test, feature = "testing"))]
impl NodeReport {
    /// Creates a report, for tests of texts.
    pub const fn new(node: Arc<str>, answer: Answer) -> Self {
        Self { node, answer, latency: Duration::from_millis(3) }
    }
}

impl Answer {
    /// Returns whether the master was asked, and so how long that took. Of what was decided in this
    /// process, a latency would only be noise.
    pub(crate) const fn is_of_the_master(&self) -> bool {
        !matches!(
            self,
            Self::Refused(
                Refusal::Down(_)
                    | Refusal::Unfit(_)
                    | Refusal::Disagreement(_)
                    | Refusal::Barred { .. }
                    | Refusal::Unconfirmed
                    | Refusal::WarmingUp { .. }
                    | Refusal::QueueFull,
            ) | Self::Unknown(UnknownCause::Down(_))
                | Self::Available
                | Self::Outstanding
        )
    }

    /// Returns whether no other token had the key there.
    pub(crate) fn finds_free(&self) -> bool {
        *self == Self::Granted || self.refuses_ballot()
    }

    /// Returns whether another ballot would have been enough.
    pub(crate) const fn refuses_ballot(&self) -> bool {
        matches!(self, Self::Refused(Refusal::Stale | Refusal::Clock { .. }))
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Granted => f.write_str("granted"),
            Self::Refused(reason) => reason.fmt(f),
            Self::Held => f.write_str("held by us"),
            Self::Vacant => f.write_str("no key there"),
            Self::Taken => f.write_str("held by another token"),
            Self::Deleted => f.write_str("deleted"),
            Self::Shortened => f.write_str("shortened"),
            Self::Unknown(cause) => cause.fmt(f),
            Self::Outstanding => f.write_str("not waited for"),
            Self::Available => f.write_str("could have granted"),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Held { remaining: None } => f.write_str("held"),
            Self::Held { remaining: Some(left) } => write!(f, "held, expires in {}", Span(*left)),
            Self::Wanted { remaining } => {
                write!(f, "a writer waits, for {} unless it renews that", Span(*remaining))
            }
            Self::Behind { ahead: 1 } => f.write_str("1 is ahead"),
            Self::Behind { ahead } => write!(f, "{ahead} are ahead"),
            Self::Stale => f.write_str("a greater fencing token was there"),
            Self::Clock { shows_us } => {
                let shows = SystemTime::UNIX_EPOCH + Duration::from_micros(*shows_us);
                let shows = humantime::format_rfc3339_millis(shows);
                write!(f, "its clock is too far from what was proposed (it shows {shows})")
            }
            Self::Down(cause) => write!(f, "down ({})", OneLine(cause)),
            Self::Unfit(cause) => write!(f, "unfit ({})", OneLine(cause)),
            Self::Disagreement(cause) => write!(f, "disagrees ({})", OneLine(cause)),
            Self::Barred { by } => {
                write!(f, "not asked (another client of {} could win)", OneLine(by))
            }
            Self::Unconfirmed => {
                f.write_str("has not confirmed the settings of this client lately")
            }
            Self::WarmingUp { remaining } => {
                write!(f, "warming up (may vote in {})", Span(*remaining))
            }
            Self::QueueFull => f.write_str("queue full"),
            Self::Server(error) => write!(f, "refused by the server ({})", OneLine(error)),
        }
    }
}

impl fmt::Display for UnknownCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TimedOut => f.write_str("no answer in time"),
            Self::ConnectionLost(cause) => write!(f, "connection lost ({})", OneLine(cause)),
            Self::Down(cause) => write!(f, "down ({})", OneLine(cause)),
            Self::WarmingUp => f.write_str("warming up"),
            Self::Server(error) => write!(f, "error of the server ({})", OneLine(error)),
        }
    }
}

impl fmt::Display for NodeReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", OneLine(&self.node), self.answer)?;
        match self.answer.is_of_the_master() {
            true => write!(f, " after {}", Span(self.latency)),
            false => Ok(()),
        }
    }
}

/// A span as people read it: `850 µs`, `1.2 ms`, `406 ms`, `9.4 s`, `17 s`, `2 min 3 s`. What is left over
/// is cut off.
#[derive(Clone, Copy, Debug)]
pub struct Span(pub Duration);

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const MINUTE: u64 = 60;
        const HOUR: u64 = 60 * MINUTE;
        const DAY: u64 = 24 * HOUR;
        let (secs, millis, micros) = (self.0.as_secs(), self.0.as_millis(), self.0.as_micros());
        let two = |f: &mut fmt::Formatter<'_>, large: u64, name: &str, small: u64, less: &str| {
            write!(f, "{} {name}", secs / large)?;
            let rest = secs % large / small;
            if rest == 0 { Ok(()) } else { write!(f, " {rest} {less}") }
        };
        match secs {
            DAY.. => two(f, DAY, "d", HOUR, "h"),
            HOUR.. => two(f, HOUR, "h", MINUTE, "min"),
            MINUTE.. => two(f, MINUTE, "min", 1, "s"),
            10.. => write!(f, "{secs} s"),
            1.. => tenths(f, millis / 100, "s"),
            0 if millis >= 10 => write!(f, "{millis} ms"),
            0 if millis >= 1 => tenths(f, micros / 100, "ms"),
            0 if micros >= 1 => write!(f, "{micros} µs"),
            0 => f.write_str("0 s"),
        }
    }
}

fn tenths(f: &mut fmt::Formatter<'_>, tenths: u128, unit: &str) -> fmt::Result {
    match (tenths / 10, tenths % 10) {
        (whole, 0) => write!(f, "{whole} {unit}"),
        (whole, tenth) => write!(f, "{whole}.{tenth} {unit}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn span_shows_the_digits_that_people_read() {
        let micros = |micros| Span(Duration::from_micros(micros)).to_string();
        let shown = [0, 850, 1_000, 1_290, 9_999, 10_999, 406_000, 999_999].map(micros);
        assert_eq!(
            shown,
            ["0 s", "850 µs", "1 ms", "1.2 ms", "9.9 ms", "10 ms", "406 ms", "999 ms"]
        );
        let millis = |millis| Span(Duration::from_millis(millis)).to_string();
        let shown = [1_000, 9_406, 17_999, 59_999, 60_000, 123_000, 3_600_000].map(millis);
        assert_eq!(shown, ["1 s", "9.4 s", "17 s", "59 s", "1 min", "2 min 3 s", "1 h"]);
        let secs = |secs| Span(Duration::from_secs(secs)).to_string();
        assert_eq!([3_660, 86_400, 97_200].map(secs), ["1 h 1 min", "1 d", "1 d 3 h"]);
    }
}

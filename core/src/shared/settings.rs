//! The configuration of the machine.

use crate::master::{Agreement, RestartGuard};
use crate::pace::Backoff;
use crate::quorum::{ClockDrift, FencingWindow, Membership};
use std::sync::Arc;
use std::time::Duration;

/// The configuration of the machine.
#[derive(Clone, Debug)]
pub struct Settings {
    pub membership: Membership,
    pub drift: ClockDrift,
    pub backoff: Backoff,
    pub operation_timeout: Duration,
    pub connect_timeout: Duration,
    pub rest: Rest,
    /// The longest pause before a master that was lost is dialled again, if the others are a quorum.
    pub redial_spread: Duration,
    pub restart_guard: RestartGuard,
    /// How long a master that has started does not vote.
    pub quarantine: Duration,
    pub agreement: Agreement,
    /// How far a ballot may be from a node's clock.
    pub window: FencingWindow,
    /// A waiter is notified when a lock becomes free, and asks one node first.
    pub wake_ups: bool,
    /// A waiter asks the holder to give way, if waiters are notified. Without that, each release notifies them.
    pub asks: bool,
    /// The beginning of the names of waitlists, if waiters stand in them, and are notified: the whole key follows.
    pub waitlists: Option<Arc<str>>,
    /// The name of the holder, for clients that inspect a lock; it follows each token.
    pub label: Option<Arc<str>>,
}

/// The rest of a client that uses no lock: it asks its masters less often, and all of them before its next
/// round.
#[derive(Clone, Copy, Debug)]
pub struct Rest {
    /// How long it has begun no round before it rests, and has held, waited for and listened to nothing since.
    pub after: Duration,
    /// The interval between two heartbeats of a client that rests, once it has begun a round.
    pub heartbeat: Duration,
}

/// The names of a waitlist: of the places in it, and of when each that has one is due.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Waitlist {
    pub places: Arc<str>,
    pub due: Arc<str>,
}

impl Waitlist {
    /// Returns the waitlist of a key, where the names of all begin so.
    pub fn of(prefix: &str, key: &str) -> Self {
        let due = prefix.strip_suffix(':').unwrap_or(prefix);
        Self { places: format!("{prefix}{key}").into(), due: format!("{due}-due:{key}").into() }
    }
}

impl Settings {
    /// Returns the waitlist of a key.
    pub(crate) fn waitlist(&self, key: &str) -> Option<Waitlist> {
        self.waitlists.as_ref().map(|prefix| Waitlist::of(prefix, key))
    }

    pub(crate) fn round_timeout(&self, ttl: Duration) -> Duration {
        round_timeout(self.operation_timeout, ttl)
    }
}

/// Returns how long a round waits for answers: at most a tenth of the ttl. Otherwise one slow node
/// would use up the validity.
pub fn round_timeout(operation_timeout: Duration, ttl: Duration) -> Duration {
    operation_timeout.min(ttl / 10).max(Duration::from_millis(1))
}

//! Errors, typed by what the caller does next.
//!
//! | from | error | next |
//! |---|---|---|
//! | [`connect`](crate::RedlockBuilder::connect) | [`ConnectError`] | fix the configuration |
//! | [`acquire`](crate::Redlock::acquire) | [`AcquireError::Contended`] | wait, or do without |
//! | | [`AcquireError::NoQuorum`] | raise an alarm, try again later; wait, if masters are warming up |
//! | | [`AcquireError::Disagreement`] | fix the configuration, or the masters' clocks |
//! | | [`AcquireError::Invalid`] | fix the call |
//! | | [`AcquireError::Closed`] | connect again |
//! | [`check`](crate::Guard::check), [`lost`](crate::Guard::lost) | [`Lost`] | stop before the next side effect |
//! | [`extend`](crate::Guard::extend) | [`ExtendError::Lost`] | as above |
//! | | [`ExtendError::Unextended`] | try again before the deadline |
//! | [`run`](crate::Acquire::run) | [`RunError`](crate::RunError) | as for the error inside |
//! | [`Owner::acquire`](crate::Owner::acquire) | [`OwnerError`](crate::OwnerError) | as for the error inside |
//! | [`inspect`](crate::Redlock::inspect), [`force_release`](crate::Redlock::force_release) | [`InspectError`] | fix the call, or try again |
//! | [`status`](crate::Redlock::status) | [`Closed`] | connect again |
//! | [`wait_until_ready`](crate::Redlock::wait_until_ready) | [`ReadyError`] | wait longer, or fix what the status inside names |
//! | [`shutdown`](crate::Redlock::shutdown) | [`NotDrained`] | nothing: the keys expire |
//!
//! If a round was decided, the error carries what every master said; it prints as one line.

mod acquire;
mod connect;
mod inspect;
mod ready;

pub use acquire::{AcquireError, Contended, Disagreed, NoQuorum};
pub use connect::{ConnectError, Disagreement, Unfit};
pub use inspect::InspectError;
pub use ready::{NotReady, ReadyError};

use crate::report::{Answer, NodeReport, Quorum, Span};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use thiserror::Error;

fn list(f: &mut fmt::Formatter<'_>, nodes: &[NodeReport]) -> fmt::Result {
    f.write_str(&listed(nodes))
}

/// Formats what every master said, to be put behind a sentence.
fn listed(nodes: &[NodeReport]) -> String {
    let told: Vec<String> = nodes.iter().map(NodeReport::to_string).collect();
    if told.is_empty() { String::new() } else { format!(": {}", told.join("; ")) }
}

/// A setting or an argument that cannot work, found before anything was sent.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{field}: {problem}")]
#[non_exhaustive]
pub struct Invalid {
    /// The setting or argument.
    pub field: &'static str,
    /// The problem with it, and what to do about it.
    pub problem: String,
}

impl Invalid {
    pub(crate) fn new(field: &'static str, problem: impl Into<String>) -> Self {
        Self { field, problem: problem.into() }
    }
}

/// This `Redlock` was shut down, or the runtime it was connected on is gone.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("closed: {cause}")]
#[non_exhaustive]
pub struct Closed {
    cause: &'static str,
}

impl Closed {
    pub(crate) const SHUT_DOWN: Self =
        Self { cause: "this Redlock was shut down, or the runtime it was connected on is gone" };
}

/// The lock is lost for good: it can no longer be relied on. Another client may hold it now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lost {
    resource: Arc<str>,
    reason: LostReason,
    held_for: Duration,
}

/// The reason why a hold is over.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum LostReason {
    /// The deadline has passed.
    Lapsed,
    /// A quorum of masters is known not to hold our key, before the deadline: they lost their
    /// memory, or the lock was taken away. Contains what every master said.
    QuorumGone(Vec<NodeReport>),
    /// Its guard was released, dropped or left. A lease of that guard sees this.
    Released,
    /// This `Redlock` was shut down, or its runtime is gone: the lock is no longer maintained.
    Closed,
}

impl Lost {
    pub(crate) const fn new(resource: Arc<str>, reason: LostReason, held_for: Duration) -> Self {
        Self { resource, reason, held_for }
    }

    /// Returns the resource that was locked.
    #[must_use]
    pub fn resource(&self) -> &str {
        &self.resource
    }

    /// Returns the reason.
    #[must_use]
    pub const fn reason(&self) -> &LostReason {
        &self.reason
    }

    /// Returns the time from the win to the loss. The loss is the deadline, or the moment when a
    /// quorum was known to be gone, which may have been some time after it went.
    #[must_use]
    pub const fn held_for(&self) -> Duration {
        self.held_for
    }
}

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let held = Span(self.held_for);
        write!(f, "lost \"{}\" {held} after it was acquired: ", self.resource)?;
        match &self.reason {
            LostReason::Lapsed => f.write_str("its deadline has passed"),
            LostReason::QuorumGone(nodes) => {
                f.write_str("a quorum no longer holds our key")?;
                list(f, nodes)
            }
            LostReason::Released => f.write_str("its guard was given up"),
            LostReason::Closed => f.write_str(Closed::SHUT_DOWN.cause),
        }
    }
}

impl std::error::Error for Lost {}

/// The reason why an extension did not move the deadline.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ExtendError {
    /// The lock is lost, for good.
    #[error(transparent)]
    Lost(#[from] Lost),
    /// Too few masters answered: the lock is held until its old deadline, nothing is destroyed,
    /// and another extension may succeed.
    #[error(transparent)]
    Unextended(#[from] Unextended),
}

/// Too few masters confirmed an extension in time. The old deadline remains in force.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unextended {
    /// The locked resource.
    pub resource: Arc<str>,
    /// The answer of every master.
    pub nodes: Vec<NodeReport>,
    pub(crate) quorum: Quorum,
}

impl fmt::Display for Unextended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let held = self.nodes.iter().filter(|node| node.answer == Answer::Held).count();
        write!(
            f,
            "\"{}\" was not extended, its deadline stands: {held} of {} masters confirmed, {} needed",
            self.resource,
            self.nodes.len(),
            self.quorum,
        )?;
        list(f, &self.nodes)
    }
}

impl std::error::Error for Unextended {}

/// [`Redlock::shutdown`](crate::Redlock::shutdown) ran out of time.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "{owed} releases and rollbacks were not confirmed in time: their keys expire with their ttl"
)]
#[non_exhaustive]
pub struct NotDrained {
    /// Unconfirmed deletions, counted once per master.
    pub owed: usize,
}

//! Errors, typed by what the caller does next.
//!
//! Every error type of the crate is here. The root re-exports those that a call returns as its
//! `Err`, and not what these contain, such as [`Contended`]. All can be cloned and compared, their
//! fields are public, and each prints as one line.
//!
//! | from | error | next |
//! |---|---|---|
//! | [`connect`](crate::RedlockBuilder::connect) | [`ConnectError`] | fix the configuration |
//! | [`acquire`](crate::Redlock::acquire) | [`AcquireError::Contended`] | wait, or do without |
//! | | [`AcquireError::NoQuorum`] | raise an alarm, try again later; wait, if masters are warming up |
//! | | [`AcquireError::Disagreement`] | fix the configuration, or the masters' clocks |
//! | | [`AcquireError::InvalidSetting`] | fix the call |
//! | | [`AcquireError::WrongContext`] | make the call elsewhere |
//! | | [`AcquireError::NoRandomness`] | try again; if it persists, fix the system or its sandbox |
//! | | [`AcquireError::Closed`] | connect again |
//! | [`check`](crate::Lease::check), [`lost`](crate::Lease::lost) | [`Lost`] | stop before the next side effect |
//! | [`release`](crate::Guard::release) | [`Lost`] | check what was done: it may have overlapped with another holder's work |
//! | [`extend`](crate::Guard::extend) | [`ExtendError::Lost`] | stop before the next side effect |
//! | | [`ExtendError::Unextended`] | try again before the deadline |
//! | [`detach`](crate::Guard::detach) | [`NotDetached`] | as for the error inside; the guard is back |
//! | [`downgrade`](crate::WriteGuard::downgrade) | [`NotDowngraded`] | as for the error inside; the guard is back |
//! | [`adopt`](crate::Redlock::adopt) | [`NotAdopted`] | as for the error inside; the value is back |
//! | | [`AdoptError::TooLate`] | acquire the lock, or do without |
//! | | [`AdoptError::Unadopted`] | try again: each try gives the keys another ttl |
//! | [`run`](crate::Acquire::run) | [`RunError`] | as for the error inside |
//! | [`Reentrant::acquire`](crate::Reentrant::acquire) | [`ReentrantError`] | as for the error inside |
//! | [`inspect`](crate::Redlock::inspect), [`force_release`](crate::Redlock::force_release) | [`InspectError`] | fix the call, or try again |
//! | [`list`](crate::Redlock::list) | [`ListError`] | fix the call, or see what is wrong with the masters inside |
//! | [`preflight`](crate::Redlock::preflight) | [`PreflightError`] | fix the configuration, or make the call elsewhere |
//! | [`status`](crate::Redlock::status) | [`Closed`] | connect again |
//! | [`wait_until_ready`](crate::Redlock::wait_until_ready) | [`ReadyError`] | wait longer, or fix what the status inside names |
//! | [`shutdown`](crate::Redlock::shutdown) | [`NotDrained`] | nothing: the keys expire |
//! | [`FenceCheck::admit`](crate::fencing::FenceCheck::admit) | [`StaleToken`] | refuse the write |
//! | a [`FencingToken`](crate::FencingToken) that is read | [`InvalidToken`] | refuse the write |
//!
//! If a round was decided, the error carries what every master said.

mod acquire;
mod call;
#[cfg(feature = "config")]
mod config;
mod connect;
mod fencing;
mod hand_over;
mod inspect;
mod list;
mod ready;
mod reentrant;
mod run;
#[cfg(test)]
mod tests;

pub use acquire::{AcquireError, Contended, Disagreement, NoQuorum};
pub use call::{InvalidSetting, NoRandomness, WrongContext};
#[cfg(feature = "config")]
#[cfg_attr(docsrs, doc(cfg(feature = "config")))]
pub use config::ConfigError;
pub use connect::{ConnectError, NodeProblem, PreflightError};
pub use fencing::{InvalidToken, StaleToken};
pub use hand_over::{
    AdoptError, HeldHere, NotAdopted, NotDetached, NotDowngraded, TooLate, Unadopted,
};
pub use inspect::InspectError;
pub use list::ListError;
pub use quorumlock_core::report::LossReason;
pub use ready::{NotReady, ReadyError};
pub use reentrant::ReentrantError;
pub use run::RunError;

use crate::report::{Answer, Escaped, NodeReport, Quorum, Span};
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

/// This `Redlock` was shut down, or the runtime it was connected on is gone.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("closed: {}", CLOSED)]
#[non_exhaustive]
pub struct Closed;

const CLOSED: &str = "this Redlock was shut down, or the runtime it was connected on is gone";

/// The lock is lost for good: it can no longer be relied on. Another client may hold it now, so the
/// work done since the loss may have overlapped with that of another holder.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Lost {
    /// The resource that was locked.
    pub resource: Arc<str>,
    /// The reason.
    pub reason: LossReason,
    /// The time from the win to the loss. The loss is the deadline, or the moment when a quorum was
    /// known to be gone, which may have been some time after it went. If only the release has shown
    /// that, it is the moment when the guard was given up.
    pub held_for: Duration,
    /// Whether its deadline was the end of its keep-alive:
    /// [`max_hold`](crate::RedlockBuilder::max_hold), or
    /// [`keep_alive_for`](crate::Acquire::keep_alive_for) of the call. If a lock that is kept alive
    /// has lapsed before that, too few masters had confirmed its extensions.
    pub at_max_hold: bool,
}

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let held = Span(self.held_for);
        write!(f, "lost {:?} {held} after it was acquired: ", Escaped(&self.resource))?;
        match &self.reason {
            LossReason::Lapsed if self.at_max_hold => f.write_str("it has reached its max_hold"),
            LossReason::Lapsed => f.write_str("its deadline has passed"),
            LossReason::QuorumGone(nodes) => {
                f.write_str("a quorum no longer holds our key")?;
                list(f, nodes)
            }
            LossReason::Released => f.write_str("its guard was given up"),
            LossReason::Downgraded => f.write_str("it was downgraded, and others may read"),
            LossReason::Detached => f.write_str("it was detached, for another to adopt"),
            // `Closed`.
            _ => f.write_str(CLOSED),
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
    /// After `SCRIPT FLUSH`, the first extension, detachment or adoption may fail in this way: each master is
    /// given its scripts again at once, and the next one succeeds.
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
            "{:?} was not extended, its deadline stands: {held} of {} masters confirmed, {} needed",
            Escaped(&self.resource),
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

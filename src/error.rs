//! Errors, typed by what the caller does next.
//!
//! | from | error | next |
//! |---|---|---|
//! | [`connect`](crate::RedlockBuilder::connect) | [`ConnectError`] | mend the configuration |
//! | [`acquire`](crate::Redlock::acquire) | [`AcquireError::Contended`] | wait, or do without |
//! | | [`AcquireError::NoQuorum`] | raise an alarm, try again later; wait, where masters are warming up |
//! | | [`AcquireError::Disagreement`] | mend the configuration, or the masters' clocks |
//! | | [`AcquireError::Invalid`] | mend the call |
//! | | [`AcquireError::Closed`] | connect anew |
//! | [`check`](crate::Guard::check), [`lost`](crate::Guard::lost) | [`Lost`] | stop before the next side effect |
//! | [`extend`](crate::Guard::extend) | [`ExtendError::Lost`] | as above |
//! | | [`ExtendError::Unextended`] | try again before the deadline |
//! | [`run`](crate::Acquire::run) | [`RunError`](crate::RunError) | as of the error inside |
//! | [`Owner::acquire`](crate::Owner::acquire) | [`OwnerError`](crate::OwnerError) | as of the error inside |
//! | [`inspect`](crate::Redlock::inspect), [`force_release`](crate::Redlock::force_release) | [`InspectError`] | mend the call, or try again |
//! | [`shutdown`](crate::Redlock::shutdown) | [`NotDrained`] | nothing: the keys expire |
//!
//! Where a round was decided, the error carries what every master said; printed, it is one line.

mod connect;
mod inspect;

pub use connect::{ConnectError, Disagreement, Unfit};
pub use inspect::InspectError;

use crate::report::{Answer, NodeReport, Quorum, Reason, round};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use thiserror::Error;

/// Why there is no lock.
///
/// Whichever it is, nothing stays behind as long as the runtime lives: the attempt has been rolled back on every master it may
/// have reached, or that rollback is owed and will be made.
///
/// ```no_run
/// # async fn example(redlock: quorumlock::Redlock) {
/// use quorumlock::AcquireError;
///
/// match redlock.acquire("orders:42").await {
///     Ok(guard) => drop(guard),
///     Err(AcquireError::Contended(held)) => println!("busy for {:?} by now", held.waited),
///     Err(error) => println!("{error}"), // one line, with what every master said
/// }
/// # }
/// ```
#[derive(Debug, Clone, Error)]
#[non_exhaustive]
pub enum AcquireError {
    /// Somebody holds it: wait longer, or do without.
    #[error(transparent)]
    Contended(#[from] Contended),
    /// Too few masters could vote in time: an outage, whoever holds the lock.
    #[error(transparent)]
    NoQuorum(#[from] NoQuorum),
    /// Too few masters could vote because clients, or the masters' clocks, disagree: fix the
    /// configuration.
    #[error(transparent)]
    Disagreement(#[from] Disagreed),
    /// The call cannot succeed as it is: fix it.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// This `Redlock` was shut down, or its runtime is gone.
    #[error(transparent)]
    Closed(#[from] Closed),
}

impl AcquireError {
    /// Whether somebody else holds the lock.
    #[must_use]
    pub const fn is_contended(&self) -> bool {
        matches!(self, Self::Contended(_))
    }

    /// Whether too few masters could vote.
    #[must_use]
    pub const fn is_no_quorum(&self) -> bool {
        matches!(self, Self::NoQuorum(_))
    }

    /// What every master said to the last attempt, in the order of the configuration.
    #[must_use]
    pub fn nodes(&self) -> &[NodeReport] {
        match self {
            Self::Contended(error) => &error.nodes,
            Self::NoQuorum(error) => &error.nodes,
            Self::Disagreement(error) => &error.nodes,
            Self::Invalid(_) | Self::Closed(_) => &[],
        }
    }

    pub(crate) const fn no_randomness() -> Self {
        Self::Closed(Closed { cause: "the operating system gives no random bytes for a token" })
    }
}

/// Somebody holds the lock: a quorum of masters could have voted for us, and did not.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Contended {
    /// What was to be locked.
    pub resource: Arc<str>,
    /// From the call to the answer.
    pub waited: Duration,
    /// How many attempts were made.
    pub attempts: u32,
    /// What every master said to the last attempt.
    pub nodes: Vec<NodeReport>,
    pub(crate) quorum: Quorum,
}

/// Too few masters could vote in time for anybody to win.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct NoQuorum {
    /// What was to be locked.
    pub resource: Arc<str>,
    /// From the call to the answer.
    pub waited: Duration,
    /// How many attempts were made.
    pub attempts: u32,
    /// What every master said to the last attempt.
    pub nodes: Vec<NodeReport>,
    /// `None`: won in time, and picked up late.
    pub(crate) quorum: Option<Quorum>,
}

/// Too few masters could vote because something that all must have in common is not.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Disagreed {
    /// What was to be locked.
    pub resource: Arc<str>,
    /// From the call to the answer.
    pub waited: Duration,
    /// How many attempts were made.
    pub attempts: u32,
    /// What is not in common, on both sides.
    pub cause: Arc<str>,
    /// What every master said to the last attempt.
    pub nodes: Vec<NodeReport>,
}

impl fmt::Display for Disagreed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no quorum for \"{}\": {}", self.resource, self.cause)
    }
}

impl std::error::Error for Disagreed {}

impl NoQuorum {
    /// Whether a quorum did grant, but so late that no validity was left.
    #[must_use]
    pub fn is_too_late(&self) -> bool {
        self.quorum.is_none_or(|quorum| quorum.is_met(&self.nodes, &Answer::Granted))
    }

    /// Won, but the caller's task came to pick it up only after the deadline. What the masters
    /// said is gone with the guard.
    pub(crate) const fn picked_up_late(resource: Arc<str>, waited: Duration) -> Self {
        Self { resource, waited, attempts: 1, nodes: Vec::new(), quorum: None }
    }
}

impl fmt::Display for Contended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.nodes.is_empty() {
            let waited = humantime::format_duration(round(self.waited));
            let resource = &self.resource;
            return write!(
                f,
                "\"{resource}\" is held or waited for in this process (after {waited})"
            );
        }
        let held = |node: &&NodeReport| matches!(node.answer, Answer::Refused(Reason::Held { .. }));
        let holders = self.nodes.iter().filter(held).count();
        write!(
            f,
            "\"{}\" is held by somebody else: {} of {} masters refused, {} granted, {} needed",
            self.resource,
            holders,
            self.nodes.len(),
            granted(&self.nodes),
            self.quorum,
        )?;
        tail(f, self.waited, self.attempts, &self.nodes)
    }
}

impl fmt::Display for NoQuorum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(quorum) = self.quorum else {
            let waited = humantime::format_duration(round(self.waited));
            let resource = &self.resource;
            return write!(
                f,
                "\"{resource}\" was won, but nobody picked it up before its deadline (after {waited}): \
                 is the task that waits for it held up?"
            );
        };
        if self.is_too_late() {
            write!(f, "\"{}\" was granted too late to be of use", self.resource)?;
        } else {
            write!(
                f,
                "no quorum for \"{}\": {} of {} masters granted, {quorum} needed",
                self.resource,
                granted(&self.nodes),
                self.nodes.len(),
            )?;
        }
        tail(f, self.waited, self.attempts, &self.nodes)?;
        let warming =
            |node: &NodeReport| matches!(node.answer, Answer::Refused(Reason::WarmingUp { .. }));
        if self.nodes.iter().any(warming) {
            f.write_str(WARMING_UP)?;
        }
        Ok(())
    }
}

/// What to do about masters that have just started.
const WARMING_UP: &str = "; a master that has just started may have forgotten what it had granted: \
                          wait, or see RedlockBuilder::trust_persistence and \
                          without_restart_guard";

impl std::error::Error for Contended {}
impl std::error::Error for NoQuorum {}

fn granted(nodes: &[NodeReport]) -> usize {
    nodes.iter().filter(|node| node.answer == Answer::Granted).count()
}

fn tail(
    f: &mut fmt::Formatter<'_>,
    waited: Duration,
    attempts: u32,
    nodes: &[NodeReport],
) -> fmt::Result {
    let waited = humantime::format_duration(round(waited));
    match attempts {
        1 => write!(f, " (after {waited}, 1 attempt)")?,
        n => write!(f, " (after {waited}, {n} attempts)")?,
    }
    list(f, nodes)
}

fn list(f: &mut fmt::Formatter<'_>, nodes: &[NodeReport]) -> fmt::Result {
    f.write_str(&listed(nodes))
}

/// What every master said, to put behind a sentence.
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
    /// What is wrong with it, and what to do about it.
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

/// The lock is no longer ours to rely on, for good. Another may hold it now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lost {
    resource: Arc<str>,
    reason: LostReason,
    held_for: Duration,
}

/// Why a hold is over.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum LostReason {
    /// The deadline has passed.
    Lapsed,
    /// A quorum of masters is known not to hold our key, before the deadline: they lost their
    /// memory, or somebody took the lock away. What every master said is inside.
    QuorumGone(Vec<NodeReport>),
    /// Its guard was released, dropped or left: what a lease of it sees.
    Released,
    /// This `Redlock` was shut down, or its runtime is gone: nobody looks after the lock any more.
    Closed,
}

impl Lost {
    pub(crate) const fn new(resource: Arc<str>, reason: LostReason, held_for: Duration) -> Self {
        Self { resource, reason, held_for }
    }

    /// What was locked.
    #[must_use]
    pub fn resource(&self) -> &str {
        &self.resource
    }

    /// Why.
    #[must_use]
    pub const fn reason(&self) -> &LostReason {
        &self.reason
    }

    /// From the win to the loss: to the deadline, or to the moment when a quorum was known to be
    /// gone, which may have been some time after it went.
    #[must_use]
    pub const fn held_for(&self) -> Duration {
        self.held_for
    }
}

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let held = humantime::format_duration(round(self.held_for));
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

/// Why an extension did not move the deadline.
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

/// Too few masters confirmed an extension in time. The old deadline stands.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unextended {
    /// What is locked.
    pub resource: Arc<str>,
    /// What every master said.
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
    /// Deletions, counted once a master, that no master has confirmed.
    pub owed: usize,
}

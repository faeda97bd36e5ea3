//! The outcome of a release.

use crate::report::NodeReport;

/// The outcome of a release of a lock that was still held. There is nothing to do, whichever it is.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Released {
    /// A quorum of masters deleted our key, within its validity.
    Confirmed,
    /// The lock stays in this process, as [`keep_warm`](crate::Acquire::keep_warm) asks, and no master was asked.
    KeptWarm,
    /// Too few masters confirmed in time, and nothing indicates that the lock was lost. The
    /// remaining deletions are retried in the background, and the keys expire with their ttl in any
    /// case. Contains what every master said. It is empty if the `Redlock` ended before the answer.
    Unconfirmed(Vec<NodeReport>),
}

//! The outcome of a release.

use crate::error::LostReason;
use crate::report::NodeReport;

/// The outcome of a release.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Released {
    /// A quorum of masters deleted our key, within its validity.
    Released,
    /// The lock had already been lost: the work done since then may have overlapped with that of
    /// another holder. The reason is [`LostReason::QuorumGone`] if the loss only shows now: so many
    /// masters no longer had our key that they left no quorum, though its time was not over.
    Lost(LostReason),
    /// No quorum confirmed in time, and nothing indicates that the lock was lost. The remaining
    /// deletions are owed and retried in the background; at worst the keys expire with their ttl.
    /// Contains what every master said. It is empty if the `Redlock` had been shut down before.
    Unconfirmed(Vec<NodeReport>),
}

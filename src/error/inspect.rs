//! What goes wrong when somebody looks at a lock, or takes it away from its holder.

use super::{Closed, Invalid};
use crate::report::NodeReport;
use thiserror::Error;

/// Why a lock was not inspected, or not taken away from its holder.
#[derive(Debug, Clone, Error)]
#[non_exhaustive]
pub enum InspectError {
    /// The call cannot succeed as it is: fix it.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// No quorum of masters has confirmed in time that the holder's key is gone. What every master
    /// said is inside.
    #[error("not confirmed by a quorum{}", super::listed(.0))]
    Unconfirmed(Vec<NodeReport>),
    /// This `Redlock` was shut down, or its runtime is gone.
    #[error(transparent)]
    Closed(#[from] Closed),
}

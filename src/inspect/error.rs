//! The errors of inspecting a lock, or of taking it away from its holder.

use super::Inspection;
use crate::failure::{Closed, InvalidSetting, WrongContext, listed};
use crate::report::NodeReport;
use thiserror::Error;

/// The reason why a lock was not inspected, or not taken away from its holder.
#[derive(Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum InspectError {
    /// The call cannot succeed as it is: fix it.
    #[error(transparent)]
    InvalidSetting(#[from] InvalidSetting),
    /// The call cannot succeed in this context: make it in another.
    #[error(transparent)]
    WrongContext(#[from] WrongContext),
    /// Too few masters confirmed in time that the holder's key is gone. Contains what every
    /// master said.
    #[error("no quorum has confirmed the forced release{}", listed(.0))]
    Unconfirmed(Vec<NodeReport>),
    /// Too few masters name the same leader, or say that there is none: masters are down or warming
    /// up, or the leader is just changing. Contains what every master said.
    #[error("{0}")]
    Unclear(Box<Inspection>),
    /// This `Redlock` was shut down, or its runtime is gone.
    #[error(transparent)]
    Closed(#[from] Closed),
}

debug_is_display!(InspectError);

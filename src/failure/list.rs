//! The errors of listing locks.

use super::connect::folded;
use super::{Closed, InvalidSetting, NodeProblem, WrongContext, behind};
use crate::report::Folded;
use thiserror::Error;

/// The reason why a list of locks ended early, or is incomplete. Masters that are down are no
/// error as long as the others are enough.
#[derive(Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ListError {
    /// The call cannot succeed as it is: fix it.
    #[error(transparent)]
    InvalidSetting(#[from] InvalidSetting),
    /// The call cannot succeed in this context: make it in another.
    #[error(transparent)]
    WrongContext(#[from] WrongContext),
    /// Too few masters could be scanned, or may vote: locks may be held that were not listed.
    /// Contains each master that could not be used, and what to do about it.
    #[error("the list may lack locks, too few masters can be scanned{}", listed(.0))]
    Incomplete(Vec<NodeProblem>),
    /// The runtime that the list was made on is gone.
    #[error(transparent)]
    Closed(#[from] Closed),
}

fn listed(nodes: &[NodeProblem]) -> String {
    behind(folded(nodes).iter().map(Folded::to_string))
}

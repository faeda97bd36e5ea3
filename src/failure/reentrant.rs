//! The error of a nested acquisition.

use super::{AcquireError, Lost};
use thiserror::Error;

/// The reason why a re-entrant handle has no guard.
#[derive(Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ReentrantError {
    /// The handle did not hold it, and could not acquire it.
    #[error(transparent)]
    NotAcquired(#[from] AcquireError),
    /// The handle's hold is lost: work under it must not continue, through any of its guards.
    #[error(transparent)]
    Lost(#[from] Lost),
}

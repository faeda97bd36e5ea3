//! The error of giving a lock away.

use super::Guard;
use crate::failure::ExtendError;
use thiserror::Error;

/// A guard that was not detached, and gave nothing away.
///
/// Turned into a `Box<dyn Error>` by `?`, it keeps the guard with it. Take the
/// [`guard`](Self::guard) out to go on with it; dropped, it releases.
#[derive(Error)]
#[error("not detached: {error}")]
#[non_exhaustive]
pub struct DetachError<G = Guard> {
    /// The guard, as it was before, unless the lock is lost.
    pub guard: G,
    /// The reason.
    #[source]
    pub error: ExtendError,
}

debug_is_display!({ G } DetachError<G>);

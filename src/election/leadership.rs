//! The guard of a candidate that leads.

use crate::failure::Lost;
use crate::fencing::FencingToken;
use crate::guard::{FencedGuard, FencedLease};
use crate::released::Released;
use std::ops::Deref;

/// A leadership, until it is [resigned](Self::resign), dropped or lost. It has all methods of a
/// [`Lease`](crate::Lease): [`check`](crate::Lease::check) before each side effect, and
/// [`lost`](crate::Lease::lost) during long work.
///
/// Dropping it resigns in the background.
#[must_use = "a leadership that is dropped is resigned: bind it to a name"]
#[derive(Debug)]
pub struct Leadership {
    pub(super) guard: FencedGuard,
}

impl Leadership {
    /// Returns its term: greater than that of every earlier leader of this election. Send it along
    /// with every write, as the [fencing token](crate::Lease::fencing_token) that it is.
    #[must_use]
    pub fn term(&self) -> FencingToken {
        self.guard.fencing_token()
    }

    /// Returns a read-only view of it for subtasks.
    #[must_use]
    pub fn lease(&self) -> FencedLease {
        self.guard.lease()
    }

    /// Lets another candidate lead. Returns when a quorum has deleted the key, or after the
    /// operation timeout; the rest follows in the background.
    ///
    /// # Errors
    ///
    /// [`Lost`] if the leadership had been lost before.
    ///
    /// # Cancel safety
    ///
    /// Safe: it is resigned whether or not you wait for it.
    pub async fn resign(self) -> Result<Released, Lost> {
        self.guard.release().await
    }
}

impl Deref for Leadership {
    type Target = FencedLease;

    fn deref(&self) -> &FencedLease {
        &self.guard
    }
}

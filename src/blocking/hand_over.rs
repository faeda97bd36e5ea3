//! An adoption for code without `async`.

use super::guard::Guard;
use super::wait;
use crate::adopt::AdoptError;
use crate::kind::{Kind, Unfenced};
use std::future::IntoFuture;
use std::time::Duration;

/// A pending adoption: set options, then call [`lock`](Self::lock).
///
/// ```no_run
/// # fn example(
/// #     redlock: quorumlock::blocking::Redlock, detached: quorumlock::Detached,
/// # ) -> Result<(), Box<dyn std::error::Error>> {
/// let guard = redlock.adopt(detached).keep_alive().lock()?;
/// # drop(guard);
/// # Ok(()) }
/// ```
///
/// Its options and guarantees are those of [`quorumlock::Adopt`](crate::Adopt).
#[must_use = "an adoption that is dropped releases the lock: call `lock`"]
#[derive(Debug)]
pub struct Adopt<K: Kind = Unfenced> {
    inner: crate::Adopt<K>,
}

impl<K: Kind> Adopt<K> {
    pub(super) const fn new(inner: crate::Adopt<K>) -> Self {
        Self { inner }
    }

    /// Extends the lock in the background from now on. See
    /// [`Adopt::keep_alive`](crate::Adopt::keep_alive).
    pub fn keep_alive(mut self) -> Self {
        self.inner = self.inner.keep_alive();
        self
    }

    /// Same as [`keep_alive`](Self::keep_alive), for at most this long.
    pub fn keep_alive_for(mut self, span: Duration) -> Self {
        self.inner = self.inner.keep_alive_for(span);
        self
    }

    /// Same as [`keep_alive`](Self::keep_alive), without an end.
    pub fn keep_alive_forever(mut self) -> Self {
        self.inner = self.inner.keep_alive_forever();
        self
    }

    /// Adopts the lock. Blocks at most for the operation timeout.
    ///
    /// # Errors
    ///
    /// Those of [`quorumlock::Adopt`](crate::Adopt); each has the value, and none deletes the keys.
    pub fn lock(self) -> Result<Guard<K>, AdoptError<K>> {
        wait::until(self.inner.into_future()).map(Guard::new)
    }
}

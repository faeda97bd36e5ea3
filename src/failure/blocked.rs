//! The details of an acquire's error in addition to its obstacle: the other resources in the way, and those held
//! by the client itself.

use super::Contended;
use crate::report::Obstacle;
use std::sync::Arc;

/// Behind a pointer, since nearly every error has none of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Blocked {
    resources: Vec<(Arc<str>, Obstacle)>,
    held: Vec<Arc<str>>,
}

impl Blocked {
    /// `held`: the resources this client held for the whole wait, if a deadlock is possible.
    pub(crate) fn of(
        resources: Vec<(Arc<str>, Obstacle)>,
        held: Vec<Arc<str>>,
    ) -> Option<Box<Self>> {
        let is_empty = resources.is_empty() && held.is_empty();
        (!is_empty).then(|| Self { resources, held }.into())
    }
}

impl Contended {
    /// Returns, of several resources that were to be locked together, each that was in the way, with its
    /// obstacle, as far as that is known. Empty for one resource.
    pub fn blocked(&self) -> &[(Arc<str>, Obstacle)] {
        self.blocked.as_ref().map_or(&[], |blocked| &blocked.resources)
    }

    /// Returns what this client held for the whole time in which the failed acquire waited. That alone is no
    /// sign of a deadlock: the guards may belong to other tasks than the waiting one, and the error does not
    /// say which lock the holder awaited. The masters show whether clients wait for each other in a circle:
    /// [`PossibleDeadlock::among`](crate::PossibleDeadlock::among).
    ///
    /// Empty if this client held nothing else, or did not wait
    /// ([`try_acquire`](crate::Redlock::try_acquire)); for a permit, which any of its holders can give back,
    /// and behind other callers of this client. Empty as well if it held more than eight locks, most of
    /// which have nothing to do with the contended lock.
    ///
    /// ```
    /// # #[cfg(feature = "embedded")]
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use quorumlock::AcquireError;
    /// use std::time::Duration;
    ///
    /// # let masters = quorumlock::embedded::Masters::start_in_memory(3)?;
    /// # let [redlock, other] = [masters.builder().connect().await?, masters.builder().connect().await?];
    /// let _theirs = other.acquire("account:2").await?; // and it waits for account:1
    /// let _ours = redlock.acquire("account:1").await?;
    /// match redlock.acquire("account:2").timeout(Duration::from_millis(50)).await {
    ///     Err(AcquireError::Contended(error)) => {
    ///         assert_eq!(&*error.held_meanwhile()[0], "account:1");
    ///     }
    ///     other => panic!("{other:?}"),
    /// }
    /// # Ok(()) }
    /// # #[cfg(not(feature = "embedded"))]
    /// # fn main() {}
    /// ```
    pub fn held_meanwhile(&self) -> &[Arc<str>] {
        self.blocked.as_ref().map_or(&[], |blocked| &blocked.held)
    }
}

//! What an error of an acquire has in addition to its obstacle: the other resources that were in the way, and what
//! the client held itself.

use super::Contended;
use crate::report::{Escaped, Obstacle};
use std::fmt;
use std::sync::Arc;

/// Behind a pointer, since nearly every error has none of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Blocked {
    resources: Vec<(Arc<str>, Obstacle)>,
    held: Vec<Arc<str>>,
}

impl Blocked {
    /// `held`: what this client held for the whole wait, if a deadlock is possible.
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

    /// Returns what this client held for the whole time in which the acquire waited in vain. If the holder
    /// that is in the way waited for one of these, directly or by way of others, it was a deadlock. That is
    /// possible, and never certain: the guards may belong to other tasks of this client than the one that
    /// waited, and nothing tells for what other clients wait.
    ///
    /// Empty if a deadlock by way of this client is not possible: it held nothing else, or did not wait
    /// ([`try_acquire`](crate::Redlock::try_acquire)). Empty as well if it held more than eight locks, of
    /// which most have nothing to do with the one that was waited for.
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

    /// Writes that it may have been a deadlock, if it may.
    pub(super) fn fmt_deadlock(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let held = self.held_meanwhile();
        for (place, resource) in held.iter().enumerate() {
            let before = if place == 0 { ", possibly a deadlock: this client held " } else { ", " };
            write!(f, "{before}{:?}", Escaped(resource))?;
        }
        f.write_str(if held.is_empty() { "" } else { " meanwhile" })
    }
}

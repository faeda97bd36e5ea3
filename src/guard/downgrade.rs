//! A writer that becomes a reader.

use super::{Guard, Lease};
use crate::failure::ExtendError;
use crate::kind::{Kind, Reading, Writing};
use std::sync::Arc;
use thiserror::Error;

impl<K: Kind> Guard<Writing<K>> {
    /// Becomes a reader, without a moment in between in which a writer could get in. Waiting
    /// readers in all processes are notified.
    ///
    /// It is an extension in which each master makes this holder a reader: a won one moves the
    /// deadline to a full ttl from now, within the limits of the
    /// [`keep_alive`](crate::Acquire::keep_alive), which goes on. Leases of the old guard end with
    /// this call and report [`LossReason::Downgraded`](crate::error::LossReason::Downgraded), so that no
    /// subtask goes on writing while others read. The guard that comes back has new ones.
    ///
    /// From the moment at which a master may have heard of it, the lock is a reader's. So it is
    /// `Ok`, too, if too few masters have confirmed in time and some may have done it: the guard is
    /// then a reader's until the old deadline, and its next extension makes up for the rest.
    ///
    /// # Errors
    ///
    /// [`DowngradeError`], with this guard and an [`ExtendError`]. If the lock is lost, so is the
    /// guard. If no master can have done it, the guard is a writer's as before: the masters' user may
    /// lack the rights that readers need.
    ///
    /// ```no_run
    /// # async fn example(write: quorumlock::WriteGuard) -> Result<(), Box<dyn std::error::Error>> {
    /// match write.downgrade().await {
    ///     Ok(read) => println!("a reader for {:?}", read.remaining()),
    ///     Err(refused) => {
    ///         refused.guard.check()?; // a writer still, unless the lock is lost
    ///         println!("{}", refused.error);
    ///     }
    /// }
    /// # Ok(()) }
    /// ```
    ///
    /// # Cancel safety
    ///
    /// If dropped, it releases the lock, as a guard does.
    pub async fn downgrade(mut self) -> Result<Guard<Reading>, DowngradeError<Self>> {
        let Lease { driver, hold, .. } = &self.lease;
        let to = Arc::new(hold.successor());
        let mut reader = Guard::<Reading>::new(driver.clone(), to.clone(), None, None);
        // This one has nothing to release any more: the other does that from now on.
        hold.parted.take();
        let error = match driver.hand_on(hold.clone(), to).await {
            Ok(Ok(_)) => return Ok(reader),
            Ok(Err(error)) => error,
            // The hold is over: it was lost in the meantime, or the driver has ended.
            Err(_) => {
                if driver.is_here() {
                    hold.lost_with(&reader.lease.hold, || driver.now()).await;
                }
                ExtendError::Lost(reader.lost().await)
            }
        };
        std::mem::swap(&mut self.lease.hold, &mut reader.lease.hold);
        Err(DowngradeError { guard: self, error })
    }
}

/// The guard of a writer that was not downgraded: other readers were not let in.
///
/// Turned into a `Box<dyn Error>` by `?`, it keeps the guard with it. Take the
/// [`guard`](Self::guard) out to go on as a writer; dropped, it releases.
#[derive(Error)]
#[error("not downgraded: {error}")]
#[non_exhaustive]
pub struct DowngradeError<G = Guard<Writing>> {
    /// The guard, as it was before, unless the lock is lost.
    pub guard: G,
    /// The reason.
    #[source]
    pub error: ExtendError,
}

debug_is_display!({ G } DowngradeError<G>);

//! The end of a hold that its process may want again.

use super::Guard;
use crate::failure::Lost;
use crate::kind::Kind;
use crate::released::Released;
use tokio::sync::oneshot;

impl<K: Kind> Guard<K> {
    /// Gives the lock back without waiting for anything: what dropping the guard does, unless the thread
    /// panics. A lock that is [kept warm](crate::Acquire::keep_warm) stays idle in this process, for its next
    /// acquire here. Any other is released in the background.
    ///
    /// This guard and its leases are over when this returns. If the lock had been lost before, nothing
    /// reports it: [`check`](crate::Lease::check) does, and so does [`release`](Self::release).
    ///
    /// ```no_run
    /// # use std::time::Duration;
    /// # async fn example(redlock: quorumlock::Redlock) -> Result<(), Box<dyn std::error::Error>> {
    /// let keep_warm = Duration::from_secs(2);
    /// for _ in 0..1_000 {
    ///     let guard = redlock.acquire("partition:7").keep_warm(keep_warm).await?;
    ///     guard.check()?; // before a side effect
    ///     guard.give_back(); // the next turn of this loop asks no master
    /// }
    /// # Ok(()) }
    /// ```
    pub fn give_back(self) {
        self.lease.driver.give_back(&self.lease.hold);
    }

    /// Releases a lock whose work has ended well, or gives it back if it is kept warm.
    pub(crate) async fn give_back_after_work(self) -> Result<Released, Lost> {
        let (reply, answer) = oneshot::channel();
        self.lease.driver.give_back_after_work(&self.lease.hold, reply);
        self.end_release(answer).await
    }

    /// Releases the lock, kept warm or not, unless the guard is given up.
    pub(crate) fn release_in_background(&self) {
        self.lease.driver.release(&self.lease.hold, None);
    }
}

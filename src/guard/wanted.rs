//! A guard's view of other clients that ask for its lock.

use super::Lease;
use crate::kind::Kind;

impl<K: Kind> Lease<K> {
    /// Returns whether another client waits for this lock, and has asked for it. Once `true`, always `true`.
    /// See [`wanted`](Self::wanted).
    ///
    /// ```no_run
    /// # fn next_job() -> Option<u32> { None }
    /// # fn example(guard: quorumlock::Guard) -> Result<(), quorumlock::Lost> {
    /// while let Some(_job) = next_job() {
    ///     guard.check()?; // before a side effect
    ///     // the job
    ///     if guard.is_wanted() {
    ///         break; // the rest of them later: others have their turn
    ///     }
    /// }
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn is_wanted(&self) -> bool {
        self.driver.claim(&self.hold);
        self.hold.is_wanted()
    }

    /// Completes when another client waits for this lock, and has asked for it: end the work where that suits
    /// you, and release the lock, or go on. It also completes when the lock is over, and at once if either is
    /// so: [`is_wanted`](Self::is_wanted) and [`check`](Self::check) say which.
    ///
    /// An acquire that was refused, and that waits, asks the process of the holder, and again after a second. A message
    /// can be lost, and forged by any client that may publish on the masters: it is a hint, and the lock does not depend
    /// on it. It does not come with
    /// [`wake_ups(false)`](crate::RedlockBuilder::wake_ups) on either side, nor for a lock that was adopted
    /// from another process.
    ///
    /// ```no_run
    /// # async fn work() {}
    /// # async fn example(guard: quorumlock::Guard) -> Result<(), quorumlock::Lost> {
    /// loop {
    ///     tokio::select! {
    ///         () = guard.wanted() => break,
    ///         () = work() => {
    ///             guard.check()?;
    ///         }
    ///     }
    /// }
    /// # Ok(()) }
    /// ```
    ///
    /// # Cancel safety
    ///
    /// Safe: it only watches. Works on any executor.
    pub async fn wanted(&self) {
        self.driver.claim(&self.hold);
        if self.driver.is_here() {
            self.hold.wanted().await;
        }
    }
}

//! The standing of the masters, and whether locks can be acquired.

use crate::failure::{Closed, ReadyError};
use crate::redlock::Redlock;
use std::time::Duration;

pub use quorumlock_core::status::{NodeStanding, NodeStatus, Status};

impl Redlock {
    /// Reports the standing of each master with this client, and whether a quorum of them may vote.
    /// Masters are not asked: it is what the client relies on anyway, as of now.
    ///
    /// A readiness probe that only needs a yes or a no can use [`Status::can_acquire`]. To wait
    /// until the answer is yes, use [`wait_until_ready`](Self::wait_until_ready).
    ///
    /// ```no_run
    /// # async fn example(redlock: quorumlock::Redlock) -> Result<(), quorumlock::Closed> {
    /// let status = redlock.status().await?;
    /// if !status.can_acquire() {
    ///     eprintln!("{status}");
    /// }
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Closed`] after a shutdown.
    ///
    /// # Cancel safety
    ///
    /// Safe: it changes nothing.
    pub async fn status(&self) -> Result<Status, Closed> {
        let status = self.driver().look(|machine, now| machine.masters().status(now));
        self.driver().answer(status).await
    }

    /// Waits until a quorum of each list may vote, for at most `within`. Intended for the start of
    /// a process, before it reports that it is ready. Completes at once if a quorum may vote
    /// already. Masters are not asked; the wait is notified when a master has been reached or has
    /// warmed up.
    ///
    /// The limit is an argument, so that it is not forgotten and the error can name the masters
    /// that were missing; zero looks once. A future that [`tokio::time::timeout`] drops reports
    /// less.
    ///
    /// An `Ok` describes a moment ago, and is not a promise: an acquire itself reports whether
    /// masters answer.
    ///
    /// ```no_run
    /// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
    /// use quorumlock::Redlock;
    /// use std::time::Duration;
    ///
    /// let nodes = ["redis://10.0.0.1", "redis://10.0.0.2", "redis://10.0.0.3"];
    /// let redlock = Redlock::builder().nodes(nodes).connect().await?;
    /// // Masters that have just started vote after 31 s.
    /// redlock.wait_until_ready(Duration::from_secs(60)).await?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// - [`ReadyError::NotReady`]: not within that time; it has the [`Status`].
    /// - [`ReadyError::Closed`]: shut down before or in the meantime.
    ///
    /// # Cancel safety
    ///
    /// Safe: it changes nothing.
    pub async fn wait_until_ready(&self, within: Duration) -> Result<(), ReadyError> {
        Ok(self.driver().answer(self.driver().ready(within)).await??)
    }
}

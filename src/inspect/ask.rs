//! Asking the holder that an inspection has found.

use super::{Holder, InspectError, Inspection};
use crate::redlock::Redlock;
use quorumlock_core::coordinator::{Event, Mark};

impl Redlock {
    /// Asks the process of the holder that `inspection` found to give the lock back, as an acquire does that
    /// waits: a lock that is [kept warm](crate::Acquire::keep_warm) there and idle is released, and a guard
    /// reports that it is [wanted](crate::Lease::wanted). Of a lock that is read, all readers are asked.
    ///
    /// Returns the number of processes that have the message. Zero is no error: there may be no holder, it may be
    /// another kind of client, its process may not listen, or the master for these messages has not answered
    /// within the operation timeout. Whether the holder gives way is up to its work; inspect again.
    ///
    /// ```no_run
    /// # async fn example(redlock: quorumlock::Redlock) -> Result<(), quorumlock::InspectError> {
    /// let inspection = redlock.inspect("orders:42").await?;
    /// if redlock.ask(&inspection).await? == 0 {
    ///     println!("its holder cannot be asked");
    /// }
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// [`InspectError::Closed`] after a shutdown.
    ///
    /// # Cancel safety
    ///
    /// Safe: once polled, the messages are on their way.
    pub async fn ask(&self, inspection: &Inspection) -> Result<usize, InspectError> {
        let all = inspection.holder().into_iter().flat_map(Holder::with_readers);
        let holders: Vec<Mark> = all.map(|holder| holder.value.clone()).collect();
        let channel = inspection.channel(self.options());
        let key = inspection.key.clone();
        let asked = self.driver().ask(move |machine, now, request| {
            machine.handle_ask(now, request, (&key, &channel), &holders);
        });
        let Event::Asked { heard, .. } = self.driver().answer(asked).await? else { return Ok(0) };
        Ok(usize::try_from(heard).unwrap_or(usize::MAX))
    }
}

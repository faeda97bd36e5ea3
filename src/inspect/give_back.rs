//! Asking the holder that an inspection has found to give the lock back, or taking it away.

use super::{Holder, InspectError, Inspection, LockState};
use crate::failure::{Closed, InvalidSetting};
use crate::options::readers_key;
use crate::redlock::Redlock;
use crate::report::NodeReport;
use quorumlock_core::coordinator::{Event, Mark, Question};
use std::slice;

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
        let channel = inspection.channel(&self.setup.options);
        let key = inspection.key.clone();
        let asked = self.driver.ask(move |machine, now, request| {
            machine.handle_ask(now, request, (&key, &channel), &holders);
        });
        let Event::Asked { heard, .. } = self.driver.answer(asked).await? else { return Ok(0) };
        Ok(usize::try_from(heard).unwrap_or(usize::MAX))
    }

    /// Takes the lock away from the holder that `inspection` found, and from no other: that
    /// holder's key is deleted, compared by its token, on every master. Of a lock that is read, all
    /// readers that `inspection` found are removed, and the answer is what the masters said of the
    /// last; see [`force_release_reader`](Self::force_release_reader). The holder usually learns
    /// of it at its next extension, and at the latest at its deadline: **until then it continues to
    /// believe that it holds the lock**, and so does the next guard of a process that keeps it
    /// [warm](crate::Acquire::keep_warm): [`ask`](Self::ask) such a one first. Use this for a holder that is
    /// known to be dead, or that writes with a fencing token.
    ///
    /// `Ok` means that a quorum of masters no longer had that holder's key, and contains what every
    /// master said. A command of the holder that was still in flight to a master may bring the key
    /// back on that master. If a master was not reached, inspect again.
    ///
    /// ```no_run
    /// # async fn example(redlock: quorumlock::Redlock) -> Result<(), quorumlock::InspectError> {
    /// let inspection = redlock.inspect("orders:42").await?;
    /// redlock.force_release(&inspection).await?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// - [`InspectError::InvalidSetting`]: the inspection found no holder, or none by its token.
    /// - [`InspectError::Unconfirmed`]: a quorum did not answer in time. Masters that were reached
    ///   have deleted the key; try again.
    /// - [`InspectError::Closed`]: after a shutdown.
    ///
    /// # Cancel safety
    ///
    /// Once polled, it continues even if this future is dropped.
    pub async fn force_release(
        &self,
        inspection: &Inspection,
    ) -> Result<Vec<NodeReport>, InspectError> {
        let LockState::Held(holder) = &inspection.state else {
            let problem = format!("{} was not held: inspect it again", inspection.named());
            return Err(InvalidSetting::new("inspection", problem).into());
        };
        match holder.is_shared() {
            true => self.take_away(inspection, true, holder.readers()).await,
            false => self.take_away(inspection, false, slice::from_ref(holder)).await,
        }
    }

    /// Takes the lock away from one reader that `inspection` found, and from no other. Others go on
    /// to read. As with [`force_release`](Self::force_release), that reader continues to believe that
    /// it holds the lock until its next extension, or its deadline.
    ///
    /// ```no_run
    /// # async fn example(redlock: quorumlock::Redlock) -> Result<(), quorumlock::InspectError> {
    /// let inspection = redlock.inspect("table:7").await?;
    /// let readers = inspection.holder().map(|holder| holder.readers()).unwrap_or_default();
    /// if let Some(dead) = readers.iter().find(|reader| reader.label() == Some("worker-7")) {
    ///     redlock.force_release_reader(&inspection, dead).await?;
    /// }
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// - [`InspectError::Unconfirmed`]: too few masters answered in time; try again.
    /// - [`InspectError::Closed`]: after a shutdown.
    ///
    /// # Cancel safety
    ///
    /// Once polled, it continues even if this future is dropped.
    pub async fn force_release_reader(
        &self,
        inspection: &Inspection,
        reader: &Holder,
    ) -> Result<Vec<NodeReport>, InspectError> {
        self.take_away(inspection, true, slice::from_ref(reader)).await
    }

    /// Takes the lock away from these holders, which `are_readers` or not, all at once, and returns the answers about
    /// the last.
    async fn take_away(
        &self,
        inspection: &Inspection,
        are_readers: bool,
        holders: &[Holder],
    ) -> Result<Vec<NodeReport>, InspectError> {
        if holders.is_empty() {
            let problem =
                format!("the readers of {} are not known: inspect it", inspection.named());
            return Err(InvalidSetting::new("inspection", problem).into());
        }
        let readers = are_readers.then(|| readers_key(&inspection.key, &inspection.resource));
        let take_away = |holder: &Holder| {
            let (key, readers) = (inspection.key.clone(), readers.clone());
            let value = holder.value.clone();
            self.driver.ask(move |machine, now, request| {
                let question = Question::force_release(request, &key, readers.as_deref(), value);
                machine.handle_question(now, question);
            })
        };
        let answers: Vec<_> = holders.iter().map(take_away).collect();
        let mut reports = Vec::new();
        for answer in answers {
            let Event::ForceReleased { result, .. } = self.driver.answer(answer).await? else {
                return Err(Closed::ENDED.into());
            };
            reports = result.map_err(InspectError::Unconfirmed)?;
        }
        Ok(reports)
    }
}

//! Which of the locks that are listed the client itself holds.

use super::ListedLock;
use crate::driver::WeakHandle;
use crate::failure::Closed;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;

/// The client that lists; `None` once it has not answered in time.
pub(super) struct Lister(Option<WeakHandle>);

impl Lister {
    pub(super) const fn new(client: WeakHandle) -> Self {
        Self(Some(client))
    }

    /// Fails in a fork of the client's process.
    pub(super) fn here(&self) -> Result<(), Closed> {
        self.0.as_ref().map_or(Ok(()), WeakHandle::here)
    }

    /// Marks the locks that this client holds. Its runtime may not run, and then no more is asked.
    pub(super) async fn mark(&mut self, locks: &mut [ListedLock], patience: Duration) {
        let Some(client) = &self.0 else { return };
        let keys: Vec<Arc<str>> = locks.iter().map(|lock| lock.inspection.key().into()).collect();
        match timeout(patience, client.own(keys)).await {
            Ok(own) => {
                locks.iter_mut().enumerate().for_each(|(place, lock)| lock.learn(&own, place));
            }
            Err(_) => self.0 = None,
        }
    }
}

//! What holds a write on its way, and what wakes it.

use super::{StoreError, StoreResult};
use crate::FencingToken;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Wake;
use tokio::sync::{Notify, oneshot};

/// An update appends its value as a digit.
const DIGIT: u64 = 16;

/// One write of one holder, as the probe orders it.
#[derive(Debug)]
pub struct Attempt {
    /// The holder's token.
    pub token: FencingToken,
    /// What to write: 1 to 13, and no other write of the play has it.
    pub value: u64,
    pub(super) gate: Arc<Gate>,
}

impl Attempt {
    /// Returns what an update writes back that has read `stored`: that, with the value appended as
    /// one hexadecimal digit. So what is stored in the end shows each update that is in it, and
    /// their order. It is below 2^53.
    #[must_use]
    pub const fn applied_to(&self, stored: u64) -> u64 {
        stored * DIGIT + self.value
    }

    /// Waits at a point on the write's way, until the schedule lets it go on. `place` names the
    /// point in the report.
    ///
    /// # Errors
    ///
    /// [`StoreError::Failed`], in some plays of [`Case::Rollback`](super::Case::Rollback): handle
    /// it as an error of the store, so that the write is rolled back.
    ///
    /// # Cancel safety
    ///
    /// The probe itself drops a write that waits here, as if its process had ended.
    pub async fn pass(&self, place: &'static str) -> StoreResult {
        let (open, opened) = oneshot::channel();
        *self.gate.place() = Some((place, open));
        // The write may be in a task of its own, and its arrival is the end of a step.
        self.gate.stirred.notify_one();
        match opened.await {
            Ok(false) => Err(StoreError::Failed(format!("the probe fails it at \"{place}\""))),
            _ => Ok(()),
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct Gate {
    /// The point at which the write waits, until it hears whether it passes.
    place: Mutex<Option<(&'static str, oneshot::Sender<bool>)>>,
    /// Notified when the write can take a step.
    pub(super) stirred: Notify,
}

impl Gate {
    pub(super) fn place(&self) -> MutexGuard<'_, Option<(&'static str, oneshot::Sender<bool>)>> {
        self.place.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets a write pass the point at which it waits, or fail there. Returns whether it was at one.
    pub(super) fn open(&self, passes: bool) -> bool {
        self.place().take().is_some_and(|(_, open)| open.send(passes).is_ok())
    }
}

impl Wake for Gate {
    fn wake(self: Arc<Self>) {
        self.stirred.notify_one();
    }
}

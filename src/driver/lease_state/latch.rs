//! A latch for what is done once, by the first side that comes. A guard that is on its way is
//! picked up by its caller, or taken back by the driver. A guard also goes only once.

// From std here, and from loom where `proof/loom` tries every order of events on this file.
use super::atomic::{AtomicBool, Ordering};

#[derive(Debug, Default)]
pub(crate) struct Latch(AtomicBool);

impl Latch {
    /// Returns `true` once, to the first caller.
    pub(crate) fn take(&self) -> bool {
        !self.0.swap(true, Ordering::AcqRel)
    }

    pub(crate) fn is_taken(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

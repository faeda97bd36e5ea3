//! A latch for what is done once, by the first side that comes. A guard that is on its way is
//! picked up by its caller, or taken back by the driver. A guard also goes only once.

// From std here, and from loom where `proof/loom` tries every order of events on this file.
use super::atomic::{AtomicBool, Ordering};

#[derive(Debug)]
pub(super) struct Latch(AtomicBool);

impl Latch {
    pub(super) fn new() -> Self {
        Self(AtomicBool::new(false))
    }

    /// Returns `true` once, to the first caller.
    pub(super) fn take(&self) -> bool {
        !self.0.swap(true, Ordering::AcqRel)
    }

    pub(super) fn is_taken(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

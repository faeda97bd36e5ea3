//! What is done once, by whoever comes first: a guard that is on its way is picked up by its caller, or
//! taken back by the driver; and it goes.

// Of std here, and of loom where `proof/loom` tries every order of events on this file.
use super::atomic::{AtomicBool, Ordering};

#[derive(Debug)]
pub(super) struct Latch(AtomicBool);

impl Latch {
    pub(super) fn new() -> Self {
        Self(AtomicBool::new(false))
    }

    /// `true` once, for whoever comes first.
    pub(super) fn take(&self) -> bool {
        !self.0.swap(true, Ordering::AcqRel)
    }
}

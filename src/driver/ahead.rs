//! How many are ahead of an acquire, for its caller to look at while it waits.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// One more than there are, and zero if that is not known. The driver sets it, and the caller reads it.
#[derive(Clone, Default)]
pub(crate) struct Ahead(Arc<AtomicUsize>);

impl Ahead {
    pub(super) fn set(&self, ahead: Option<usize>) {
        self.0.store(ahead.map_or(0, |ahead| ahead.saturating_add(1)), Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> Option<usize> {
        self.0.load(Ordering::Relaxed).checked_sub(1)
    }
}

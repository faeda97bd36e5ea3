//! How many are ahead of an acquire, for its caller to look at while it waits.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The value for `None`: lists are never that long.
const UNKNOWN: usize = usize::MAX;

/// The driver sets it, and the caller reads it.
#[derive(Clone)]
pub(crate) struct Ahead(Arc<AtomicUsize>);

impl Ahead {
    pub(super) fn set(&self, ahead: Option<usize>) {
        self.0.store(ahead.unwrap_or(UNKNOWN), Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> Option<usize> {
        Some(self.0.load(Ordering::Relaxed)).filter(|ahead| *ahead != UNKNOWN)
    }
}

impl Default for Ahead {
    fn default() -> Self {
        Self(Arc::new(AtomicUsize::new(UNKNOWN)))
    }
}

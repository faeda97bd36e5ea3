//! A bank for tests: as slow as the test wants, and it counts.

use super::shop::{Payments, Receipt};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

pub(crate) struct Bank {
    takes: Duration,
    begun: AtomicUsize,
    charged: AtomicUsize,
}

impl Bank {
    pub(crate) const fn new(takes: Duration) -> Self {
        Self { takes, begun: AtomicUsize::new(0), charged: AtomicUsize::new(0) }
    }

    /// Returns how many charges were begun.
    pub(crate) fn begun(&self) -> usize {
        self.begun.load(SeqCst)
    }

    /// Returns how many charges were completed.
    pub(crate) fn charged(&self) -> usize {
        self.charged.load(SeqCst)
    }
}

impl Payments for Arc<Bank> {
    async fn charge(&self, order: &str) -> Receipt {
        self.begun.fetch_add(1, SeqCst);
        tokio::time::sleep(self.takes).await;
        let number = self.charged.fetch_add(1, SeqCst);
        Receipt::new(format!("{order}/{number}"))
    }
}

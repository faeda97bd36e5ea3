//! The application: a shop that runs as many processes and charges each order once.

use quorumlock::fencing::FenceCheck;
use quorumlock::{AcquireError, FencedLease, FencingToken, Lost, Redlock, RunError, StaleToken};
use std::collections::HashMap;
use std::future::Future;
use std::sync::Mutex;
use thiserror::Error;

/// Receipt of the bank for a charge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Receipt(String);

impl Receipt {
    pub(crate) fn new(number: impl Into<String>) -> Self {
        Self(number.into())
    }
}

/// The party that takes the money: a bank's HTTP API in production.
pub(crate) trait Payments {
    fn charge(&self, order: &str) -> impl Future<Output = Receipt> + Send;
}

/// The store of receipts: in production, a table with a column for the token. Within the same
/// transaction, it refuses a write with a smaller token than the last one.
#[derive(Default)]
pub(crate) struct Orders(Mutex<Table>);

#[derive(Default)]
struct Table {
    check: FenceCheck<String>,
    receipts: HashMap<String, Receipt>,
}

impl Orders {
    pub(crate) fn receipt(&self, order: &str) -> Option<Receipt> {
        self.0.lock().unwrap().receipts.get(order).cloned()
    }

    pub(crate) fn record(
        &self,
        order: &str,
        receipt: Receipt,
        token: FencingToken,
    ) -> Result<(), StaleToken> {
        let mut table = self.0.lock().unwrap();
        table.check.admit(order, token)?;
        table.receipts.insert(order.to_owned(), receipt);
        Ok(())
    }
}

/// Reasons why an order was not charged, by what to do next.
#[derive(Debug, Error)]
pub(crate) enum ChargeError {
    /// Try again later.
    #[error("another process is charging this order")]
    Busy,
    /// Raise an alarm.
    #[error(transparent)]
    Unavailable(AcquireError),
    /// Stopped in the middle: check whether the bank has the charge before trying again.
    #[error(transparent)]
    Lost(#[from] Lost),
    /// The process continued past its deadline, and another process had written since.
    #[error(transparent)]
    Stale(#[from] StaleToken),
}

/// One process of the shop.
pub(crate) struct Shop<P> {
    redlock: Redlock,
    payments: P,
    orders: std::sync::Arc<Orders>,
}

impl<P: Payments> Shop<P> {
    pub(crate) const fn new(redlock: Redlock, payments: P, orders: std::sync::Arc<Orders>) -> Self {
        Self { redlock, payments, orders }
    }

    /// Charges an order, unless it has been charged already.
    pub(crate) async fn charge(&self, order: &str) -> Result<Receipt, ChargeError> {
        let acquire = self.redlock.acquire(format!("order:{order}")).fenced();
        // The lock is kept alive while the body runs. The body is stopped if the lock is lost, and
        // the lock is released on every way out.
        match acquire.run(async |lease| self.charge_under(&lease, order).await).await {
            Ok(charged) => charged,
            Err(RunError::NotAcquired(AcquireError::Contended(_))) => Err(ChargeError::Busy),
            Err(RunError::NotAcquired(error)) => Err(ChargeError::Unavailable(error)),
            Err(RunError::Lost { lost, .. }) => Err(lost.into()),
            Err(other) => unreachable!("{other}"),
        }
    }

    async fn charge_under(&self, lease: &FencedLease, order: &str) -> Result<Receipt, ChargeError> {
        if let Some(receipt) = self.orders.receipt(order) {
            return Ok(receipt);
        }
        lease.check()?; // before each side effect
        let receipt = self.payments.charge(order).await;
        self.orders.record(order, receipt.clone(), lease.fencing_token())?;
        Ok(receipt)
    }
}

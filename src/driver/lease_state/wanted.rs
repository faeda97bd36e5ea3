//! A hold that another client wants.

use super::LeaseState;

impl LeaseState {
    /// Notes that another client has asked for the lock, for the driver.
    pub(crate) fn want(&self) {
        self.asked.take();
        self.waiters().inspect(|waiters| waiters.notify_waiters());
    }

    /// Returns whether another client has asked for the lock.
    pub(crate) fn is_wanted(&self) -> bool {
        self.asked.is_taken()
    }

    /// Completes when another client has asked for the lock, or the hold is over; at once if either is already true.
    pub(crate) async fn wanted(&self) {
        self.over_or(|| self.is_wanted()).await;
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{at, hold_until};
    use crate::failure::LossReason;
    use futures::FutureExt;
    use std::sync::Arc;

    #[tokio::test]
    async fn an_ask_is_seen_by_a_task_that_waited_and_by_one_that_comes_late() {
        let hold = Arc::new(hold_until(100));
        let waiter = tokio::spawn({
            let hold = hold.clone();
            async move { hold.wanted().await }
        });
        tokio::task::yield_now().await;
        assert!(!hold.is_wanted() && !waiter.is_finished());
        hold.want();
        waiter.await.unwrap();
        hold.wanted().await;
        assert!(hold.is_wanted() && hold.check(at(40)).is_ok(), "it is held all the same");
        assert!(hold.lost().now_or_never().is_none(), "and not lost");
        hold.end(at(50), LossReason::Released);
        assert!(hold.is_wanted(), "once and for all");
    }

    #[tokio::test]
    async fn the_end_of_a_hold_ends_the_wait_for_an_ask() {
        let hold = Arc::new(hold_until(100));
        let waiter = tokio::spawn({
            let hold = hold.clone();
            async move { hold.wanted().await }
        });
        tokio::task::yield_now().await;
        hold.end(at(50), LossReason::Closed);
        waiter.await.unwrap();
        hold.wanted().await;
    }
}

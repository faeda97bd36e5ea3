//! A token that ends with a hold, for code that takes one.

use super::{LeaseState, Watch};
use crate::driver::Handle;
use tokio_util::sync::CancellationToken;

impl Handle {
    /// Returns a token that is cancelled when a hold is over, which its caller may cancel as well. In a fork it is
    /// cancelled.
    pub(crate) fn token(&self, hold: &LeaseState) -> CancellationToken {
        if self.is_here() { hold.token() } else { cancelled() }
    }
}

impl LeaseState {
    fn token(&self) -> CancellationToken {
        match &mut *self.watch() {
            Watch::Held(watchers) => watchers.token.get_or_insert_default().child_token(),
            Watch::Over { .. } => cancelled(),
        }
    }
}

fn cancelled() -> CancellationToken {
    let over = CancellationToken::new();
    over.cancel();
    over
}

#[cfg(test)]
mod tests {
    use super::super::tests::{at, hold_until};
    use crate::failure::LossReason;
    use std::sync::Barrier;
    use std::thread;

    /// The token is created for the first caller that asks. The hold may end before that, or after
    /// it.
    #[tokio::test]
    async fn a_token_that_is_asked_for_as_the_hold_ends_is_cancelled() {
        for _ in 0..1_000 {
            let (hold, start) = (hold_until(100), Barrier::new(2));
            let token = thread::scope(|scope| {
                let asking = scope.spawn(|| (start.wait(), hold.token()).1);
                start.wait();
                hold.end(at(100), LossReason::Lapsed);
                asking.join().unwrap()
            });
            assert!(token.is_cancelled());
            assert!(hold.token().is_cancelled(), "and for a late caller");
            assert_eq!(hold.lost().await.reason, LossReason::Lapsed);
        }
    }
}

//! Bounded polls: what a test uses where it would be tempted to sleep.

use std::time::{Duration, Instant};

/// How long between two looks. Short against anything that is waited for.
pub(super) const PAUSE: Duration = Duration::from_millis(2);

/// Waits until `holds` says so, and panics with `claim` if it has not within `within`.
///
/// The condition is tried at least twice: once at the start and once at or after the deadline.
pub(crate) async fn eventually(
    claim: &str,
    within: Duration,
    mut holds: impl AsyncFnMut() -> bool,
) {
    let deadline = Instant::now() + within;
    loop {
        let last = Instant::now() >= deadline;
        if holds().await {
            return;
        }
        assert!(!last, "not so within {within:?}: {claim}");
        tokio::time::sleep(PAUSE).await;
    }
}

/// The same for code that is not async. Blocks its thread.
pub(crate) fn eventually_blocking(claim: &str, within: Duration, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + within;
    loop {
        let last = Instant::now() >= deadline;
        if holds() {
            return;
        }
        assert!(!last, "not so within {within:?}: {claim}");
        std::thread::sleep(PAUSE);
    }
}

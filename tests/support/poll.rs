//! Bounded polls, for tests that would otherwise sleep.

use std::time::Duration;
use tokio::time::Instant;

/// Time between two looks; short compared with anything that a test waits for.
pub(crate) const PAUSE: Duration = Duration::from_millis(2);

/// Waits until `holds` returns true, and panics with `claim` if it has not done so within `within`.
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

/// Does the same for code that is not async. Blocks its thread.
pub(crate) fn eventually_blocking(claim: &str, within: Duration, mut holds: impl FnMut() -> bool) {
    let began = std::time::Instant::now();
    loop {
        let last = began.elapsed() >= within;
        if holds() {
            return;
        }
        assert!(!last, "not so within {within:?}: {claim}");
        std::thread::sleep(PAUSE);
    }
}

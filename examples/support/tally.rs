//! The workers' results, in numbers.

use std::time::{Duration, Instant};

/// Results of the run.
#[derive(Clone, Default)]
pub(crate) struct Tally {
    /// Completed sections, which wrote the counter.
    pub(crate) sections: u64,
    pub(crate) overlaps: u64,
    pub(crate) without_quorum: u64,
    pub(crate) failed: u64,
    pub(crate) counter: u64,
    /// Longest time with no worker inside although there was a quorum.
    pub(crate) longest_stall: Duration,
    /// Time from the deadline until the holder of a lost lock was notified.
    pub(crate) notified_after: Option<Duration>,
    /// Whether the store has refused the write of the holder that was paused.
    pub(crate) late_write_refused: bool,
}

impl Tally {
    pub(crate) fn lost(&self) -> u64 {
        self.sections.abs_diff(self.counter)
    }
}

/// The tally and the state needed to keep it.
pub(crate) struct Ledger {
    pub(crate) tally: Tally,
    pub(crate) quorum: bool,
    /// Since then a worker could have been inside, and none was.
    pub(crate) free_since: Option<Instant>,
    /// The first worker to enter from now on is worth a line.
    pub(crate) awaited_since: Option<(Instant, &'static str)>,
}

impl Ledger {
    pub(crate) fn new() -> Self {
        Self {
            tally: Tally::default(),
            quorum: true,
            free_since: Some(Instant::now()),
            awaited_since: None,
        }
    }

    pub(crate) fn end_of_stall(&mut self) {
        if let Some(since) = self.free_since.take() {
            self.tally.longest_stall = self.tally.longest_stall.max(since.elapsed());
        }
    }
}

pub(crate) fn millis(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1e3)
}

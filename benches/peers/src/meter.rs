//! The cost of a turn: time, the client's CPU time, and the masters' CPU time.

use crate::cpu;
use crate::workloads::micros;
use std::time::{Duration, Instant};

pub(crate) struct Meter {
    began: Instant,
    used: Duration,
    masters: Vec<u32>,
    used_by_masters: Option<Duration>,
}

/// Cost of each cycle.
pub(crate) struct Spent {
    pub(crate) cycles_per_second: f64,
    pub(crate) client_us: f64,
    /// All masters together; not a number if the kernel does not report it.
    pub(crate) masters_us: f64,
}

impl Meter {
    /// Starts to measure; `masters` are the ids of the serving processes.
    pub(crate) fn start(masters: Vec<u32>) -> Self {
        let used_by_masters = used_by(&masters);
        Self { used: cpu::used(), began: Instant::now(), masters, used_by_masters }
    }

    pub(crate) fn stop(self, cycles: u64) -> Spent {
        let (took, client) = (self.began.elapsed(), cpu::used() - self.used);
        let now = used_by(&self.masters).zip(self.used_by_masters);
        let masters = now.map(|(now, before)| micros(now.saturating_sub(before)));
        let cycles = cycles as f64;
        Spent {
            cycles_per_second: cycles / took.as_secs_f64(),
            client_us: micros(client) / cycles,
            masters_us: masters.unwrap_or(f64::NAN) / cycles,
        }
    }
}

/// Returns the time used by all of them together, if the kernel reports it.
pub(crate) fn used_by(processes: &[u32]) -> Option<Duration> {
    processes.iter().map(|&process| cpu::used_by(process)).sum()
}

//! One turn of one contender: its masters and its duration.

use crate::workloads::Workload;
use std::net::SocketAddr;
use std::time::Duration;

#[derive(Clone, Debug)]
pub(crate) struct Cell {
    pub(crate) workload: Workload,
    /// Addresses of the masters.
    pub(crate) masters: Vec<SocketAddr>,
    /// Process ids of the masters.
    pub(crate) processes: Vec<u32>,
    /// Number of concurrent tasks, if the workload has many.
    pub(crate) tasks: usize,
    /// Time for which it runs before the measurement.
    pub(crate) warm_up: Duration,
    pub(crate) span: Duration,
}

impl Cell {
    pub(crate) const fn quorum(&self) -> usize {
        self.masters.len() / 2 + 1
    }
}

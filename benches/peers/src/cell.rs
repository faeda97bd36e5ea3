//! One turn of one contender: what it is measured on, and for how long.

use crate::workloads::Workload;
use std::net::SocketAddr;
use std::time::Duration;

#[derive(Clone, Debug)]
pub(crate) struct Cell {
    pub(crate) workload: Workload,
    /// Where the masters are reached.
    pub(crate) masters: Vec<SocketAddr>,
    /// The processes that they are.
    pub(crate) processes: Vec<u32>,
    /// As many lock at the same time, where the workload is one of many.
    pub(crate) tasks: usize,
    /// How long it runs before it is measured.
    pub(crate) warm_up: Duration,
    pub(crate) span: Duration,
}

impl Cell {
    pub(crate) const fn quorum(&self) -> usize {
        self.masters.len() / 2 + 1
    }
}

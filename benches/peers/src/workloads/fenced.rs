//! W7: the cost of a fencing token, and of several resources at once: W1 with additional
//! requirements.
//!
//! A fenced acquire is a script where a plain one is a `SET`. Two figures show how much of the
//! difference is the servers' work: the same script over bare sockets, and the time per cycle that
//! the servers themselves report.

use super::alone;

pub(crate) const ABOUT: &str =
    "as W1, fenced beside plain (goal: p50 at most 1.5 times), several keys beside one";

/// The masters report the last one: `usec` of everything that acquires and releases a lock, from
/// `INFO commandstats`, divided by the number of locks.
pub(crate) const METRICS: [&str; 6] = {
    let [p50, p99, cycles, cpu, masters] = alone::METRICS;
    [p50, p99, cycles, cpu, masters, "server us/cycle"]
};

//! W7: what a fencing token costs, and what several resources at once do: W1 with more asked for.
//!
//! A fenced acquire is a script where a plain one is a `SET`. How much of the difference is the
//! servers' work shows in two ways: the same script over bare sockets, and the time that the
//! servers themselves say a cycle has taken them.

use super::alone;

pub(crate) const ABOUT: &str =
    "as W1, fenced beside plain (goal: p50 at most 1.5 times), several keys beside one";

/// The last is what the masters tell: `usec` of all that takes a lock and gives it back, from
/// `INFO commandstats`, by the number of locks.
pub(crate) const METRICS: [&str; 6] = {
    let [p50, p99, cycles, cpu, masters] = alone::METRICS;
    [p50, p99, cycles, cpu, masters, "server us/cycle"]
};

//! Fair acquires on real masters: what each process gets, and in which order, and what stopped and killed processes and
//! masters cost the others.
//! On a real clock: the waiters are processes. In virtual time: `src/driver/tests/waitlist/fair.rs`.

pub(crate) mod dead;
mod processes;
mod shares;

use std::time::{Duration, SystemTime};

/// Returns the time in nanoseconds, of a clock that all processes share.
fn nanos() -> u128 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_nanos()
}

fn span(from: u128, until: u128) -> Duration {
    Duration::from_nanos(until.saturating_sub(from).try_into().unwrap())
}

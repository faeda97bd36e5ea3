//! A client's clock that is not the machine's: it has to be one, or nothing would be shown.

use super::Orders;
use crate::chaos::clock::{Nanos, between, now};
use rustix::time::{ClockId, clock_gettime};
use std::time::{Duration, Instant, SystemTime};

/// The least that the wall clock is off.
const APART: Duration = Duration::from_secs(1_800);
/// The longest time for which the two readings of a pair are apart.
const TIGHT: Duration = Duration::from_micros(300);
/// A life that is long enough to measure its speed.
const TELLING: Duration = Duration::from_secs(2);
/// Millionths by which that may be wrong.
const ERROR: f64 = 800.0;

/// The client's clock and the machine's, read at the same time.
#[derive(Clone, Copy)]
pub(super) struct Reading {
    its: Instant,
    machine: Nanos,
}

impl Reading {
    pub(super) fn take() -> Option<Self> {
        let pairs = (0..50).map(|_| (now(), Instant::now(), now()));
        pairs
            .filter(|(before, _, after)| between(*before, *after) < TIGHT)
            .map(|(machine, its, _)| Self { its, machine })
            .next()
    }
}

/// Returns what is wrong with the clocks of this process: not those that it was ordered to have.
pub(super) fn wrong(orders: &Orders, first: Option<Reading>) -> Option<String> {
    let ppm = orders.ppm?;
    // Not by the C library, which is what libfaketime replaces.
    let machine = Duration::from_secs(clock_gettime(ClockId::Realtime).tv_sec.unsigned_abs());
    let its = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    if its.abs_diff(machine) < APART {
        return Some(format!("its wall clock is the machine's: {its:?}"));
    }
    let (first, last) = (first?, Reading::take()?);
    let (its, machine) = (last.its - first.its, between(first.machine, last.machine));
    let is = (its.as_secs_f64() / machine.as_secs_f64() - 1.0) * 1e6;
    let is_wrong = machine > TELLING && (is - ppm as f64).abs() > ERROR;
    is_wrong.then(|| format!("its clock is faster by {is:.0} millionths, not by {ppm}"))
}

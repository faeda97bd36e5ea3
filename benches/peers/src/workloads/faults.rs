//! W3, W4: time of an attempt while one of the five hangs, or after it was killed and has returned.
//! It is compared with the same client's time with all five.

use crate::plan::Plan;
use crate::scene::NODES;
use crate::support::server::Server;
use crate::worker::{Failed, Worker};
use std::time::Duration;

pub(crate) const STOPPED: &str =
    "one of five masters is stopped (SIGSTOP), no other client wants it";
pub(crate) const KILLED: &str = "one of five masters is killed, then restarted empty";

pub(crate) const WHILE_STOPPED: [&str; 4] =
    ["healthy p50 us", "stopped p50 us", "stopped/healthy", "stopped, won %"];

pub(crate) const WHILE_KILLED: [&str; 7] = [
    "healthy p50 us",
    "killed p50 us",
    "killed/healthy",
    "killed, won %",
    "back p50 us",
    "back/healthy",
    "back, won %",
];

/// Time for a client to notice that a master is back.
const RETURN: Duration = Duration::from_millis(500);

pub(crate) fn stopped(
    contender: &str,
    masters: &[Server],
    plan: &Plan,
    round: usize,
) -> Result<Vec<f64>, Failed> {
    let node = &masters[round % NODES];
    let mut worker = Worker::start(contender, masters)?;
    let healthy = Phase::measure(&mut worker, "bench:healthy", plan)?;
    node.stop();
    let stopped = Phase::measure(&mut worker, "bench:stopped", plan)?;
    if stopped.hangs() {
        drop(worker);
    } else {
        node.cont();
        worker.end()?;
    }
    Ok([vec![healthy.p50], stopped.compared_to(&healthy)].concat())
}

pub(crate) fn killed(
    contender: &str,
    masters: &[Server],
    plan: &Plan,
    round: usize,
) -> Result<Vec<f64>, Failed> {
    let node = &masters[round % NODES];
    let mut worker = Worker::start(contender, masters)?;
    let healthy = Phase::measure(&mut worker, "bench:healthy", plan)?;
    node.kill();
    let killed = Phase::measure(&mut worker, "bench:killed", plan)?;
    node.restart();
    std::thread::sleep(RETURN);
    let back = Phase::measure(&mut worker, "bench:back", plan)?;
    worker.end()?;
    Ok([vec![healthy.p50], killed.compared_to(&healthy), back.compared_to(&healthy)].concat())
}

struct Phase {
    /// Microseconds; infinite if it hangs.
    p50: f64,
    won: f64,
}

impl Phase {
    /// Measures with a separate resource each time, since a key may be left from the one before.
    fn measure(worker: &mut Worker, resource: &str, plan: &Plan) -> Result<Self, Failed> {
        match worker.attempt(resource, plan.span) {
            Ok(seen) => Ok(Self { p50: seen.p50, won: 100.0 * seen.wins / seen.tries }),
            Err(Failed::Hangs(_)) => Ok(Self { p50: f64::INFINITY, won: 0.0 }),
            Err(failed) => Err(failed),
        }
    }

    const fn hangs(&self) -> bool {
        self.p50.is_infinite()
    }

    fn compared_to(&self, healthy: &Self) -> Vec<f64> {
        vec![self.p50, self.p50 / healthy.p50, self.won]
    }
}

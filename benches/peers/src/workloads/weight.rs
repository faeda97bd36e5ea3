//! W8: memory in the client for a held lock and for a waiting task, and how often a cycle uses the
//! allocator.

use crate::contenders;
use crate::support::server::Server;
use crate::support::witness;
use crate::worker::{Failed, Load, Worker};
use std::time::Duration;

pub(crate) const ABOUT: &str = "10,000 locks held, or as many as can be had in 5 s; then 10,000 \
                                tasks that wait for one that their process holds; then for 100 that \
                                another client holds. Bytes with the guard's and the task's own; left \
                                is what lives once all have gone";

pub(crate) const METRICS: [&str; 7] = [
    "bytes/lock",
    "RSS/lock",
    "bytes/waiter",
    "bytes/waiter 100",
    "left/lock",
    "allocations/cycle",
    "allocated/cycle",
];

const LOAD: Load = Load { locks: 10_000, waiters: 10_000, elsewhere: 100, cycles: 1_000 };

/// Longer than a turn takes.
const HELD_FOR: Duration = Duration::from_secs(120);

pub(crate) fn turn(contender: &str, masters: &[Server]) -> Result<Vec<f64>, Failed> {
    let mut worker = Worker::start(contender, masters)?;
    contenders::one_thread().block_on(hold_elsewhere(masters));
    let figures = worker.weigh(&LOAD)?;
    worker.end()?;
    assert_eq!(figures.len(), METRICS.len(), "one figure for each metric");
    Ok(figures)
}

/// Holds locks in the plain layout, as any client of another process would.
async fn hold_elsewhere(masters: &[Server]) {
    for server in masters.iter() {
        for number in 0..LOAD.elsewhere {
            let mut set = redis::cmd("SET");
            set.arg(Load::resource_elsewhere(number)).arg("another").arg("PX");
            set.arg(HELD_FOR.as_millis() as u64);
            witness::ask::<()>(server, &set).await.expect("a key set");
        }
    }
}

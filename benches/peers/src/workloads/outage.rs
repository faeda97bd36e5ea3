//! W6: how soon a client reports that there is no quorum, and what it leaves behind.

use crate::contenders;
use crate::scene::NODES;
use crate::support::server::Server;
use crate::support::witness;
use crate::worker::{Failed, Worker};
use std::time::Duration;

pub(crate) const ABOUT: &str = "three of five masters are killed, then one attempt";

pub(crate) const METRICS: [&str; 2] = ["failure after ms", "keys left"];

const RESOURCE: &str = "bench:outage";

/// Bound on a rollback when both masters are up.
const ROLLBACK: Duration = Duration::from_millis(300);

pub(crate) fn turn(contender: &str, masters: &[Server], round: usize) -> Result<Vec<f64>, Failed> {
    let mut worker = Worker::start(contender, masters)?;
    for offset in 0..3 {
        masters[(round + offset) % NODES].kill();
    }
    let attempted = worker.attempt(RESOURCE, Duration::ZERO)?;
    assert_eq!(attempted.wins, 0.0, "{contender}: won without a quorum");
    std::thread::sleep(ROLLBACK);
    let left = contenders::one_thread().block_on(left(masters));
    worker.end()?;
    Ok(vec![attempted.p50 / 1000.0, left as f64])
}

/// Returns on how many living masters the key is set.
async fn left(masters: &[Server]) -> usize {
    let mut left = 0;
    for server in masters.iter().filter(|server| server.is_running()) {
        let keys = witness::keys(server).await.expect("a master that lives");
        left += usize::from(keys.iter().any(|key| key == RESOURCE));
    }
    left
}

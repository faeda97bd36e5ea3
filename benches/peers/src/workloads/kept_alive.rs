//! W13: what a client costs that keeps many locks alive.

use crate::contenders::kept::while_kept;
use crate::contenders::one_thread;
use crate::meter::{Meter, Spent};
use crate::support::server::Server;
use std::time::Duration;

pub(crate) const ABOUT: &str = "One client that keeps 20,000 locks of 10 s alive, and 100,000: its CPU, and that of each \
                                master, in % of a core";

pub(crate) const METRICS: [&str; 4] =
    ["20,000: client %", "each master %", "100,000: client %", "each master % "];

const LOCKS: [usize; 2] = [20_000, 100_000];
const TTL: Duration = Duration::from_secs(10);

/// After so long, each lock is extended at a time of its own.
const SETTLES: Duration = Duration::from_secs(5);
const SPAN: Duration = Duration::from_secs(15);

/// How long a turn takes.
pub(crate) const TAKES: Duration = Duration::from_secs(70);

pub(crate) fn turn(masters: &[Server]) -> Vec<f64> {
    let figures = LOCKS.map(|locks| one_thread().block_on(keep(masters, locks)));
    figures.into_iter().flatten().collect()
}

async fn keep(masters: &[Server], locks: usize) -> [f64; 2] {
    let addresses: Vec<_> = masters.iter().map(Server::addr).collect();
    let spent = while_kept(&addresses, locks, TTL, async |_| {
        tokio::time::sleep(SETTLES).await;
        let meter = Meter::start(masters.iter().map(Server::pid).collect());
        tokio::time::sleep(SPAN).await;
        // Of each microsecond.
        meter.stop(SPAN.as_micros() as u64)
    });
    let Spent { client_us, masters_us, .. } = spent.await;
    [100.0 * client_us, 100.0 * masters_us / masters.len() as f64]
}

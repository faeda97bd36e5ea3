//! Acquires that wait in turn, on real masters: the order in which they are served, what the dead and
//! forgotten scripts cost waiters, and what it all costs the masters.
//! On a real clock: the waiters are processes, and the order is what servers report.

mod cost;
pub(crate) mod dead;
mod order;
mod processes;
mod shares;

use crate::support::prelude::*;
use futures::future::join_all;
use redis::cmd;
use std::time::{Duration, SystemTime};

const QUEUE: &str = "quorumlock:queue:r";
const ALIVE: &str = "quorumlock:alive:r";

/// Returns the time in nanoseconds, of a clock that all processes share.
fn nanos() -> u128 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_nanos()
}

fn span(from: u128, until: u128) -> Duration {
    Duration::from_nanos(until.saturating_sub(from).try_into().unwrap())
}

/// Returns the waiters in the queue of `r`, the first one first, master by master.
async fn queues(masters: &[Server]) -> Vec<Vec<String>> {
    let all = cmd("ZRANGE").arg(QUEUE).arg(0).arg(-1).to_owned();
    let all = join_all(masters.iter().map(|server| witness::ask(server, &all))).await;
    all.into_iter().map(Result::unwrap_or_default).collect()
}

/// Waits until all masters have so many waiters in the same order, and returns these. They change no
/// more: a ticket is the same everywhere.
pub(crate) async fn stand(masters: &[Server], waiters: usize) -> Vec<String> {
    let mut found = Vec::new();
    eventually("all masters have the same queue", 2 * SOON, async || {
        found = queues(masters).await;
        found.iter().all(|queue| queue.len() == waiters && *queue == found[0])
    })
    .await;
    found.swap_remove(0)
}

/// Writes waiters to the queue of `r` on each master, ahead of all others, whose places live for `life`.
async fn write_waiters(masters: &[Server], names: &[String], life: Duration) {
    let until = (nanos() / 1_000_000 + life.as_millis()).to_string();
    for server in masters {
        let (mut queue, mut alive) = (cmd("ZADD"), cmd("ZADD"));
        queue.arg(QUEUE);
        alive.arg(ALIVE);
        for (place, name) in names.iter().enumerate() {
            queue.arg(1_000 + place).arg(name);
            alive.arg(&until).arg(name);
        }
        // A waiter that asks in between takes out of the queue whatever is not alive.
        let _: i64 = witness::ask(server, &alive).await.unwrap();
        let _: i64 = witness::ask(server, &queue).await.unwrap();
    }
}

//! Fair acquires on real masters: what each process gets, and in which order, and what stopped and killed processes and
//! masters cost the others.
//! On a real clock: the waiters are processes. In virtual time: `src/driver/tests/waitlist/fair.rs`.

pub(crate) mod dead;
mod processes;
mod shares;

use crate::support::prelude::*;
use redis::cmd;
use std::time::{Duration, SystemTime};

/// Returns the time in nanoseconds, of a clock that all processes share.
fn nanos() -> u128 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_nanos()
}

fn span(from: u128, until: u128) -> Duration {
    Duration::from_nanos(until.saturating_sub(from).try_into().unwrap())
}

/// Waits until so many stand in the list of `r`, and returns the master that has it.
pub(crate) async fn stand(masters: &[Server], waiters: usize) -> usize {
    let (all, mut at) =
        (cmd("ZRANGE").arg("quorumlock:waitlist:r").arg(0).arg(-1).to_owned(), None);
    eventually("they stand in the list", 2 * SOON, async || {
        for (node, server) in masters.iter().enumerate() {
            let listed: Vec<String> = witness::ask(server, &all).await.unwrap_or_default();
            // A mark is no waiter.
            let standing = listed.iter().filter(|name| !name.starts_with(['>', '!'])).count();
            at = at.or((standing == waiters).then_some(node));
        }
        at.is_some()
    })
    .await;
    at.unwrap()
}

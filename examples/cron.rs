//! A job once per tick of a cron pattern, on whichever of several hosts is first. Start it on each of them,
//! or in several terminals:
//!
//! ```text
//! export QUORUMLOCK_NODES=redis://10.0.0.1,redis://10.0.0.2,redis://10.0.0.3
//! cargo run --example cron -- '*/10 * * * * *'
//! ```
//!
//! The patterns are those of the crate `croner`, with seconds if there are six fields. The hosts' clocks may
//! differ by as much as half of the time between two ticks, and by 20 s at most.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

#[path = "support/nodes.rs"]
mod nodes;

use croner::Cron;
use jiff::Zoned;
use quorumlock::{Lease, Ran, Redlock};
use std::error::Error;
use std::str::FromStr;
use std::time::Duration;
use tokio::time::sleep;

/// How long a tick stays closed after its start, at most: it has to be below `max_ttl`.
const CLOSED: Duration = Duration::from_secs(20);

/// A clock that was set is noticed after this time.
const LOOK: Duration = Duration::from_secs(10);

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let pattern = std::env::args().nth(1).unwrap_or_else(|| "*/10 * * * * *".to_owned());
    let schedule = Cron::from_str(&pattern)?;
    let redlock = Redlock::builder().nodes(nodes::from_environment()?).connect().await?;
    let job = async |tick: &Zoned, _lease: Lease| {
        println!("{}: this host writes the report", tick.strftime("%T"));
        sleep(Duration::from_secs(2)).await;
        Ok::<(), std::io::Error>(())
    };
    tokio::select! {
        ended = at_each_tick(&redlock, "examples:cron", &schedule, Zoned::now, job) => ended?,
        interrupted = tokio::signal::ctrl_c() => interrupted?,
    }
    Ok(redlock.shutdown().await?)
}

/// Runs `job` at each tick, unless another host does, or has done it. No run overlaps another one, so that
/// a tick is left out while one that began earlier still runs. A job that fails is left to a host that
/// comes later. Ends only if the pattern has no tick any more.
pub(crate) async fn at_each_tick<T, E: Error>(
    redlock: &Redlock,
    name: &str,
    schedule: &Cron,
    now: impl Fn() -> Zoned,
    mut job: impl AsyncFnMut(&Zoned, Lease) -> Result<T, E>,
) -> Result<(), croner::errors::CronError> {
    let mut last = now();
    loop {
        // Never the same tick again, even if the clock was set back.
        let tick = schedule.find_next_occurrence(&last.max(now()), false)?;
        let next = schedule.find_next_occurrence(&tick, false)?;
        while let Ok(left) = Duration::try_from(now().duration_until(&tick))
            && !left.is_zero()
        {
            sleep(left.min(LOOK)).await;
        }
        let closed = CLOSED.min(tick.duration_until(&next).unsigned_abs() / 2);
        let once = redlock.once(name, closed);
        match once.run(async |lease| job(&tick, lease).await).await {
            Ok(Ran::Done(_) | Ran::Skipped) => {}
            // An outage, a lost lock, or the job's own: the next tick comes in any case.
            Err(error) => eprintln!("{tick}: {error}"),
        }
        last = tick;
    }
}

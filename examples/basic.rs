//! Takes a lock, works under it and gives it back:
//!
//! ```text
//! QUORUMLOCK_NODES=redis://10.0.0.1,redis://10.0.0.2,redis://10.0.0.3 cargo run --example basic
//! ```

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

#[path = "support/nodes.rs"]
mod nodes;

use quorumlock::{Redlock, Released};
use std::error::Error;
use std::process::ExitCode;
use std::time::Duration;

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<(), Box<dyn Error>> {
    let redlock = Redlock::builder().nodes(nodes::from_environment()?).connect().await?;
    let worked = work(&redlock).await;
    // Whatever the outcome, a guard that an error dropped is released before the process ends.
    let drained = redlock.shutdown().await;
    worked?;
    Ok(drained?)
}

async fn work(redlock: &Redlock) -> Result<(), Box<dyn Error>> {
    let status = redlock.status().await?;
    if !status.can_acquire() {
        // Masters that have just started vote after half a minute.
        eprintln!("{status}");
        redlock.wait_until_ready(Duration::from_secs(60)).await?;
    }
    let guard = redlock.acquire("examples:basic").ttl(Duration::from_secs(5)).await?;
    println!("acquired {}", guard.resource());
    for step in 1..=3 {
        // Before each side effect: stops here if the lock is lost.
        let left = guard.check()?;
        println!("step {step} of 3, {} ms left", left.as_millis());
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    guard.extend().await?;
    println!("extended: {} ms left", guard.remaining().as_millis());
    // An error if the lock had been lost: then check what was done.
    match guard.release().await? {
        Released::Confirmed => println!("released"),
        other => println!("released in the background: {other:?}"),
    }
    Ok(())
}

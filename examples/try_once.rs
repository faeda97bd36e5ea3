//! A job that any host may start and only one may run: a host that comes second exits.
//!
//! ```text
//! QUORUMLOCK_NODES=redis://10.0.0.1,redis://10.0.0.2,redis://10.0.0.3 cargo run --example try_once
//! ```

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

#[path = "support/nodes.rs"]
mod nodes;

use quorumlock::{AcquireError, Guard, Redlock};
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
    let done = match redlock.try_acquire("examples:report").await {
        Ok(guard) => report(guard).await,
        Err(AcquireError::Contended(_)) => {
            println!("another host is at it: nothing to do here");
            Ok(())
        }
        // An outage or a mistake needs a person's attention.
        Err(error) => Err(error.into()),
    };
    let drained = redlock.shutdown().await;
    done?;
    Ok(drained?)
}

/// Stops in the middle if the lock is lost; the guard releases on every way out.
async fn report(guard: Guard) -> Result<(), Box<dyn Error>> {
    println!("this host has it: writing the report");
    tokio::select! {
        lost = guard.lost() => return Err(lost.into()),
        () = tokio::time::sleep(Duration::from_secs(3)) => println!("the report is written"),
    }
    guard.release().await?;
    Ok(())
}

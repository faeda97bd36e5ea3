//! A program without tokio: threads that take the same lock, one at a time.
//!
//! ```text
//! QUORUMLOCK_NODES=redis://10.0.0.1,redis://10.0.0.2,redis://10.0.0.3 \
//!   cargo run --example threads
//! ```

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

#[path = "support/nodes.rs"]
mod nodes;

use quorumlock::{Lease, Redlock, Wait};
use std::error::Error;
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

type Failure = Box<dyn Error + Send + Sync>;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Failure> {
    let builder = Redlock::builder().nodes(nodes::from_environment()?);
    let redlock = builder.own_thread(true).connect().wait()?;
    let worked = thread::scope(|scope| {
        let start = |worker| {
            let redlock = &redlock;
            scope.spawn(move || -> Result<(), Failure> {
                redlock
                    .acquire("examples:threads")
                    .run(async |lease| work(worker, &lease))
                    .wait()?
            })
        };
        let workers: Vec<_> = (1..=3).map(start).collect();
        let ended =
            workers.into_iter().map(|worker| worker.join().map_err(|_| "a worker has panicked")?);
        ended.collect::<Result<(), Failure>>()
    });
    let drained = redlock.shutdown().wait();
    worked?;
    Ok(drained?)
}

/// Checks the lease before each step, since nothing interrupts this work when the lock is lost.
fn work(worker: u32, lease: &Lease) -> Result<(), Failure> {
    for step in 1..=3 {
        lease.check()?;
        println!("worker {worker}: step {step} of 3");
        // A pause that ends at once if the lock is lost.
        if let Some(lost) = lease.lost().wait_within(Duration::from_millis(200)) {
            return Err(lost?.into());
        }
    }
    Ok(())
}

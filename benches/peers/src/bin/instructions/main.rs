//! Acquires and releases, for a counter of instructions: `scripts/instructions` runs it.
//!
//! Everything is on one thread and nothing goes through the kernel, so that the count is the same
//! each time: the masters are within the process and only say what they must. What they do is
//! counted, too, and little.

mod master;

use quorumlock::{Redlock, RedlockBuilder, Released};
use std::future::ready;

const USAGE: &str = "usage: instructions guarded|unguarded CYCLES";

const NODES: usize = 5;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (builder, cycles) = read(&arguments).unwrap_or_else(|| {
        eprintln!("{USAGE}");
        std::process::exit(2);
    });
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
    runtime.expect("a runtime").block_on(run(builder, cycles));
}

/// The restart guard, on or off, and how many locks to take and give back.
fn read(arguments: &[String]) -> Option<(RedlockBuilder, u64)> {
    let [guard, cycles] = arguments else { return None };
    let builder = match guard.as_str() {
        "guarded" => Redlock::builder(),
        "unguarded" => Redlock::builder().without_restart_guard(),
        _ => return None,
    };
    Some((builder, cycles.parse().ok()?))
}

async fn run(builder: RedlockBuilder, cycles: u64) {
    let builder = (0..NODES).fold(builder, |builder, node| {
        let name = format!("redis://scripted-{node}.invalid");
        builder.node_via(name, move || ready(Ok(master::start(node))))
    });
    let redlock = builder.connect().await.expect("five masters");
    for _ in 0..cycles {
        let guard = redlock.acquire("bench:instructions").await.expect("a free lock");
        assert_eq!(guard.release().await, Released::Released);
    }
    redlock.shutdown().await.expect("all releases confirmed");
}

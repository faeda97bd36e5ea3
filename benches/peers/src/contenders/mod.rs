//! Who is measured. The first is the floor, the second what others are compared with beside it.

mod bare;
mod client;
mod more;
mod multiplexed;
mod quorumlock;
mod redlock;
mod redsync;
mod rslock;

pub(crate) use client::{Apart, Client};

use crate::workloads::{Measured, Workload};
use std::net::SocketAddr;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};

/// One way to lock.
pub(crate) trait Contender {
    fn name(&self) -> &'static str;

    /// Connects, warms up, is measured, and leaves nothing behind. Panics when a result is wrong.
    fn run(
        &self,
        workload: Workload,
        masters: &[SocketAddr],
        warm_up: Duration,
        span: Duration,
    ) -> Measured;
}

pub(crate) fn of(workload: Workload) -> Vec<Box<dyn Contender>> {
    match workload {
        Workload::Crowd => {
            let mut all = of(Workload::Alone);
            all.insert(1, Box::new(bare::Shared));
            all
        }
        Workload::Alone => vec![
            Box::new(bare::PLAIN),
            Box::new(multiplexed::Multiplexed),
            Box::new(quorumlock::ON_MANY_THREADS),
            Box::new(quorumlock::ON_ONE_THREAD),
            Box::new(rslock::RSLOCK),
            Box::new(redlock::REDLOCK),
            Box::new(redsync::REDSYNC),
        ],
        Workload::Fenced => vec![
            Box::new(bare::PLAIN),
            Box::new(quorumlock::ON_ONE_THREAD),
            Box::new(bare::FENCED),
            Box::new(more::FENCED),
            Box::new(more::TWO),
            Box::new(more::TWO_FENCED),
            Box::new(more::EIGHT),
            Box::new(more::EIGHT_FENCED),
        ],
    }
}

/// What is physically possible.
pub(crate) const FLOOR: &str = "bare sockets";

/// Those that are measured from outside. The first is what others are compared with; the last is the
/// floor, which knows nothing of masters that fail or of other processes.
pub(crate) fn apart() -> Vec<Box<dyn Apart>> {
    vec![
        Box::new(quorumlock::APART),
        Box::new(rslock::RSLOCK),
        Box::new(redlock::REDLOCK),
        Box::new(redsync::REDSYNC),
        Box::new(bare::PASSED),
    ]
}

/// Of all, some more than once.
pub(crate) fn names() -> Vec<&'static str> {
    let within = Workload::ALL.into_iter().flat_map(of).map(|one| one.name());
    within.chain(apart().iter().map(|one| one.name())).collect()
}

pub(crate) fn one_thread() -> Runtime {
    Builder::new_current_thread().enable_all().build().expect("a runtime")
}

fn many_threads() -> Runtime {
    Builder::new_multi_thread().enable_all().build().expect("a runtime")
}

/// 128 bits from the operating system, in hex.
fn token() -> String {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).expect("random bytes");
    format!("{:032x}", u128::from_le_bytes(bytes))
}

/// How long a key would stand if nobody deleted it.
const TTL_MS: u64 = 10_000;

/// As the Redis documentation has it.
const RELEASE: &str = "if redis.call(\"get\",KEYS[1]) == ARGV[1] then \
                       return redis.call(\"del\",KEYS[1]) else return 0 end";

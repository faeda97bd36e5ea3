//! The contenders. The first is the baseline for others: the floor, or quorumlock where clients are
//! measured from outside.

mod bare;
mod client;
pub(crate) mod kept;
mod more;
mod multiplexed;
mod quorumlock;
mod redlock;
mod redsync;
mod rslock;
mod waiting;
mod warm;

pub(crate) use client::{Apart, Client};

use crate::cell::Cell;
use crate::scene::Scene;
use crate::workloads::Measured;
pub(crate) use bare::Release;
use tokio::runtime::{Builder, Runtime};

/// One way to lock.
pub(crate) trait Contender {
    fn name(&self) -> &'static str;

    /// Connects, warms up, is measured, and leaves nothing behind. Panics when a result is wrong.
    fn run(&self, cell: &Cell) -> Measured;
}

type Contenders = Vec<Box<dyn Contender>>;

/// Places this crate between the floors that it is compared with: each next to its floors, in
/// whatever order they take their turns.
fn beside_floors(release: Release) -> Contenders {
    vec![
        Box::new(bare::PLAIN),
        Box::new(quorumlock::ON_ONE_THREAD),
        Box::new(bare::releasing(release, false)),
        Box::new(quorumlock::ON_TWO_WORKERS),
        Box::new(bare::releasing(release, true)),
    ]
}

/// W1.
pub(crate) fn alone(release: Release) -> Contenders {
    let mut all = beside_floors(release);
    if release == Release::Hash {
        all.extend(others());
    }
    all
}

/// W2.
pub(crate) fn crowd(release: Release) -> Contenders {
    let mut all = beside_floors(release);
    all.push(Box::new(bare::ON_TWO_WORKERS));
    all.push(Box::new(bare::Shared));
    if release == Release::Hash {
        all.extend(others());
    }
    all
}

/// Returns the contenders for scenes in which one number differs from the usual: tasks, masters.
pub(crate) fn few(release: Release) -> Contenders {
    let mut few = beside_floors(release);
    // The floor whose masters do exactly the same.
    few.remove(2);
    few
}

/// W7.
pub(crate) fn fenced() -> Contenders {
    vec![
        Box::new(bare::PLAIN),
        Box::new(quorumlock::ON_ONE_THREAD),
        Box::new(bare::FENCED),
        Box::new(more::FENCED),
        Box::new(more::TWO),
        Box::new(more::TWO_FENCED),
        Box::new(more::EIGHT),
        Box::new(more::EIGHT_FENCED),
    ]
}

/// W9.
pub(crate) fn kept() -> Contenders {
    vec![Box::new(kept::NONE), Box::new(kept::ON_ONE_THREAD), Box::new(kept::ON_TWO_WORKERS)]
}

/// W10. The first is the baseline: the same locks, released each time.
pub(crate) fn warm() -> Contenders {
    vec![
        Box::new(quorumlock::ON_ONE_THREAD),
        Box::new(warm::KEPT),
        Box::new(warm::ASKED),
        Box::new(rslock::RSLOCK),
    ]
}

fn others() -> Contenders {
    vec![
        Box::new(multiplexed::Multiplexed),
        Box::new(rslock::RSLOCK),
        Box::new(redlock::REDLOCK),
        Box::new(redsync::REDSYNC),
    ]
}

/// Checks that it is neither quorumlock nor its floor.
fn is_other(name: &str) -> bool {
    others().iter().any(|other| other.name() == name)
}

/// Checks whether it is measured with `--quick` alone.
pub(crate) fn is_quick(name: &str) -> bool {
    name != KEPT_WARM && !is_other(name)
}

/// Checks whether it is this crate where many clients wait in a way of their own.
pub(crate) fn waits_otherwise(name: &str) -> bool {
    waiting::NAMES.contains(&name)
}

/// Name of this crate where clients are measured from outside.
pub(crate) const OURS: &str = quorumlock::NAME;

/// Name of this crate where locks are kept warm, which is of use where tasks of one process want the same lock.
pub(crate) const KEPT_WARM: &str = warm::KEPT.name;

/// Name of the physical limit.
pub(crate) const FLOOR: &str = "bare sockets";

/// Returns the baselines among those that take part: the first, and if that is the floor, the floor
/// of each other way to release.
pub(crate) fn yardsticks(names: &[&str]) -> Vec<usize> {
    let beside_floor = names.first() == Some(&FLOOR);
    let is_one = |at: &usize| *at == 0 || (beside_floor && bare::RELEASING.contains(&names[*at]));
    (0..names.len()).filter(is_one).collect()
}

/// Returns the contenders that are measured from outside. The first is the baseline for the others.
/// The last is the floor, which knows nothing of masters that fail or of other processes.
pub(crate) fn apart() -> Vec<Box<dyn Apart>> {
    vec![
        Box::new(quorumlock::APART),
        Box::new(warm::APART),
        Box::new(waiting::IN_TURN),
        Box::new(waiting::PERMITTED),
        Box::new(rslock::RSLOCK),
        Box::new(redlock::REDLOCK),
        Box::new(redsync::REDSYNC),
        Box::new(bare::PASSED),
    ]
}

/// Returns all names, some more than once.
pub(crate) fn names() -> Vec<&'static str> {
    let within =
        Scene::all().into_iter().flat_map(Scene::contenders).map(|contender| contender.name());
    within.chain(apart().iter().map(|contender| contender.name())).collect()
}

pub(crate) fn one_thread() -> Runtime {
    Builder::new_current_thread().enable_all().build().expect("a runtime")
}

/// Makes a runtime with as many workers as a small machine has by default; fixed here, so that a
/// larger machine measures the same.
fn two_workers() -> Runtime {
    Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime")
}

/// Returns 128 bits from the operating system, in hex.
fn token() -> String {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).expect("random bytes");
    format!("{:032x}", u128::from_le_bytes(bytes))
}

/// Milliseconds after which an undeleted key expires.
const TTL_MS: u64 = 10_000;

/// The script in the Redis documentation.
const RELEASE: &str = "if redis.call(\"get\",KEYS[1]) == ARGV[1] then \
                       return redis.call(\"del\",KEYS[1]) else return 0 end";

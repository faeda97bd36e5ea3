//! The cases that are counted.

use crate::heap::Tally;
use crate::master::{Master, Mood};
use crate::{HEAP, NODES, floor};
use quorumlock::{Redlock, RedlockBuilder, Released, RestartGuard};
use std::future::ready;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

const RESOURCE: &str = "bench:instructions";

/// Number of tasks in [`Case::Crowd`].
const TASKS: u64 = 64;

/// Cycles before the count of allocations begins: by then, tables and buffers have their size.
const WARM_UP: u64 = 100;

/// Long enough that no timeout ends, however slowly this runs under valgrind on a busy machine.
/// While a master hangs, the time before it is given up is counted. After that it is down, as in
/// [`Case::Dead`].
const LONG: Duration = Duration::from_secs(600);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Case {
    /// The commands written and the replies read by hand.
    Floor,
    /// A client without a restart guard.
    Unguarded,
    /// A client with its defaults, except for times.
    Guarded,
    /// The same with a fencing token.
    Fenced,
    /// Two tasks of one process that pass a lock back and forth: one acquire and one release per
    /// cycle.
    HandedOver,
    /// Tasks at full speed, each with a resource of its own.
    Crowd,
    /// One of the masters cannot be reached.
    Dead,
    /// One of the masters has stopped answering.
    Hung,
}

impl Case {
    pub(crate) const ALL: [Self; 8] = [
        Self::Floor,
        Self::Unguarded,
        Self::Guarded,
        Self::Fenced,
        Self::HandedOver,
        Self::Crowd,
        Self::Dead,
        Self::Hung,
    ];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Floor => "floor",
            Self::Unguarded => "unguarded",
            Self::Guarded => "guarded",
            Self::Fenced => "fenced",
            Self::HandedOver => "handed-over",
            Self::Crowd => "crowd",
            Self::Dead => "one-dead",
            Self::Hung => "one-hung",
        }
    }

    /// Returns what was allocated when the count began and when it ended.
    pub(crate) async fn run(self, cycles: u64) -> (Tally, Tally) {
        if self == Self::Floor {
            let mut floor = floor::Floor::new(RESOURCE);
            floor.cycles(WARM_UP).await;
            HEAP.count();
            let first = HEAP.tally();
            floor.cycles(cycles).await;
            return (first, HEAP.tally());
        }
        let redlock = self.connect().await;
        self.cycles(&redlock, WARM_UP).await;
        HEAP.count();
        let first = HEAP.tally();
        self.cycles(&redlock, cycles).await;
        let last = HEAP.tally();
        if self != Self::Hung {
            redlock.shutdown().await.expect("all releases confirmed");
        }
        (first, last)
    }

    async fn connect(self) -> Redlock {
        let builder = Redlock::builder().max_ttl(LONG).ttl(LONG).acquire_timeout(LONG);
        let builder = builder.operation_timeout(LONG / 10).connect_timeout(LONG / 10);
        let builder = match self {
            // The masters of a guarded client have been up for a day.
            Self::Unguarded => builder.restart_guard(RestartGuard::Off),
            _ => builder,
        };
        let builder = (0..NODES).fold(builder, |builder, node| self.add(builder, node));
        builder.connect().await.expect("masters")
    }

    /// Adds a node. The last master is the one that fails.
    fn add(self, builder: RedlockBuilder, node: usize) -> RedlockBuilder {
        let name = format!("redis://scripted-{node}.invalid");
        match self {
            Self::Dead if node + 1 == NODES => {
                let refused = || io::Error::from(io::ErrorKind::ConnectionRefused);
                builder.node_with_connector(name, move || ready(Err::<Master, _>(refused())))
            }
            Self::Hung if node + 1 == NODES => {
                builder.node_with_connector(name, move || ready(Ok(Master::new(node, Mood::Hangs))))
            }
            _ => builder
                .node_with_connector(name, move || ready(Ok(Master::new(node, Mood::Grants)))),
        }
    }

    async fn cycles(self, redlock: &Redlock, cycles: u64) {
        match self {
            Self::HandedOver => {
                let latest = Arc::new(AtomicU64::new(0));
                let tasks = [(1, cycles.div_ceil(2)), (2, cycles / 2)].map(|(task, share)| {
                    let (redlock, latest) = (redlock.clone(), latest.clone());
                    tokio::spawn(async move { alternate(&redlock, task, share, &latest).await })
                });
                let mut passed_on = 0;
                for task in tasks {
                    passed_on += task.await.expect("a task that ends");
                }
                assert!(passed_on + 2 >= cycles, "passed on {passed_on} times in {cycles}");
            }
            Self::Crowd => {
                let tasks = (0..TASKS).map(|task| {
                    let share = cycles / TASKS + u64::from(task < cycles % TASKS);
                    let (redlock, resource) = (redlock.clone(), format!("bench:crowd:{task}"));
                    tokio::spawn(async move { on_its_own(&redlock, &resource, share).await })
                });
                for task in tasks.collect::<Vec<_>>() {
                    task.await.expect("a task that ends");
                }
            }
            Self::Fenced => {
                for _ in 0..cycles {
                    let guard = redlock.acquire(RESOURCE).fenced().await.expect("a free lock");
                    assert_eq!(guard.release().await, Ok(Released::Confirmed));
                }
            }
            _ => alone(redlock, cycles).await,
        }
    }
}

async fn alone(redlock: &Redlock, cycles: u64) {
    for _ in 0..cycles {
        let guard = redlock.acquire(RESOURCE).await.expect("a free lock");
        assert_eq!(guard.release().await, Ok(Released::Confirmed));
    }
}

/// Does the same as [`alone`], with the task's name as the resource.
async fn on_its_own(redlock: &Redlock, resource: &str, cycles: u64) {
    for _ in 0..cycles {
        let guard = redlock.acquire(resource).await.expect("a free lock");
        assert_eq!(guard.release().await, Ok(Released::Confirmed));
    }
}

/// Counts how often the lock came from the other task.
async fn alternate(redlock: &Redlock, task: u64, cycles: u64, latest: &AtomicU64) -> u64 {
    let mut passed_on = 0;
    for _ in 0..cycles {
        let guard = redlock.acquire(RESOURCE).await.expect("a lock that becomes free");
        passed_on += u64::from(latest.swap(task, Ordering::Relaxed) != task);
        // A waiter has asked by now.
        tokio::task::yield_now().await;
        assert_eq!(guard.release().await, Ok(Released::Confirmed));
    }
    passed_on
}

//! A client in its own process: several tasks that acquire, hold, extend, write and release.

mod burst;
mod orders;
mod own_clock;
mod task;
mod wish;

pub(crate) use orders::{MAX_TTL, Orders, Party, Spoiled, VARIABLE, WINDOW};

use super::history::What;
use super::journal::Journal;
use crate::support::seed::Seed;
use futures::future::join_all;
use quorumlock::{ConnectError, Redlock};
use rustix::process::{Signal, set_parent_process_death_signal};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;
use task::{Place, Process, Task};
use tokio::io::AsyncReadExt;
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// Name of the test that runs as such a process.
pub(crate) const TEST: &str = "chaos::a_client_process";

/// Pause after which a refused client tries again.
const REFUSED: Duration = Duration::from_millis(300);

/// Runs the client as ordered. Without orders there is nothing to do.
pub(crate) fn run_if_ordered() {
    let Some(orders) = Orders::from_environment() else { return };
    // Even if it is stopped just then: it would otherwise be left forever.
    set_parent_process_death_signal(Some(Signal::KILL)).expect("PR_SET_PDEATHSIG");
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = runtime.worker_threads(2).enable_all().build().expect("a runtime");
    runtime.block_on(live(orders));
}

/// Runs until standard input ends, and then for as long as it takes to release everything.
async fn live(orders: Orders) {
    let journal = Arc::new(Journal::open(&orders.history));
    let asked_to_end = tokio::spawn(async { tokio::io::stdin().read(&mut [0; 1]).await });
    std::thread::spawn({
        let (journal, name) = (journal.clone(), orders.name.clone());
        move || journal.note_freezes(&name, || false)
    });
    let first = own_clock::Reading::take();
    // The tasks at work share a client, and so do those next to bursts. In the crowd each has one.
    let connects = (0..orders.crowd + 2).map(|_| connect(&orders, &journal, &asked_to_end));
    let clients: Option<Vec<Redlock>> = join_all(connects).await.into_iter().collect();
    let Some(clients) = clients else {
        journal.note(&orders.name, What::Gone { owed: 0 });
        return;
    };
    let (end, ending) = watch::channel(false);
    let mut rng = Seed(orders.seed).rng();
    let ids = Arc::new(AtomicU64::new(0));
    let process = Process { journal: journal.clone(), ids, ending, orders: orders.clone() };
    let mut tasks = Vec::new();
    let at_work = std::iter::repeat_n((&clients[0], Place::Work), orders.tasks);
    let bursts = [Place::Kept, Place::Kept, Place::Burst].map(|place| (&clients[1], place));
    let in_the_crowd = clients[2..].iter().map(|redlock| (redlock, Place::Crowd));
    for (n, (redlock, place)) in at_work.chain(bursts).chain(in_the_crowd).enumerate() {
        let who = format!("{}.{n}", orders.name);
        let task = Task::new(who, place, redlock.clone(), rng.fork(), process.clone());
        tasks.push(tokio::spawn(async move { task.await.work().await }));
    }
    let _ended = asked_to_end.await;
    end.send_replace(true);
    for task in tasks {
        task.await.expect("a task that does not panic");
    }
    if let Some(wrong) = own_clock::wrong(&orders, first) {
        journal.note(&orders.name, What::Odd(wrong));
    }
    let owed = join_all(clients.iter().map(|client| async {
        client.shutdown().await.map_or_else(|error| error.owed.max(1), |()| 0)
    }));
    journal.note(&orders.name, What::Gone { owed: owed.await.into_iter().sum() });
}

/// Connects, and retries for as long as clients with other settings have it refused. Returns `None`
/// if it must end or the connection cannot be made.
async fn connect<T>(orders: &Orders, journal: &Journal, end: &JoinHandle<T>) -> Option<Redlock> {
    loop {
        match orders.builder().connect().await {
            Ok(redlock) => return Some(redlock),
            Err(ConnectError::Disagreement(_)) if orders.at_odds && !end.is_finished() => {
                tokio::time::sleep(REFUSED).await;
            }
            Err(ConnectError::Disagreement(_)) if orders.at_odds => return None,
            Err(error) => {
                journal.note(&orders.name, What::Odd(format!("connect: {error}")));
                return None;
            }
        }
    }
}

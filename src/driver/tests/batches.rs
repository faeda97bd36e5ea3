//! The number of commands that leave together when many callers lock at once. Each write is a
//! system call, here and at the master.

use super::tap::Tap;
use super::*;
use crate::Released;
use futures::future::join_all;
use std::thread;
use tokio::runtime::Builder;
use tokio::sync::oneshot;

const CALLERS: usize = 16;
const LOCKS: usize = 25;
const ROUNDS: usize = 10;

async fn locks(redlock: Redlock, resource: Arc<str>) {
    for _ in 0..LOCKS {
        let guard = redlock.acquire(resource.clone()).await.expect("a free lock");
        assert_eq!(guard.release().await, Ok(Released::Confirmed));
    }
}

/// Starts one master, on a thread of its own, so that answers come from outside, as from the
/// kernel. It runs until the sender is dropped.
async fn master_apart() -> (Masters, oneshot::Sender<()>) {
    let ((give, have), (end, ended)) = (oneshot::channel(), oneshot::channel());
    thread::spawn(move || {
        let runtime = Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            give.send(Masters::start_in_memory(1).unwrap()).ok().unwrap();
            ended.await
        })
    });
    (have.await.unwrap(), end)
}

/// Returns how often the client wrote to its master while all callers locked at once.
async fn writes_of_all(redlock: &Redlock, tap: &Tap) -> usize {
    let before = tap.writes();
    let callers = (0..CALLERS).map(|caller| {
        let resource = format!("orders:{caller}").into();
        tokio::spawn(locks(redlock.clone(), resource))
    });
    for caller in join_all(callers.collect::<Vec<_>>()).await {
        caller.unwrap();
    }
    tap.writes() - before
}

/// A worker runs the task that was woken last before those that were woken earlier. The driver
/// would come right after the first of many callers that asks, and write for that caller alone.
///
/// Where the machine takes the processor from the master halfway, callers fall apart for good into
/// those answered before and after. So the best round counts.
#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn what_callers_answered_together_ask_next_leaves_together() {
    let ((masters, _end), tap) = (master_apart().await, Tap::default());
    let redlock = tap.builder(&masters).connect().await.unwrap();
    let commands = 2 * CALLERS * LOCKS;
    let mut rounds = Vec::new();
    while rounds.len() < ROUNDS && !rounds.iter().any(|&writes| commands >= 10 * writes) {
        rounds.push(writes_of_all(&redlock, &tap).await);
    }
    let fewest = *rounds.iter().min().expect("a round");
    assert!(commands >= 10 * fewest, "{rounds:?} writes of {commands} commands");
}

//! Many tasks compete for one lock: each section is exclusive, every task gets a turn, and the cost
//! at the masters is bounded.

use super::prelude::*;
use futures::future::join_all;
use quorumlock::Redlock;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

const WAITERS: usize = 32;
const WORK: Duration = Duration::from_millis(2);
/// All contend until each has had this many turns.
const TURNS: usize = 3;
/// A task that has not had its turns by then has starved.
const PATIENCE: Duration = Duration::from_secs(30);
/// The floor is 20: on each of five masters a SET, and a release of three commands (the script and
/// its calls). 20 and 21 are measured; waiters that retry without a pause cost thousands.
const MOST_COMMANDS_PER_SECTION: u64 = 50;

/// State that the lock protects.
#[derive(Default)]
struct Shared {
    occupied: AtomicBool,
    sections: AtomicUsize,
    /// Number of waiters that have had their turns.
    served: AtomicUsize,
}

impl Shared {
    async fn enter(&self) {
        assert!(!self.occupied.swap(true, Ordering::SeqCst), "two at the same time");
        tokio::time::sleep(WORK).await;
        self.sections.fetch_add(1, Ordering::SeqCst);
        assert!(self.occupied.swap(false, Ordering::SeqCst), "two at the same time");
    }
}

/// Runs one waiter among many; returns how many sections it got.
async fn wait_and_work(redlock: Redlock, shared: Arc<Shared>) -> usize {
    let mut sections = 0;
    while shared.served.load(Ordering::SeqCst) < WAITERS {
        let guard = redlock.acquire("r").timeout(PATIENCE).await.expect("no client starves");
        shared.enter().await;
        assert!(guard.is_valid());
        guard.release().await.unwrap();
        sections += 1;
        if sections == TURNS {
            shared.served.fetch_add(1, Ordering::SeqCst);
        }
    }
    sections
}

async fn commands(masters: &Masters) -> u64 {
    join_all(masters.iter().map(witness::command_count)).await.into_iter().sum()
}

async fn contend(processes: usize) {
    let masters = Masters::start(5);
    let mut clients = Vec::new();
    for _ in 0..processes {
        clients.push(masters.builder().connect().await.unwrap());
    }
    let shared = Arc::new(Shared::default());
    let (before, began) = (commands(&masters).await, Instant::now());
    let waiters = (0..WAITERS).map(|waiter| {
        let redlock = clients[waiter % processes].clone();
        tokio::spawn(wait_and_work(redlock, shared.clone()))
    });
    let served = tokio::time::timeout(PATIENCE, join_all(waiters)).await;
    let served = served.expect("everybody has had a turn, and another, and a third");
    let mut turns: Vec<usize> = served.into_iter().map(|turns| turns.unwrap()).collect();
    let took = began.elapsed();
    let sections = shared.sections.load(Ordering::SeqCst);
    let spent = commands(&masters).await - before;
    turns.sort_unstable();
    let (fewest, most) = (turns[0], turns[turns.len() - 1]);
    let each = spent / sections as u64;
    eprintln!(
        "{processes} coordinators, {WAITERS} waiters: {sections} sections in {took:.1?}, \
         {fewest} to {most} each, {each} commands a section on five masters"
    );
    assert_eq!(turns.iter().sum::<usize>(), sections);
    assert!(fewest >= TURNS, "{turns:?}");
    assert!(each <= MOST_COMMANDS_PER_SECTION, "{each} commands a section");
    witness::eventually_no_keys(&masters, PATIENCE).await;
}

#[tokio::test(start_paused = true)]
async fn waiters_of_one_process_enter_one_by_one_at_a_bounded_cost() {
    contend(1).await;
}

#[tokio::test(start_paused = true)]
async fn waiters_of_two_processes_enter_one_by_one_at_a_bounded_cost() {
    contend(2).await;
}

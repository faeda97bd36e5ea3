//! What waiters in turn see of their queue, in virtual time: each counts those before it, and the
//! first of them is served.

use super::*;
use crate::{AcquireFuture, RestartGuard};
use futures::FutureExt;
use std::future::IntoFuture;

/// Longer than the time between two looks of any waiter.
const QUIET: Duration = Duration::from_millis(1_500);
const CLIENTS: usize = 6;
const QUEUE: &str = "quorumlock:queue:orders:42";
const ALIVE: &str = "quorumlock:alive:orders:42";

/// What each client of a line does, in the order in which they came.
struct Line {
    clients: Vec<Redlock>,
    holder: Option<(usize, Guard)>,
    waiting: Vec<(usize, AcquireFuture)>,
}

impl Line {
    async fn new(masters: &Masters) -> Self {
        let mut clients = Vec::new();
        for _ in 0..CLIENTS {
            let builder = masters.builder().fair(true).ttl(60 * SECOND).max_ttl(60 * SECOND);
            clients.push(connect(builder.restart_guard(RestartGuard::Off)).await);
        }
        Self { clients, holder: None, waiting: Vec::new() }
    }

    fn is_idle(&self, client: usize) -> bool {
        let waits = self.waiting.iter().any(|(waiter, _)| *waiter == client);
        !waits && self.holder.as_ref().is_none_or(|(holder, _)| *holder != client)
    }

    /// One client comes, gives up or releases.
    fn one_step(&mut self, dice: usize) {
        let client = dice / 8 % CLIENTS;
        match dice % 8 {
            0 | 1 if self.holder.is_some() => drop(self.holder.take()),
            2 if !self.waiting.is_empty() => {
                drop(self.waiting.remove(dice / 8 % self.waiting.len()));
            }
            _ if self.is_idle(client) => {
                let acquire = self.clients[client].acquire(KEY).no_timeout();
                self.waiting.push((client, acquire.into_future()));
            }
            _ => {}
        }
    }

    /// Lets time pass. The one that is served must be the first.
    async fn rest(&mut self) {
        let until = tokio::time::Instant::now() + QUIET;
        while tokio::time::Instant::now() < until {
            let served = self.waiting.iter_mut().map(|(_, acquire)| acquire.now_or_never());
            let served: Vec<_> = served.collect();
            for (place, served) in served.into_iter().enumerate() {
                let Some(guard) = served else { continue };
                let (client, _) = self.waiting.remove(place);
                assert_eq!(place, 0, "client {client} is served out of turn");
                assert!(self.holder.replace((client, guard.unwrap())).is_none(), "two hold it");
            }
            sleep(MS).await;
        }
    }

    fn ahead(&self) -> Vec<Option<usize>> {
        self.waiting.iter().map(|(_, acquire)| acquire.ahead()).collect()
    }
}

#[tokio::test(start_paused = true)]
async fn each_waiter_counts_those_that_came_before_it_and_the_first_is_served() {
    for seed in 1..=12_usize {
        let masters = five();
        let mut line = Line::new(&masters).await;
        let (mut random, mut counted) = (seed, 0);
        for step in 0..40 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(seed);
            line.one_step(random >> 33);
            line.rest().await;
            let expected: Vec<_> = (0..line.waiting.len()).map(Some).collect();
            assert_eq!(line.ahead(), expected, "seed {seed}, step {step}");
            counted += expected.len();
        }
        assert!(counted > 20, "seed {seed}: only {counted} were counted");
    }
}

/// A look of a waiter that is about to die, first in the queue.
async fn dead_looks(masters: &Masters) {
    let ends = (Duration::from_nanos(now().as_nanos()) + 3 * SECOND).as_millis().to_string();
    for master in masters.iter() {
        operate(master, &["ZADD", QUEUE, "1", "dead"]).await;
        operate(master, &["ZADD", ALIVE, &ends, "dead"]).await;
    }
}

/// One of two waiters dies, and its place outlives it. A newcomer's first attempt is a plain SET.
#[tokio::test(start_paused = true)]
async fn where_the_first_has_died_no_newcomer_passes_the_next() {
    for after in (100..4_500).step_by(200) {
        let masters = five();
        let line = Line::new(&masters).await;
        let holder = line.clients[0].acquire(KEY).await.unwrap();
        dead_looks(&masters).await;
        let served = Arc::new(Mutex::new(Vec::new()));
        let waits = |client: usize| {
            let (redlock, served) = (line.clients[client].clone(), Arc::clone(&served));
            tokio::spawn(async move {
                let guard = redlock.acquire(KEY).no_timeout().await.unwrap();
                served.lock().unwrap().push(client);
                sleep(20 * MS).await;
                guard.release().await.unwrap();
            })
        };
        let next = waits(1);
        sleep(710 * MS).await;
        dead_looks(&masters).await;
        sleep(100 * MS).await;
        holder.release().await.unwrap();
        sleep(after * MS).await;
        let newcomer = waits(2);
        next.await.unwrap();
        newcomer.await.unwrap();
        assert_eq!(*served.lock().unwrap(), [1, 2], "a newcomer after {after} ms");
    }
}

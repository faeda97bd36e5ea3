//! Tasks of one process that want the same lock.

use super::{CONTEND, Failed, Worker, number};
use crate::contenders::Client;
use futures::future::join_all;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tokio::time::sleep;

pub(crate) const RESOURCE: &str = "bench:contended";

/// Duration of the work under the lock.
pub(super) const WORK: Duration = Duration::from_millis(2);

/// Longest wait of a task once all the others have stopped.
const DRAIN: Duration = Duration::from_secs(20);

/// Results of the tasks of a worker.
pub(crate) struct Contended {
    /// Sections, including those that ended after the span.
    pub(crate) all: f64,
    /// The sum over the sections within the span, from the win to the call of the release.
    pub(crate) held_us: f64,
    /// Sections within the span, task by task.
    pub(crate) sections: Vec<f64>,
}

impl Worker {
    pub(crate) fn order_contend(&mut self, tasks: usize, pause: Duration, span: Duration) {
        self.order(&format!("{CONTEND} {tasks} {} {}", pause.as_millis(), span.as_millis()));
    }

    pub(crate) fn contended(&mut self, span: Duration) -> Result<Contended, Failed> {
        let figures = self.answer(span + DRAIN)?;
        let [all, held_us, sections @ ..] = figures.as_slice() else {
            panic!("too few figures: {figures:?}");
        };
        Ok(Contended { all: *all, held_us: *held_us, sections: sections.to_vec() })
    }
}

pub(super) async fn obey<C: Client>(client: &C, order: &str) -> Vec<f64> {
    let mut words = order.split_whitespace();
    let tasks = number(&mut words);
    let pause = Duration::from_millis(number(&mut words));
    let until = Instant::now() + Duration::from_millis(number(&mut words));
    let occupied = Arc::new(AtomicBool::new(false));
    let tasks = (0..tasks).map(|_| {
        let (client, occupied) = (client.clone(), occupied.clone());
        tokio::spawn(sections(client, occupied, pause, until))
    });
    let tasks = join_all(tasks.collect::<Vec<_>>()).await;
    let tasks: Vec<_> = tasks.into_iter().map(|task| task.expect("a task that ends")).collect();
    let all = tasks.iter().map(|task| task.all).sum();
    let held: Duration = tasks.iter().map(|task| task.held).sum();
    let sections = tasks.iter().map(|task| task.within);
    [all, held.as_secs_f64() * 1e6].into_iter().chain(sections).collect()
}

#[derive(Default)]
struct Task {
    all: f64,
    within: f64,
    held: Duration,
}

async fn sections<C: Client>(
    client: C,
    occupied: Arc<AtomicBool>,
    pause: Duration,
    until: Instant,
) -> Task {
    let resource = Arc::from(RESOURCE);
    let mut task = Task::default();
    while Instant::now() < until {
        let held = client.acquire(&resource).await;
        let won = Instant::now();
        assert!(!occupied.swap(true, Ordering::SeqCst), "two holders in one process");
        sleep(WORK).await;
        occupied.store(false, Ordering::SeqCst);
        let ended = Instant::now();
        client.release(held).await;
        task.all += 1.0;
        if ended < until {
            task.within += 1.0;
            task.held += ended - won;
        }
        if !pause.is_zero() {
            sleep(pause).await;
        }
    }
    task
}

//! Clients of one process, each with connections of its own, that want the same lock.

use super::contend::WORK;
use super::{CROWD, Failed, GATHER, Worker, number};
use crate::contenders::Client;
use crate::workloads::micros;
use futures::future::join_all;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tokio::time::{sleep, timeout_at};

/// Bound on the time for the clients to connect.
const CONNECTING: Duration = Duration::from_secs(30);

/// Bound on the time for the last of them to end their work.
const ENDING: Duration = Duration::from_secs(20);

/// Clients that connect at the same time.
const AT_ONCE: usize = 16;

/// What the clients of a worker have had within the span.
pub(crate) struct Crowded {
    /// Longest wait of a client, in seconds. One that is still waiting has waited until the end.
    pub(crate) longest: f64,
    /// Sections, client by client.
    pub(crate) sections: Vec<f64>,
}

impl Worker {
    /// Connects so many clients.
    pub(crate) fn gather(&mut self, clients: usize) -> Result<(), Failed> {
        self.order(&format!("{GATHER} {clients}"));
        self.answer(CONNECTING).map(|connected| assert_eq!(connected, [clients as f64]))
    }

    pub(crate) fn order_crowd(&mut self, resource: &str, warm_up: Duration, span: Duration) {
        let (warm_up, span) = (warm_up.as_millis(), span.as_millis());
        self.order(&format!("{CROWD} {warm_up} {span} {resource}"));
    }

    /// Returns the result of that order; `whole` is warm-up and span together.
    pub(crate) fn crowded(&mut self, whole: Duration) -> Result<Crowded, Failed> {
        let figures = self.answer(whole + ENDING)?;
        let [longest_us, sections @ ..] = figures.as_slice() else {
            panic!("no figures");
        };
        Ok(Crowded { longest: longest_us / 1e6, sections: sections.to_vec() })
    }
}

pub(super) async fn gather<C: Client>(
    crowd: &mut Vec<C>,
    connect: impl AsyncFn() -> C,
    order: &str,
) -> Vec<f64> {
    let wanted = number(&mut order.split_whitespace()) as usize;
    allow_all_files();
    while crowd.len() < wanted {
        let some = (0..AT_ONCE.min(wanted - crowd.len())).map(|_| connect());
        crowd.extend(join_all(some).await);
    }
    vec![crowd.len() as f64]
}

/// Lets this process have as many connections as it may.
fn allow_all_files() {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum })
        .expect("a limit that may be used");
}

pub(super) async fn obey<C: Client>(crowd: &[C], order: &str) -> Vec<f64> {
    let mut words = order.split_whitespace();
    let from = Instant::now() + Duration::from_millis(number(&mut words));
    let until = from + Duration::from_millis(number(&mut words));
    let resource: Arc<str> = words.next().expect("a resource").into();
    let holders = Arc::new(AtomicUsize::new(0));
    let clients = crowd.iter().map(|client| {
        let (client, resource, holders) = (client.clone(), resource.clone(), holders.clone());
        tokio::spawn(sections(client, resource, holders, from, until))
    });
    let clients = join_all(clients.collect::<Vec<_>>()).await;
    let turns: Vec<_> = clients.into_iter().map(|turn| turn.expect("a client that ends")).collect();
    let longest = turns.iter().map(|turn| turn.longest).max().unwrap_or_default();
    [micros(longest)].into_iter().chain(turns.iter().map(|turn| turn.sections)).collect()
}

#[derive(Default)]
struct Turn {
    sections: f64,
    longest: Duration,
}

async fn sections<C: Client>(
    client: C,
    resource: Arc<str>,
    holders: Arc<AtomicUsize>,
    from: Instant,
    until: Instant,
) -> Turn {
    let mut turn = Turn::default();
    while Instant::now() < until {
        let asked = Instant::now().max(from);
        // Whatever a client leaves behind that stops to wait: the masters are emptied after each turn.
        let held = timeout_at(until.into(), client.acquire(&resource)).await;
        turn.longest = turn.longest.max(Instant::now().saturating_duration_since(asked));
        if let Ok(held) = held {
            let others = holders.fetch_add(1, Ordering::SeqCst);
            assert!(others < C::HOLDERS, "{} holders in one process", others + 1);
            sleep(WORK).await;
            holders.fetch_sub(1, Ordering::SeqCst);
            let ended = Instant::now();
            turn.sections += f64::from(u8::from((from..until).contains(&ended)));
            client.release(held).await;
        }
    }
    turn
}

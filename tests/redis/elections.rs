//! Elections on real masters: leaders that are killed, cut off or resign, and their observers.
//! On a real clock: each candidate has a runtime and sockets of its own, which end as those of a process.

use crate::support::prelude::*;
use crate::support::proxy::{Cut, Direction, Proxy, in_front_of};
use quorumlock::{FencedLease, Leader, Redlock, RedlockBuilder, RestartGuard};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::net::TcpStream;
use tokio::runtime::Runtime;
use tokio::sync::Notify;
use tokio::time::timeout;

const TTL: Duration = Duration::from_millis(1200);
/// Bound on what takes one ttl and a few round trips on an idle machine.
const PATIENCE: Duration = Duration::from_secs(20);

/// One leadership: its candidate, its term, and between which instants it was certainly valid.
#[derive(Clone, Debug)]
struct Reign {
    candidate: usize,
    term: u64,
    from: Instant,
    until: Instant,
}

/// What the observer saw, and when.
type Seen = Arc<Mutex<Vec<(Instant, Option<Leader>)>>>;
type Reigns = Arc<Mutex<Vec<Reign>>>;

/// A candidate: a client with a runtime and connections of its own.
struct Candidate {
    runtime: Option<Runtime>,
    proxies: Vec<Proxy>,
    resigns: Arc<Notify>,
}

fn builder(masters: &Masters, proxies: &[Proxy]) -> RedlockBuilder {
    let mut builder = Redlock::builder().restart_guard(RestartGuard::Off).ttl(TTL).max_ttl(2 * TTL);
    for (master, proxy) in masters.iter().zip(proxies) {
        let address = proxy.addr();
        builder = builder.node_with_connector(master.url(), move || async move {
            TcpStream::connect(address).await
        });
    }
    builder
}

/// Records its reign for as long as it is valid, or until it is to resign.
async fn reign(candidate: usize, lease: FencedLease, reigns: Reigns, resigns: Arc<Notify>) {
    let term = lease.fencing_token().as_u64();
    lease.check().expect("it has just begun");
    let from = Instant::now();
    let place = {
        let mut reigns = reigns.lock().unwrap();
        reigns.push(Reign { candidate, term, from, until: from });
        reigns.len() - 1
    };
    loop {
        let until = Instant::now();
        if lease.check().is_err() {
            return std::future::pending().await; // dropped by the loss
        }
        reigns.lock().unwrap()[place].until = until;
        if timeout(MS, resigns.notified()).await.is_ok() {
            return;
        }
    }
}

impl Candidate {
    fn start(number: usize, masters: &Masters, reigns: &Reigns) -> Self {
        let proxies = in_front_of(masters.iter().map(Server::addr));
        let builder = builder(masters, &proxies);
        let runtime = tokio::runtime::Builder::new_multi_thread();
        let runtime = { runtime }.worker_threads(1).enable_all().build().unwrap();
        let resigns = Arc::new(Notify::new());
        let (reigns, signal) = (reigns.clone(), resigns.clone());
        runtime.spawn(async move {
            let redlock = builder.connect().await.unwrap();
            let election = redlock.election("scheduler").ttl(TTL);
            let body = |lease| reign(number, lease, reigns.clone(), signal.clone());
            election.run(format!("candidate {number}"), body).await.unwrap();
        });
        Self { runtime: Some(runtime), proxies, resigns }
    }

    /// Ends it as a kill does: nothing is released, and nothing more is sent.
    fn kill(&mut self) {
        self.runtime.take().expect("it lives").shutdown_background();
    }

    fn cut_off(&self) {
        for proxy in &self.proxies {
            proxy.hold(Direction::ToServer);
            proxy.hold(Direction::ToClient);
        }
    }

    async fn reconnect(&self) {
        for proxy in &self.proxies {
            proxy.cut(Cut::Reset);
            proxy.let_go(Direction::ToServer);
            proxy.let_go(Direction::ToClient);
        }
    }
}

impl Drop for Candidate {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

async fn nth(reigns: &Reigns, number: usize) -> usize {
    let begun = async || reigns.lock().unwrap().len() >= number;
    eventually(&format!("leader {number} leads"), PATIENCE, begun).await;
    reigns.lock().unwrap()[number - 1].candidate
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_leads_at_a_time_in_rising_terms_that_observers_see() {
    let masters = Masters::start(3);
    let reigns = Reigns::default();
    let mut candidates: Vec<_> =
        (0..3).map(|number| Candidate::start(number, &masters, &reigns)).collect();

    let direct = masters.builder().ttl(TTL).max_ttl(2 * TTL).connect().await.unwrap();
    let seen = Seen::default();
    let (into, election) = (seen.clone(), direct.election("scheduler").ttl(TTL));
    let observer = tokio::spawn(async move {
        let mut leaders = election.observe();
        while let Some(Ok(leader)) = leaders.next().await {
            into.lock().unwrap().push((Instant::now(), leader));
        }
    });
    let sees = async |term: u64| {
        let sees = async || {
            let seen = seen.lock().unwrap();
            seen.iter().flat_map(|(_, leader)| leader).any(|leader| leader.term.as_u64() == term)
        };
        eventually(&format!("the observer sees term {term}"), PATIENCE, sees).await;
    };
    let term = |number: usize| reigns.lock().unwrap()[number - 1].term;

    let first = nth(&reigns, 1).await;
    sees(term(1)).await;
    candidates[first].kill();
    let second = nth(&reigns, 2).await;
    sees(term(2)).await;
    candidates[second].cut_off();
    let third = nth(&reigns, 3).await;
    sees(term(3)).await;
    candidates[second].reconnect().await;
    candidates[third].resigns.notify_one();
    let fourth = nth(&reigns, 4).await;
    sees(term(4)).await;
    assert_eq!(fourth, second, "the one that is left");

    candidates[fourth].resigns.notify_one();
    let vacant = async || matches!(seen.lock().unwrap().last(), Some((_, None)));
    eventually("the observer sees no leader", PATIENCE, vacant).await;
    direct.shutdown().await.unwrap();
    timeout(PATIENCE, observer).await.expect("it ends with its client").unwrap();

    let reigns = reigns.lock().unwrap().clone();
    assert_eq!(reigns.len(), 4, "{reigns:?}");
    for two in reigns.windows(2) {
        assert!(two[0].term < two[1].term, "{two:?}");
        assert!(two[0].until < two[1].from, "both were valid at once: {two:?}");
    }
    let seen = seen.lock().unwrap();
    let terms: Vec<u64> =
        seen.iter().flat_map(|(_, leader)| leader).map(|leader| leader.term.as_u64()).collect();
    assert_eq!(terms, reigns.iter().map(|reign| reign.term).collect::<Vec<_>>());
    for reign in &reigns {
        let is_it = |leader: &Leader| leader.term.as_u64() == reign.term;
        let (at, leader) = seen
            .iter()
            .find(|(_, leader)| leader.as_ref().is_some_and(is_it))
            .expect("it was seen");
        assert_eq!(leader.as_ref().unwrap().value, format!("candidate {}", reign.candidate));
        let after = at.saturating_duration_since(reign.from);
        // A third of the ttl and a round trip; the rest is for a busy machine.
        assert!(after < TTL / 3 + 3 * SECOND, "term {} was seen after {after:?}", reign.term);
    }
}

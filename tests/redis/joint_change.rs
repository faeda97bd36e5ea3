//! One of five living masters is replaced under load. A, B, C, D are in both lists, E is the one
//! that goes, F the one that comes. Half of the clients reach A, B and E first and the other half
//! C, D and F: majorities of the old list and of the new one without a master in common.
//! On a real clock: the load is that of threads on servers, which give what they have time for.

use crate::support::counter::Counter;
use crate::support::prelude::*;
use crate::support::proxy::{Direction, Proxy, in_front_of};
use crate::support::seed::{Rng, Seed};
use futures::future::join_all;
use quorumlock::error::ConnectError;
use quorumlock::{FencingToken, FencingWindow, Redlock, RedlockBuilder, RestartGuard};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::task::JoinHandle;

/// The ttl of each lock, and the longest that is allowed.
const TTL: Duration = Duration::from_secs(2);
/// Delay of the SETs to the masters of the other side.
const SLOW: Duration = Duration::from_millis(10);
/// A client's notes of its lists remain for the longest ttl, its drift and a heartbeat's time.
const LAPSED: Duration = Duration::from_secs(30);
const PHASE: Duration = Duration::from_millis(700);
const CLIENTS: usize = 2;

const E: usize = 4;
const F: usize = 5;
const OLD: [usize; 5] = [0, 1, 2, 3, E];
const NEW: [usize; 5] = [0, 1, 2, 3, F];
const NAMES: [&str; 6] = [
    "redis://a.example",
    "redis://b.example",
    "redis://c.example",
    "redis://d.example",
    "redis://e.example",
    "redis://f.example",
];

/// The masters that are near a client.
#[derive(Clone, Copy)]
enum Side {
    /// A, B, E.
    Old = 0,
    /// C, D, F.
    New = 1,
}

const NEAR: [[usize; 3]; 2] = [[0, 1, E], [2, 3, F]];

/// Six masters, and a network for each side.
struct Place {
    masters: Masters,
    sides: [Vec<Proxy>; 2],
    /// Set if the clients also win fencing tokens, each greater than all before it.
    fenced: bool,
    counter: Counter,
    /// The greatest fencing token so far, and the number of tokens.
    greatest: Mutex<Option<FencingToken>>,
    tokens: AtomicU64,
    rng: Mutex<Rng>,
}

/// The work of clients of one kind.
struct Work {
    stop: Arc<AtomicBool>,
    tasks: Vec<JoinHandle<()>>,
}

impl Place {
    fn new(fenced: bool) -> Arc<Self> {
        let masters = Masters::start(6);
        let sides = NEAR.map(|near| {
            let proxies = in_front_of(masters.iter().map(Server::addr));
            for (node, proxy) in proxies.iter().enumerate() {
                if !near.contains(&node) {
                    proxy.delay(Direction::ToServer, SLOW);
                }
            }
            proxies
        });
        let seed = Seed::from_env("QUORUMLOCK_SEED");
        Arc::new(Self {
            masters,
            sides,
            fenced,
            counter: Counter::default(),
            greatest: Mutex::default(),
            tokens: AtomicU64::new(0),
            rng: Mutex::new(seed.rng()),
        })
    }

    async fn connect(
        &self,
        side: Side,
        nodes: [usize; 5],
        also: Option<[usize; 5]>,
    ) -> Result<Redlock, ConnectError> {
        let dial = |node: usize| {
            let address = self.sides[side as usize][node].addr();
            move || TcpStream::connect(address)
        };
        let builder = Redlock::builder()
            .ttl(TTL)
            .max_ttl(TTL)
            .fencing_window(FencingWindow { back: 500 * MS, ahead: 500 * MS });
        // In a list hardly two clients try at a time.
        let builder = builder.restart_guard(RestartGuard::Off).wake_ups(false);
        let node =
            |builder: RedlockBuilder, node| builder.node_with_connector(NAMES[node], dial(node));
        let builder = nodes.into_iter().fold(builder, node);
        let also_node =
            |builder: RedlockBuilder, node| builder.joint_with_connector(NAMES[node], dial(node));
        also.into_iter().flatten().fold(builder, also_node).connect().await
    }

    async fn old(&self) -> Result<Redlock, ConnectError> {
        self.connect(Side::Old, OLD, None).await
    }

    async fn new_only(&self) -> Result<Redlock, ConnectError> {
        self.connect(Side::New, NEW, None).await
    }

    async fn joint(&self, side: Side) -> Redlock {
        self.connect(side, NEW, Some(OLD)).await.unwrap()
    }

    /// Makes the masters forget all that clients have agreed on.
    async fn forget_the_agreement(&self) {
        let delete = redis::cmd("DEL").arg("quorumlock:agreement").to_owned();
        for server in self.masters.iter() {
            witness::ask::<()>(server, &delete).await.unwrap();
        }
    }

    /// Starts clients that increment the counter, and in parallel win fencing tokens if requested.
    fn set_to_work(self: &Arc<Self>, clients: impl IntoIterator<Item = Redlock>) -> Work {
        let stop = Arc::new(AtomicBool::new(false));
        let mut tasks = Vec::new();
        for redlock in clients {
            let (place, stop) = (self.clone(), stop.clone());
            let rng = self.rng.lock().unwrap().fork();
            tasks.push(tokio::spawn(async move {
                let fenced = async {
                    while place.fenced && !stop.load(SeqCst) {
                        place.win_a_token(&redlock).await;
                    }
                };
                tokio::join!(place.counter.work(&redlock, rng, &stop), fenced);
            }));
        }
        Work { stop, tasks }
    }

    async fn win_a_token(&self, redlock: &Redlock) {
        let Ok(guard) = redlock.acquire("fenced").fenced().await else { return };
        let token = Some(guard.fencing_token());
        let mut greatest = self.greatest.lock().unwrap();
        if guard.is_valid() {
            assert!(token > *greatest, "{token:?} after {greatest:?}");
            *greatest = token;
            self.tokens.fetch_add(1, SeqCst);
        }
    }

    fn done(&self) -> (u64, u64) {
        (self.counter.increments(), self.tokens.load(SeqCst))
    }

    /// Lets all clients work for a while; they must make progress.
    async fn go_on(&self, phase: &str) {
        let before = self.done();
        tokio::time::sleep(PHASE).await;
        let after = self.done();
        assert!(after.0 > before.0 && after.1 > before.1, "{phase}: nothing was done");
        eprintln!("{phase}: {} increments, {} tokens", after.0 - before.0, after.1 - before.1);
    }

    fn overlaps(&self) -> u64 {
        self.counter.overlaps.load(SeqCst)
    }
}

impl Work {
    async fn end(self) {
        self.stop.store(true, SeqCst);
        join_all(self.tasks).await.into_iter().for_each(Result::unwrap);
    }
}

async fn several<F: Future<Output = Redlock>>(connect: impl Fn() -> F) -> Vec<Redlock> {
    join_all((0..CLIENTS).map(|_| connect())).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_live_master_is_replaced_under_load_without_any_overlap() {
    let place = Place::new(true);
    let old = place.set_to_work(several(async || place.old().await.unwrap()).await);
    place.go_on("old").await;

    let mut clients = several(|| place.joint(Side::Old)).await;
    clients.extend(several(|| place.joint(Side::New)).await);
    let joint = place.set_to_work(clients);
    place.go_on("old and joint").await;
    let early = place.new_only().await;
    assert!(matches!(early, Err(ConnectError::Disagreement(_))), "{early:?}");
    old.end().await;
    place.go_on("joint").await;

    // The notes of the old clients have to lapse first.
    eventually("a client of the new list is let in", LAPSED, async || {
        place.new_only().await.is_ok()
    })
    .await;
    let new = place.set_to_work(several(async || place.new_only().await.unwrap()).await);
    place.go_on("joint and new").await;
    joint.end().await;
    place.masters.kill(E);
    place.go_on("new").await;
    new.end().await;

    assert_eq!(place.overlaps(), 0);
    assert_eq!(place.counter.lost(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_the_joint_phase_the_new_list_is_refused() {
    let place = Place::new(true);
    let old = place.set_to_work(several(async || place.old().await.unwrap()).await);
    for _ in 0..3 {
        let error = place.new_only().await.unwrap_err();
        let ConnectError::Disagreement(nodes) = &error else { panic!("{error}") };
        assert!(!nodes.is_empty());
        assert!(error.to_string().contains("joint_with"), "{error}");
    }
    place.go_on("old").await;
    old.end().await;
}

/// The same load and the same network: two lists side by side, without the agreement between
/// clients, have two holders. So the tests above can fail.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn old_and_new_lists_without_an_agreement_overlap() {
    let place = Place::new(false);
    let old = several(async || {
        let old = place.old().await.unwrap();
        // Before its first acquire it would ask once more.
        old.acquire("before").await.unwrap().release().await.unwrap();
        old
    });
    let old = old.await;
    let new = several(async || {
        loop {
            // A client of the old list may have just written it anew.
            place.forget_the_agreement().await;
            if let Ok(new) = place.new_only().await {
                break new;
            }
        }
    });
    let new = new.await;
    let (old, new) = (place.set_to_work(old), place.set_to_work(new));
    eventually("two hold at once", 12 * SOON, async || {
        // A client that has met the other list waits, and asks again.
        place.forget_the_agreement().await;
        place.overlaps() > 0
    })
    .await;
    join_all([old.end(), new.end()]).await;
}

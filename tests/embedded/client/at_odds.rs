//! Clients with different settings, over times after which a client's notes at the masters lapse.
//! There is a client that was stopped, two clients that were cut off from each other, and a client
//! with another `max_ttl` that arrives when the others are gone.

use super::prelude::*;
use crate::proxy::{self, in_front_of, kill_process};
use quorumlock::error::ConnectError;
use quorumlock::{FencingWindow, Redlock, RedlockBuilder, RestartGuard};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;
use tokio::runtime;
use tokio::task::spawn_blocking;

/// Longest time in which a client says nothing to a master.
const SILENCE: Duration = Duration::from_secs(15);

fn with(builder: RedlockBuilder, max_ttl: Duration) -> RedlockBuilder {
    builder
        .restart_guard(RestartGuard::On)
        .ttl(max_ttl)
        .max_ttl(max_ttl)
        .fencing_window(FencingWindow { back: MS, ahead: MS })
}

/// Adds masters that cannot be reached until `healed`.
fn with_cut(
    builder: RedlockBuilder,
    masters: &Masters,
    cut: [usize; 2],
    healed: &Arc<AtomicBool>,
) -> RedlockBuilder {
    cut.into_iter().fold(builder, |builder, node| {
        let (healed, dial) = (healed.clone(), masters[node].dialer());
        builder.node_with_connector(masters[node].url(), move || {
            let dialled = healed.load(Relaxed).then(&dial);
            async move {
                match dialled {
                    Some(dialled) => dialled.await,
                    None => Err(io::Error::other("cut off")),
                }
            }
        })
    })
}

/// A client whose thread is its process: once it has connected, nothing of it runs until the test
/// lets it continue, at which its time is what has passed for the others. Then it acquires `r`, and
/// reports why it does not get it.
struct Stopped {
    since: Instant,
    go_on: mpsc::Sender<Duration>,
    thread: thread::JoinHandle<Result<Duration, String>>,
}

impl Stopped {
    async fn start(builder: RedlockBuilder) -> Self {
        let (go_on, gone_on) = mpsc::channel::<Duration>();
        let (tell, connected) = mpsc::channel::<()>();
        // Between its stop and the test nothing but real time passes.
        let builder = builder.operation_timeout(20 * SECOND).connect_timeout(20 * SECOND);
        let thread = thread::spawn(move || {
            let runtime = runtime::Builder::new_current_thread().enable_all().build().unwrap();
            let redlock = runtime.block_on(builder.connect()).unwrap();
            tell.send(()).unwrap();
            let stood = gone_on.recv().unwrap();
            let won = runtime.block_on(async {
                tokio::time::pause();
                let acquire = redlock.try_acquire("r").into_future();
                let jump = async {
                    tokio::time::advance(stood).await;
                    tokio::time::resume();
                };
                tokio::join!(jump, acquire).1
            });
            won.map(|guard| guard.remaining()).map_err(|error| error.to_string())
        });
        spawn_blocking(move || connected.recv().unwrap()).await.unwrap();
        Self { since: Instant::now(), go_on, thread }
    }

    async fn goes_on(self) -> Result<Duration, String> {
        self.go_on.send(self.since.elapsed()).unwrap();
        spawn_blocking(|| self.thread.join().unwrap()).await.unwrap()
    }
}

/// Connects as soon as no other client keeps it away.
async fn connect_at_last(builder: impl Fn() -> RedlockBuilder) -> Redlock {
    loop {
        match builder().connect().await {
            Ok(redlock) => return redlock,
            Err(ConnectError::Disagreement(_)) => tokio::time::sleep(300 * MS).await,
            Err(other) => panic!("{other}"),
        }
    }
}

/// Both clients have one list: for the other client, restarted masters wait for that client's ttl.
#[tokio::test(start_paused = true)]
async fn a_resumed_client_learns_of_another_max_ttl_before_it_locks() {
    let masters = Masters::start(3);
    let stopped = Stopped::start(with(masters.builder(), 5 * SECOND)).await;
    let since = Instant::now();
    let refused = with(masters.builder(), SECOND).connect().await;
    assert!(matches!(refused, Err(ConnectError::Disagreement(_))), "{refused:?}");
    let other = connect_at_last(|| with(masters.builder(), SECOND)).await;
    assert!(since.elapsed() > SILENCE, "{:?}", since.elapsed());
    let error = stopped.goes_on().await.unwrap_err();
    assert!(error.contains("max_ttl is 5s here and 1s with another client"), "{error}");
    masters[0].restart();
    masters[1].restart();
    let guard = other.acquire("r").timeout(10 * SECOND).await.unwrap();
    assert!(guard.is_valid());
}

/// The other client does not reach two of the masters, so they cannot refuse it.
#[tokio::test(start_paused = true)]
async fn a_resumed_client_learns_of_another_list_before_it_locks() {
    let masters = Masters::start(6);
    let stopped = Stopped::start(with(masters.of([0, 1, 2, 3, 4]), SECOND)).await;
    let never = Arc::new(AtomicBool::new(false));
    let other = || with_cut(with(masters.of([2, 3, 5]), SECOND), &masters, [0, 1], &never);
    let refused = other().connect().await;
    assert!(matches!(refused, Err(ConnectError::Disagreement(_))), "{refused:?}");
    let redlock = connect_at_last(other).await;
    let guard = redlock.acquire("r").timeout(5 * SECOND).keep_alive().await.unwrap();
    let error = stopped.goes_on().await.unwrap_err();
    assert!(error.contains("another client"), "{error}");
    assert!(guard.is_valid());
}

/// Neither client could know of the other, and for both the masters vote already.
#[tokio::test(start_paused = true)]
async fn two_lists_that_meet_both_stop_until_one_of_them_is_gone() {
    let masters = Masters::start(6);
    let healed = Arc::new(AtomicBool::new(false));
    let client = |cut, direct: [usize; 3]| {
        with_cut(with(masters.of(direct), SECOND), &masters, cut, &healed).connect()
    };
    let first = client([2, 3], [0, 1, 4]).await.unwrap();
    let second = client([0, 1], [2, 3, 5]).await.unwrap();
    let both = async {
        let of_first = first.acquire("r").timeout(5 * SECOND).keep_alive().await.unwrap();
        (of_first, second.acquire("r").timeout(5 * SECOND).keep_alive().await.unwrap())
    };
    let (of_first, of_second) = both.await;
    assert!(of_first.is_valid() && of_second.is_valid(), "each has a majority of its own list");
    healed.store(true, Relaxed);
    eventually("both have met, and both locks have ended", SILENCE + 10 * SECOND, async || {
        tokio::time::sleep(100 * MS).await;
        !of_first.is_valid() && !of_second.is_valid()
    })
    .await;
    for redlock in [&first, &second] {
        // The deadline has passed, and the driver may be about to report it.
        let error = redlock.acquire("r").timeout(SECOND).await.unwrap_err().to_string();
        assert!(error.contains("another client"), "{error}");
    }
    drop((of_second, second.shutdown().await));
    let gone = Instant::now();
    eventually("the other one goes on by itself", SILENCE + 8 * SECOND, async || {
        tokio::time::sleep(100 * MS).await;
        first.try_acquire("r").await.is_ok()
    })
    .await;
    assert!(gone.elapsed() > 5 * SECOND, "{:?}: what it had noted stands", gone.elapsed());
}

/// The wait for another `max_ttl` in docs/operations.md, shortened by 29 s of ttl.
#[tokio::test(start_paused = true)]
async fn another_max_ttl_is_accepted_after_the_documented_wait() {
    let pages = include_str!("../../../docs/operations.md");
    let pages = pages.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(pages.contains("stop all clients, wait for 46 s (`D` and 15 s"), "30 s and 16 s more");
    let masters = Masters::start(3);
    // One of the clients is killed, and so takes nothing back.
    let proxies = in_front_of(&masters);
    let old = with(proxy::builder(&proxies), SECOND).connect().await.unwrap();
    old.acquire("r").timeout(5 * SECOND).await.unwrap().release().await.unwrap();
    kill_process(&proxies);
    let refused = with(masters.builder(), 2 * SECOND).connect().await;
    assert!(matches!(refused, Err(ConnectError::Disagreement(_))), "{refused:?}");
    tokio::time::sleep(SECOND + 16 * SECOND).await;
    let new = with(masters.builder(), 2 * SECOND).connect().await.unwrap();
    new.acquire("r").timeout(5 * SECOND).await.unwrap().release().await.unwrap();
}

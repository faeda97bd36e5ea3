//! Many clients of both kinds use one counter that nothing but the lock protects.

use super::peer::Peer;
use super::world::{PATIENCE, TTL, ours};
use crate::support::masters::Masters;
use crate::support::server::Server;
use crate::support::witness;
use futures::future::{join, join_all};
use quorumlock::Redlock;
use redis::FromRedisValue;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::time::{Duration, Instant};

/// Least number of sections of each kind.
const SECTIONS: u64 = 16;

/// Number of contenders of each kind.
const EACH: usize = 2;

/// Longer than any machine needs, and shorter than the limit of a test.
const LIMIT: Duration = Duration::from_secs(150);

const PAUSE: Duration = Duration::from_millis(3);

/// A counter on a redis-server that is no master of the lock: read and written in two steps.
struct Ledger {
    server: Server,
    overlaps: AtomicU64,
    ours: AtomicU64,
    theirs: AtomicU64,
    written: AtomicU64,
    until: Instant,
}

impl Ledger {
    async fn ask<T: FromRedisValue>(&self, command: &str, arguments: &[&str]) -> T {
        let mut asked = redis::cmd(command);
        witness::ask(&self.server, asked.arg(arguments)).await.unwrap()
    }

    async fn counted(&self) -> u64 {
        self.ask::<Option<u64>>("GET", &["counter"]).await.unwrap_or(0)
    }

    /// The protected section. A client that was away for so long that it may no longer hold the
    /// lock writes nothing: no lock can help there.
    async fn section(&self, may_write: impl Fn() -> bool) {
        if self.ask::<i64>("INCR", &["inside"]).await != 1 {
            self.overlaps.fetch_add(1, SeqCst);
        }
        let seen = self.counted().await;
        tokio::time::sleep(PAUSE).await;
        if may_write() {
            self.ask::<()>("SET", &["counter", &(seen + 1).to_string()]).await;
            self.written.fetch_add(1, SeqCst);
        }
        self.ask::<i64>("DECR", &["inside"]).await;
    }

    /// Returns whether to go on. Both kinds go on until both have had their sections, so that
    /// neither is ever alone.
    fn goes_on(&self) -> bool {
        assert!(Instant::now() < self.until, "{} and {}", self.ours(), self.theirs());
        self.ours() < SECTIONS || self.theirs() < SECTIONS
    }

    fn ours(&self) -> u64 {
        self.ours.load(SeqCst)
    }

    fn theirs(&self) -> u64 {
        self.theirs.load(SeqCst)
    }

    async fn let_ours_work(&self, redlock: &Redlock) {
        while self.goes_on() {
            if let Ok(guard) = redlock.acquire("counter").timeout(Duration::from_secs(1)).await {
                self.section(|| guard.remaining() > TTL / 2).await;
                let _may_be_lost = guard.release().await;
                self.ours.fetch_add(1, SeqCst);
            }
            // The clients that poll get their turn.
            tokio::time::sleep(20 * PAUSE).await;
        }
    }

    async fn let_theirs_work<P: Peer>(&self, peer: &P) {
        while self.goes_on() {
            let started = Instant::now();
            if let Some(held) = peer.attempt("counter", P::TTL_IN_A_STORM).await {
                self.section(|| started.elapsed() < P::TTL_IN_A_STORM / 2).await;
                peer.release(held).await;
                self.theirs.fetch_add(1, SeqCst);
            }
            tokio::time::sleep(PAUSE).await;
        }
    }
}

pub(crate) async fn many_of_both_kinds_lose_no_update_and_never_overlap<P: Peer>() {
    let masters = Masters::start(P::MASTERS);
    let ledger = Ledger {
        server: Server::start(),
        overlaps: AtomicU64::new(0),
        ours: AtomicU64::new(0),
        theirs: AtomicU64::new(0),
        written: AtomicU64::new(0),
        until: Instant::now() + LIMIT,
    };
    // Each is a process of its own, as far as the masters can tell.
    let ours = join_all((0..EACH).map(|_| ours::<P>(&masters))).await;
    let theirs = join_all((0..EACH).map(|_| P::connect(masters.urls()))).await;
    join(
        join_all(ours.iter().map(|redlock| ledger.let_ours_work(redlock))),
        join_all(theirs.iter().map(|peer| ledger.let_theirs_work(peer))),
    )
    .await;

    assert_eq!(ledger.overlaps.load(SeqCst), 0, "two were inside at once");
    let written = ledger.written.load(SeqCst);
    assert_eq!(ledger.counted().await, written, "updates were lost");
    assert!(written >= SECTIONS, "{written} of {} were in time", ledger.ours() + ledger.theirs());
    for redlock in ours {
        redlock.shutdown().await.unwrap();
    }
    witness::eventually_no_keys(&masters, PATIENCE).await;
}

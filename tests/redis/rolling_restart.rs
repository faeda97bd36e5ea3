//! A rolling restart of real masters, under locks of every kind that are held and waited for. The same
//! in virtual time: `tests/embedded/rolling_restart.rs`.
//! On a real clock: it is servers that end, come back and report their uptime, and threads that hold locks.

use crate::support::prelude::*;
use crate::support::rolling::{Restarts, TTL, restart_all};
use futures::stream::{StreamExt, iter};
use quorumlock::{Redlock, RedlockBuilder, RestartGuard};
use std::future::ready;
use tokio::time::sleep;

/// Masters that write each command to disk before they answer it.
const DURABLE: [&str; 4] = ["--appendonly", "yes", "--appendfsync", "always"];
const RUNS: usize = 20;
/// Runs at the same time: all of them wait most of the time.
const AT_ONCE: usize = 4;

struct Rolling {
    masters: Masters,
    is_durable: bool,
    /// Each second master is down for longer than a key lives.
    is_long: bool,
}

impl Rolling {
    fn start(count: usize, is_durable: bool, is_long: bool) -> Self {
        let arguments: &[&str] = if is_durable { &DURABLE } else { &[] };
        Self { masters: Masters::start_with(count, arguments), is_durable, is_long }
    }
}

impl Restarts for Rolling {
    fn count(&self) -> usize {
        self.masters.len()
    }

    fn builder(&self) -> RedlockBuilder {
        let trusts = RestartGuard::TrustPersistence;
        let guard = if self.is_durable { trusts } else { RestartGuard::On };
        // The machine may be busy.
        let builder = Redlock::builder().nodes(self.masters.urls()).operation_timeout(400 * MS);
        builder.restart_guard(guard)
    }

    async fn restart(&self, node: usize) {
        if self.is_long && node.is_multiple_of(2) {
            self.masters.kill(node);
            sleep(TTL + SECOND).await;
        }
        tokio::task::block_in_place(|| self.masters[node].restart());
    }
}

async fn run(count: usize, is_durable: bool, is_long: bool) {
    let masters = Rolling::start(count, is_durable, is_long);
    let faults = restart_all(&masters, |play| threads::wants(play, &masters)).await;
    let kind = format!("{count} masters, durable: {is_durable}, down for long: {is_long}");
    assert!(faults.is_empty(), "{kind}: {faults:#?}");
    eprintln!("{kind}: nothing was lost");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_lock_is_lost_and_no_leader_changes_while_others_wait() {
    run(3, false, false).await;
}

/// Twenty runs for each of three and five masters, with and without persistence: half an hour.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes half an hour"]
async fn no_lock_is_lost_in_any_of_eighty_rolling_restarts() {
    let runs = (0..RUNS).flat_map(|number| {
        let each = |(count, is_durable)| run(count, is_durable, number % 2 == 1);
        [(3, false), (5, false), (3, true), (5, true)].map(each)
    });
    let ended = iter(runs).map(tokio::spawn).buffer_unordered(AT_ONCE);
    let failed = ended.filter(|ended| ready(ended.is_err())).count().await;
    assert_eq!(failed, 0, "of {}", 4 * RUNS);
}

/// A thread without a runtime that holds a lock, and one that waits for it.
mod threads {
    use super::Rolling;
    use crate::support::rolling::Play;
    use std::sync::Arc;
    use std::thread::JoinHandle;

    pub(super) fn wants(play: &Arc<Play>, masters: &Rolling) -> Vec<JoinHandle<()>> {
        use super::Restarts;
        use crate::support::prelude::*;
        use crate::support::rolling::TTL;
        use quorumlock::{FencingWindow, Wait};

        let start = |client| {
            let (play, builder) = (play.clone(), masters.builder());
            let window = FencingWindow { back: 500 * MS, ahead: 500 * MS };
            let builder = builder.ttl(TTL).max_ttl(TTL).fencing_window(window);
            let builder = builder.acquire_timeout(100 * LONG);
            std::thread::spawn(move || {
                let redlock = builder.own_thread(true).connect().wait().unwrap();
                let guard = redlock.acquire("threads").keep_alive().fenced().wait().unwrap();
                play.enter("threads", client, 1);
                while !play.is_over() {
                    if let Some(lost) = guard.lost().wait_within(100 * MS) {
                        return play.fault(format!("threads: {}", lost.unwrap()));
                    }
                }
                drop(guard.release().wait());
            })
        };
        (0..2).map(start).collect()
    }
}

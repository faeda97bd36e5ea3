//! Only independent masters that keep what they have granted may vote. Unfit are a replica, a
//! promoted replica, a master that evicts, and the same server twice. They are found at connect,
//! when a connection is replaced, and by the heartbeat of a live connection.

use super::prelude::*;
use crate::proxy::{self, in_front_of};
use crate::support::proxy::Cut;
use futures::future::join_all;
use quorumlock::error::ConnectError;
use quorumlock::report::{Answer, NodeReport, Refusal};
use quorumlock::{NodeStanding, Redlock};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

const SOON: Duration = Duration::from_secs(10);
/// Longest time between two heartbeats.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// Shortest time between two heartbeats.
const EARLIEST: Duration = Duration::from_secs(7);

const KINDS: [&str; 3] = ["replica", "promoted", "evicting"];

/// Returns the complaint about the second of three masters.
fn complaint(kind: &str) -> &'static str {
    match kind {
        "replica" => "a replica of embedded-1.invalid:6379: name independent masters only",
        "promoted" => {
            "a promoted replica, which may lack what its master had granted: name masters that never \
             replicated, or restart it empty"
        }
        _ => "maxmemory-policy is allkeys-lru, which evicts locks that are held: set noeviction",
    }
}

async fn say(server: &Master, words: &[&str]) {
    let command = redis::cmd(words[0]).arg(&words[1..]).to_owned();
    witness::ask::<()>(server, &command).await.unwrap();
}

/// Makes the second of the masters unfit in this way.
async fn spoil(masters: &[Master], kind: &str) {
    let replica_of = ["REPLICAOF", "embedded-1.invalid", "6379"];
    match kind {
        "replica" => say(&masters[1], &replica_of).await,
        "promoted" => {
            say(&masters[1], &replica_of).await;
            say(&masters[1], &["REPLICAOF", "NO", "ONE"]).await;
        }
        _ => {
            say(&masters[1], &["CONFIG", "SET", "maxmemory", "100mb"]).await;
            say(&masters[1], &["CONFIG", "SET", "maxmemory-policy", "allkeys-lru"]).await;
        }
    }
}

/// Returns the problem of a node in the last attempt, if it is unfit.
fn unfit(nodes: &[NodeReport], node: usize) -> Option<String> {
    match &nodes[node].answer {
        Answer::Refused(Refusal::Unfit(problem)) => Some(problem.to_string()),
        _ => None,
    }
}

/// Tries until the second node is unfit. A foreign key on the first one makes every acquire need
/// it.
async fn found(redlock: &Redlock, masters: &[Master], within: Duration) -> String {
    witness::set_foreign(&masters[0], "r", "theirs", HEARTBEAT * 4).await;
    let mut problem = None;
    eventually("the second master is found to be unfit", within, async || {
        tokio::time::sleep(50 * MS).await;
        if let Err(error) = redlock.try_acquire("r").await {
            problem = unfit(error.nodes(), 1);
        }
        problem.is_some()
    })
    .await;
    problem.unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_dependent_master_is_reported_and_fails_a_strict_connect() {
    for kind in KINDS {
        let masters = Masters::start(3);
        spoil(&masters, kind).await;
        let error = masters.builder().strict(true).connect().await.unwrap_err();
        assert!(matches!(error, ConnectError::Unfit(_)), "{error}");
        let text = format!("nodes: embedded-2.invalid:6379 cannot be used: {}", complaint(kind));
        assert_eq!(error.to_string(), text);

        let redlock = masters.builder().connect().await.unwrap();
        let status = redlock.status().await.unwrap();
        let standing = &status.nodes()[1].standing.to_string();
        assert_eq!(*standing, format!("unfit ({})", complaint(kind)));
        // Its vote is missing, and no other.
        assert!(status.can_acquire(), "{status}");
        witness::set_foreign(&masters[0], "r", "theirs", HEARTBEAT).await;
        let error = redlock.try_acquire("r").await.unwrap_err();
        assert!(unfit(error.nodes(), 1).is_some(), "{error}");
        // Without two of three no client connects.
        let url = format!("{}/99", masters[2].url());
        let builder = masters.of([0, 1]).node_with_connector(url, masters[2].dialer());
        let error = builder.connect().await.unwrap_err();
        let ConnectError::Unfit(nodes) = &error else { panic!("{error}") };
        assert_eq!(nodes.len(), 2, "{error}");
    }
}

/// Harmless: a policy without a limit evicts nothing, nor does a limit without a policy.
#[tokio::test(start_paused = true)]
async fn a_master_that_evicts_nothing_is_used() {
    for setting in [["maxmemory", "100mb"], ["maxmemory-policy", "allkeys-lru"]] {
        let masters = Masters::start(1);
        say(&masters[0], &["CONFIG", "SET", setting[0], setting[1]]).await;
        let redlock = masters.builder().connect().await.unwrap();
        assert!(redlock.try_acquire("r").await.is_ok());
    }
}

#[tokio::test(start_paused = true)]
async fn a_master_no_longer_independent_is_found_at_the_reconnect() {
    for kind in KINDS {
        let masters = Masters::start(3);
        let proxies = in_front_of(&masters);
        let redlock = proxy::builder(&proxies).connect().await.unwrap();
        assert!(redlock.try_acquire("r").await.is_ok());
        spoil(&masters, kind).await;
        proxies[1].cut(Cut::Reset);
        // Much sooner than a heartbeat.
        let problem = found(&redlock, &masters, HEARTBEAT / 5).await;
        assert_eq!(problem, complaint(kind));
        // It is checked repeatedly, and used once it is fit.
        if kind == "evicting" {
            say(&masters[1], &["CONFIG", "SET", "maxmemory-policy", "noeviction"]).await;
            let fit = async || redlock.try_acquire("r").await.is_ok();
            eventually("it is used again", SOON, fit).await;
        }
    }
}

/// An address leads to one server at first, and later to another one that is already known.
#[tokio::test(start_paused = true)]
async fn the_same_server_twice_is_found_at_connect_and_reconnect() {
    let masters = Masters::start(3);
    let goes_to = Arc::new(AtomicUsize::new(2));
    let connect = |strict: bool| {
        let (goes_to, dials) = (goes_to.clone(), [0, 1, 2].map(|node| masters[node].dialer()));
        let dial = move || dials[goes_to.load(SeqCst)]();
        let all = masters.of([0, 1]).node_with_connector("redis://moving.example", dial);
        all.strict(strict).connect()
    };
    let redlock = connect(true).await.unwrap();
    assert!(redlock.try_acquire("r").await.is_ok());
    goes_to.store(1, SeqCst);
    masters[2].kill();
    let twin = "the same server as embedded-2.invalid:6379: each master counts once";
    witness::set_foreign(&masters[0], "r", "theirs", HEARTBEAT).await;
    let found = async || match redlock.try_acquire("r").await {
        Err(error) => unfit(error.nodes(), 2).as_deref() == Some(twin),
        Ok(_) => false,
    };
    eventually("the twin is found", HEARTBEAT / 3, found).await;
    // If two lead to one server, the one that answers first counts.
    let status = connect(false).await.unwrap().status().await.unwrap();
    let standings = status.nodes().iter().map(|node| &node.standing);
    let voting = standings.filter(|standing| **standing == NodeStanding::Voting).count();
    assert_eq!(voting, 2, "{status}");
    assert!(status.to_string().contains("each master counts once"), "{status}");
    let error = connect(true).await.unwrap_err();
    assert!(matches!(error, ConnectError::Unfit(_)), "{error}");
    assert!(error.to_string().contains("each master counts once"), "{error}");
}

/// Nothing breaks and no client reconnects: the next look finds it. All three run in parallel,
/// since it may take one heartbeat.
#[tokio::test(start_paused = true)]
async fn a_master_no_longer_independent_is_found_by_a_heartbeat() {
    join_all(KINDS.map(async |kind| {
        let masters = Masters::start(3);
        let redlock = masters.builder().connect().await.unwrap();
        let connected = Instant::now();
        let guard = redlock.acquire("held").ttl(HEARTBEAT * 2).await.unwrap();
        spoil(&masters, kind).await;
        let problem = found(&redlock, &masters, HEARTBEAT).await;
        assert_eq!(problem, complaint(kind));
        assert!(connected.elapsed() > EARLIEST, "{kind}: a connection was replaced");
        // One unfit master of three costs no client a held lock.
        assert!(guard.is_valid() && guard.extend().await.is_ok(), "{kind}");
    }))
    .await;
}

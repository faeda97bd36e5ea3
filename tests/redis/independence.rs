//! Only independent masters that keep what they have granted may vote. Unfit are a replica, a
//! promoted replica, a master that evicts, and the same server twice. They are found at connect,
//! when a connection is replaced, and by the heartbeat of a live connection.

use crate::support::normalised::without_ports;
use crate::support::prelude::*;
use futures::future::join_all;
use quorumlock::error::ConnectError;
use quorumlock::report::{Answer, NodeReport, Refusal};
use quorumlock::{NodeStanding, Redlock, RedlockBuilder, RestartGuard};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::{Duration, Instant};
use tokio::net::TcpStream;

const SOON: Duration = Duration::from_secs(10);
/// Longest time between two heartbeats.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// Shortest time between two heartbeats.
const EARLIEST: Duration = Duration::from_secs(7);

/// Starts the copy to a replica at once, without waiting for more replicas.
const AT_ONCE: [&str; 2] = ["--repl-diskless-sync-delay", "0"];

const KINDS: [&str; 3] = ["replica", "promoted", "evicting"];

/// Returns the complaint about the second of three masters.
fn complaint(kind: &str) -> &'static str {
    match kind {
        "replica" => "a replica of 127.0.0.1:<1>: name independent masters only",
        "promoted" => {
            "a promoted replica, which may lack what its master had granted: name masters that never \
             replicated, or restart it empty"
        }
        _ => "maxmemory-policy is allkeys-lru, which evicts locks that are held: set noeviction",
    }
}

async fn say(server: &Server, words: &[&str]) {
    let mut command = redis::cmd(words[0]);
    words[1..].iter().for_each(|word| {
        command.arg(word);
    });
    witness::ask::<()>(server, &command).await.unwrap();
}

/// Makes the second of the masters unfit in this way.
async fn spoil(masters: &[Server], kind: &str) {
    let port = masters[0].port().to_string();
    match kind {
        "replica" => say(&masters[1], &["REPLICAOF", "127.0.0.1", &port]).await,
        "promoted" => {
            // A server reads no copy of a newer one.
            let copied = masters[1].start_twin();
            let port = copied.port().to_string();
            say(&masters[1], &["REPLICAOF", "127.0.0.1", &port]).await;
            let synced = async || {
                witness::info(&masters[1], "replication").await["master_link_status"] == "up"
            };
            eventually("it has copied its master", SOON, synced).await;
            say(&masters[1], &["REPLICAOF", "NO", "ONE"]).await;
        }
        _ => {
            say(&masters[1], &["CONFIG", "SET", "maxmemory", "100mb"]).await;
            say(&masters[1], &["CONFIG", "SET", "maxmemory-policy", "allkeys-lru"]).await;
        }
    }
}

fn builder(urls: impl IntoIterator<Item = String>) -> RedlockBuilder {
    Redlock::builder().nodes(urls).restart_guard(RestartGuard::Off)
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
async fn found(redlock: &Redlock, masters: &[Server], within: Duration) -> String {
    witness::set_foreign(&masters[0], "r", "theirs", HEARTBEAT * 4).await;
    let mut problem = None;
    eventually("the second master is found to be unfit", within, async || {
        tokio::time::sleep(Duration::from_millis(10)).await;
        if let Err(error) = redlock.try_acquire("r").await {
            problem = unfit(error.nodes(), 1);
        }
        problem.is_some()
    })
    .await;
    without_ports(problem.unwrap(), masters)
}

#[tokio::test]
async fn a_dependent_master_is_reported_and_fails_a_strict_connect() {
    for kind in KINDS {
        let masters = Masters::start_with(3, &AT_ONCE);
        spoil(&masters, kind).await;
        let error = builder(masters.urls()).strict(true).connect().await.unwrap_err();
        assert!(matches!(error, ConnectError::Unfit(_)), "{error}");
        let text = format!("nodes: 127.0.0.1:<2> cannot be used: {}", complaint(kind));
        assert_eq!(without_ports(error, &masters), text);

        let redlock = builder(masters.urls()).connect().await.unwrap();
        let status = redlock.status().await.unwrap();
        let standing = without_ports(&status.nodes()[1].standing, &masters);
        assert_eq!(standing, format!("unfit ({})", complaint(kind)));
        // Its vote is missing, and no other.
        assert!(status.can_acquire(), "{status}");
        witness::set_foreign(&masters[0], "r", "theirs", HEARTBEAT).await;
        let error = redlock.try_acquire("r").await.unwrap_err();
        assert!(unfit(error.nodes(), 1).is_some(), "{error}");
        // Without two of three no client connects.
        let mut urls = masters.urls();
        urls[2].push_str("/99");
        let error = builder(urls).connect().await.unwrap_err();
        let ConnectError::Unfit(nodes) = &error else { panic!("{error}") };
        assert_eq!(nodes.len(), 2, "{error}");
    }
}

/// Harmless: a policy without a limit evicts nothing, nor does a limit without a policy.
#[tokio::test]
async fn a_master_that_evicts_nothing_is_used() {
    for setting in [["maxmemory", "100mb"], ["maxmemory-policy", "allkeys-lru"]] {
        let masters = Masters::start(1);
        say(&masters[0], &["CONFIG", "SET", setting[0], setting[1]]).await;
        let redlock = builder(masters.urls()).connect().await.unwrap();
        assert!(redlock.try_acquire("r").await.is_ok());
    }
}

#[tokio::test]
async fn a_master_no_longer_independent_is_found_at_the_reconnect() {
    for kind in KINDS {
        let masters = Masters::start_with(3, &AT_ONCE);
        let redlock = builder(masters.urls()).connect().await.unwrap();
        assert!(redlock.try_acquire("r").await.is_ok());
        spoil(&masters, kind).await;
        say(&masters[1], &["CLIENT", "KILL", "TYPE", "normal"]).await;
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
#[tokio::test]
async fn the_same_server_twice_is_found_at_connect_and_reconnect() {
    let masters = Masters::start_with(3, &AT_ONCE);
    let goes_to = Arc::new(AtomicUsize::new(2));
    let addresses: Vec<_> = masters.iter().map(Server::addr).collect();
    let connect = |strict: bool| {
        let (goes_to, addresses) = (goes_to.clone(), addresses.clone());
        let dial = move || TcpStream::connect(addresses[goes_to.load(SeqCst)]);
        let builder = builder(masters.urls().into_iter().take(2));
        let all = builder.node_with_connector("redis://moving.example", dial);
        all.strict(strict).connect()
    };
    let redlock = connect(true).await.unwrap();
    assert!(redlock.try_acquire("r").await.is_ok());
    goes_to.store(1, SeqCst);
    say(&masters[2], &["CLIENT", "KILL", "TYPE", "normal"]).await;
    let twin =
        format!("the same server as 127.0.0.1:{}: each master counts once", addresses[1].port());
    witness::set_foreign(&masters[0], "r", "theirs", HEARTBEAT).await;
    let found = async || match redlock.try_acquire("r").await {
        Err(error) => unfit(error.nodes(), 2).as_deref() == Some(&*twin),
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
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_master_no_longer_independent_is_found_by_a_heartbeat() {
    join_all(KINDS.map(async |kind| {
        let masters = Masters::start_with(3, &AT_ONCE);
        let redlock = builder(masters.urls()).connect().await.unwrap();
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

//! Differences between servers and versions: how clients distinguish them, how they handle a preflight,
//! and how a lock that was overwritten ends. `make test-servers` runs it on each of them.

use crate::support::port::ReservedPort;
use crate::support::prelude::*;
use crate::support::server;
use futures::{StreamExt, TryStreamExt};
use quorumlock::error::LossReason;
use quorumlock::preflight::{Finding, FindingKind, NodePreflight, Permission};
use quorumlock::{ConnectError, Redlock};
use redis::cmd;
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

const PATIENCE: Duration = Duration::from_secs(10);

/// A process that ends with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _already_gone = self.0.kill();
        let _already_reaped = self.0.wait();
    }
}

async fn preflight(url: &str) -> NodePreflight {
    Redlock::builder().node(url).preflight().await.unwrap().nodes()[0].clone()
}

fn failures(node: &NodePreflight) -> Vec<FindingKind> {
    let failures = node.findings.iter().filter(|finding| finding.is_failure());
    failures.map(|finding| finding.kind.clone()).collect()
}

#[tokio::test]
async fn six_preflights_cut_off_neither_a_subscriber_nor_a_replica() {
    let master = Server::start_for_a_replica();
    let replica = Server::start_with(&["--replicaof", "127.0.0.1", &master.port().to_string()]);
    let up = async || witness::info(&replica, "replication").await["master_link_status"] == "up";
    eventually("the replica is attached", PATIENCE, up).await;
    let client = redis::Client::open(master.url()).unwrap();
    let mut subscriber = client.get_async_pubsub().await.unwrap();
    subscriber.subscribe("news").await.unwrap();
    let clients = async || {
        let list: String = witness::ask(&master, cmd("CLIENT").arg("LIST")).await.unwrap();
        let theirs = list.lines().filter(|line| !line.contains(" name=witness "));
        let id = |line: &str| line.split(' ').next().unwrap_or_default().to_owned();
        theirs.map(id).collect::<Vec<_>>()
    };
    let before = clients().await;
    assert_eq!(before.len(), 2, "{before:?}");

    for _ in 0..6 {
        let node = preflight(&master.url()).await;
        assert!(node.is_ok(), "{node}");
    }
    // The connections are the same as before, once the preflights' own are gone.
    let alone = async || clients().await == before;
    eventually("the subscriber and the replica are still there", PATIENCE, alone).await;
    assert!(up().await);
    let mut publish = cmd("PUBLISH");
    let heard: u8 = witness::ask(&master, publish.arg("news").arg("yes")).await.unwrap();
    assert_eq!(heard, 1);
    let message = tokio::time::timeout(PATIENCE, subscriber.on_message().next()).await.unwrap();
    assert_eq!(message.unwrap().get_payload::<String>().unwrap(), "yes");
}

#[tokio::test]
async fn a_server_is_shown_by_its_own_name_and_version() {
    let server = Server::start();
    let node = preflight(&server.url()).await;
    let shown = format!("{} server v={} ", node.server.unwrap(), node.version.unwrap());
    assert!(server.version().starts_with(&shown), "{shown}: {}", server.version());
}

async fn refused(url: &str) -> String {
    match Redlock::builder().node(url).connect().await {
        Err(error @ ConnectError::Unfit(_)) => error.to_string(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_node_of_a_cluster_is_refused_by_name() {
    let node = Server::start_with(&["--cluster-enabled", "yes"]);
    let found = preflight(&node.url()).await;
    assert_eq!(failures(&found), [FindingKind::Cluster], "{found}");
    let error = refused(&node.url()).await;
    assert!(
        error.contains("a node of a cluster") && error.contains("independent masters"),
        "{error}"
    );
}

#[tokio::test]
async fn a_sentinel_is_refused_by_name() {
    let (port, directory) = (ReservedPort::new(), tempfile::tempdir().unwrap());
    let path = directory.path().join("sentinel.conf");
    let address = port.address();
    let settings = format!("bind 127.0.0.1\nport {}\ndir {:?}\n", address.port(), directory.path());
    std::fs::write(&path, settings).unwrap();
    let mut command = Command::new(server::program());
    command.arg(path).arg("--sentinel").stdout(Stdio::null()).stderr(Stdio::null());
    let _sentinel = Running(command.spawn().unwrap());
    let url = format!("redis://{address}");
    let answers =
        async || !matches!(failures(&preflight(&url).await)[..], [FindingKind::Unreachable(_)]);
    eventually("the Sentinel answers", PATIENCE, answers).await;
    let found = preflight(&url).await;
    assert_eq!(failures(&found), [FindingKind::Sentinel], "{found}");
    let error = refused(&url).await;
    assert!(error.contains("a Sentinel, which keeps no keys"), "{error}");
}

#[tokio::test]
async fn a_renamed_command_is_not_to_be_granted() {
    let server = Server::start_with(&["--rename-command", "EVALSHA", ""]);
    let node = preflight(&server.url()).await;
    let found: Vec<&Finding> =
        node.findings.iter().filter(|finding| finding.is_failure()).collect();
    let [
        Finding {
            kind: FindingKind::Withheld { permission: Permission::EvalSha, .. }, remedy, ..
        },
    ] = found[..]
    else {
        panic!("{node}")
    };
    assert!(remedy.contains("rename-command") && !remedy.contains("grant"), "{remedy}");
}

#[tokio::test]
async fn where_nothing_can_be_written_one_finding_says_so() {
    for settings in [["--maxmemory", "1"], ["--min-replicas-to-write", "1"]] {
        let server = Server::start_with(&settings);
        let node = preflight(&server.url()).await;
        let found = failures(&node);
        let [FindingKind::Fails { permission: Permission::Set, error }] = &found[..] else {
            panic!("{node}")
        };
        assert!(error.starts_with("OOM ") || error.starts_with("NOREPLICAS "), "{error}");
    }
}

/// A server with as many clients as it takes says so and closes; something that is not Redis speaks
/// first.
#[tokio::test]
async fn what_comes_instead_of_an_answer_is_understood() {
    for (answer, right) in [
        ("-ERR max number of clients reached\r\n", "takes no more clients"),
        ("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n", "not a Redis server"),
        ("SSH-2.0-OpenSSH_9.2p1\r\n", "not a Redis server"),
    ] {
        let port = ReservedPort::new();
        let listener = port.listen();
        let answering = tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            // Otherwise, closing the connection would discard the answer.
            let mut asked = [0; 1024];
            assert!(stream.read(&mut asked).await.unwrap() > 0);
            stream.write_all(answer.as_bytes()).await.unwrap();
        });
        let node = preflight(&format!("redis://{}", port.address())).await;
        answering.await.unwrap();
        let found = failures(&node);
        let text = found.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
        assert!(found.len() == 1 && text.starts_with(right), "{answer:?}: {text}");
        assert!(text.contains(answer.trim_start_matches('-').lines().next().unwrap()), "{text}");
    }
}

/// Overwritten by a client that ignores the existing value.
#[tokio::test]
async fn a_lock_overwritten_by_another_client_is_lost_at_its_release() {
    let (masters, redlock) = three().await;
    let guard = redlock.acquire("r").ttl(Duration::from_secs(20)).await.unwrap();
    for server in masters.iter() {
        witness::set_foreign(server, "r", "theirs", PATIENCE).await;
    }
    let lost = guard.release().await.unwrap_err();
    let LossReason::QuorumGone(nodes) = &lost.reason else { panic!("{lost}") };
    assert!(nodes.iter().any(|node| node.to_string().contains("no key there")), "{nodes:?}");
    let theirs: Vec<String> = futures::stream::iter(&*masters)
        .then(|server| async move { witness::ask(server, cmd("GET").arg("r")).await })
        .try_collect()
        .await
        .unwrap();
    assert_eq!(theirs, ["theirs"; 3], "what is not ours stays");
}

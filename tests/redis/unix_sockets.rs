//! Masters behind Unix sockets: a lock's life, mistakes, and how clients distinguish masters.

use crate::support::prelude::*;
use quorumlock::{ConnectError, NodeStanding, Redlock, RedlockBuilder, Released, RestartGuard};
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::Duration;
use tempfile::TempDir;

const PATIENCE: Duration = Duration::from_secs(40);

/// Masters with a socket each; they also listen on TCP, for the witness.
struct Sockets {
    servers: Vec<Server>,
    folder: TempDir,
}

impl Sockets {
    fn start(n: usize) -> Self {
        let folder = tempfile::Builder::new().prefix("quorumlock-").tempdir().unwrap();
        let start = |node: usize| {
            let socket = folder.path().join(format!("{node}.sock")).display().to_string();
            Server::start_with(&["--unixsocket", &socket, "--unixsocketperm", "700"])
        };
        let servers = (0..n).map(start).collect();
        Self { servers, folder }
    }

    fn path(&self, node: usize) -> PathBuf {
        self.folder.path().join(format!("{node}.sock"))
    }

    fn url(&self, node: usize) -> String {
        format!("unix://{}", self.path(node).display())
    }

    async fn eventually_on(&self, resource: &str, nodes: &[usize]) {
        let there = async || witness::holders(&self.servers, resource).await == nodes;
        eventually("it stands on those masters", PATIENCE, there).await;
    }
}

fn builder() -> RedlockBuilder {
    let builder = Redlock::builder().restart_guard(RestartGuard::Off).ttl(Duration::from_secs(30));
    builder.operation_timeout(Duration::from_secs(3)).connect_timeout(Duration::from_secs(3))
}

async fn lives(redlock: &Redlock, other: &Redlock, masters: &Sockets) {
    let guard = redlock.acquire("r").await.unwrap();
    masters.eventually_on("r", &[0, 1, 2]).await;
    assert!(other.try_acquire("r").await.unwrap_err().is_contended());
    masters.servers[2].kill();
    guard.extend().await.unwrap();
    assert_eq!(guard.release().await, Ok(Released::Confirmed));
    let next = other.acquire("r").await.unwrap();
    masters.eventually_on("r", &[0, 1]).await;
    assert_eq!(next.release().await, Ok(Released::Confirmed));
    masters.servers[2].restart();
    let back = async || {
        let guard = redlock.acquire("r").await.unwrap();
        let everywhere = witness::holders(&masters.servers, "r").await.len() == 3;
        guard.release().await.unwrap();
        everywhere
    };
    eventually("the restarted master takes part", PATIENCE, back).await;
    witness::eventually_no_keys(&masters.servers, PATIENCE).await;
}

#[tokio::test]
async fn a_lock_lives_over_sockets_alone() {
    let masters = Sockets::start(3);
    let connect = async || builder().nodes((0..3).map(|node| masters.url(node))).connect().await;
    lives(&connect().await.unwrap(), &connect().await.unwrap(), &masters).await;
}

#[tokio::test]
async fn sockets_and_tcp_mix_in_one_list() {
    let masters = Sockets::start(3);
    let urls = [masters.url(0), masters.servers[1].url(), masters.url(2)];
    let connect = async || builder().nodes(urls.clone()).connect().await;
    lives(&connect().await.unwrap(), &connect().await.unwrap(), &masters).await;
}

#[tokio::test]
async fn one_server_by_its_socket_and_by_tcp_is_one_master() {
    let masters = Sockets::start(2);
    let urls = [masters.url(0), masters.servers[0].url(), masters.url(1)];
    let unfit = builder().nodes(urls.clone()).strict(true).connect().await.unwrap_err();
    assert!(matches!(unfit, ConnectError::Unfit(_)), "a server that is named twice: {unfit}");
    let path = masters.path(0).display().to_string();
    let says = unfit.to_string();
    assert!(says.contains(&path) && says.contains("each master counts once"), "{says}");
    // One of its two addresses votes, the other does not.
    let status = builder().nodes(urls).connect().await.unwrap().status().await.unwrap();
    let voting = status.nodes().iter().filter(|node| node.standing == NodeStanding::Voting).count();
    assert_eq!((voting, status.can_acquire()), (2, true), "{status}");

    let twice = [masters.url(0), masters.url(0)];
    let error = builder().nodes(twice).connect().await.unwrap_err().to_string();
    assert!(error.ends_with("is node 1 already: name each master once"), "{error}");
}

#[tokio::test]
async fn a_socket_that_is_not_there_is_named() {
    let masters = Sockets::start(1);
    let redlock = builder().node(format!("{}.not", masters.url(0))).connect().await.unwrap();
    let error = redlock.try_acquire("r").await.unwrap_err();
    let says = format!("{}.not down (No such file or directory", masters.path(0).display());
    assert!(error.is_no_quorum() && error.to_string().contains(&says), "{error}");
}

#[tokio::test]
async fn a_socket_that_may_not_be_used_says_so() {
    if rustix::process::geteuid().is_root() {
        eprintln!("root may use every socket: nothing was tested");
        return;
    }
    let masters = Sockets::start(1);
    fs::set_permissions(masters.path(0), Permissions::from_mode(0o000)).unwrap();
    let redlock = builder().node(masters.url(0)).connect().await.unwrap();
    let error = redlock.try_acquire("r").await.unwrap_err().to_string();
    assert!(error.contains("down (Permission denied"), "{error}");
}

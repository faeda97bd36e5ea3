//! A master that has a problem loses its vote, but does not stop every new process: on real
//! masters.
//! On a real clock: it is servers that follow others, ask for passwords and report their uptime.

use crate::support::normalised::without_ports;
use crate::support::prelude::*;
use quorumlock::error::ReadyError;
use quorumlock::{
    ConnectError, FencingWindow, NodeStanding, Redlock, RedlockBuilder, RestartGuard, Status,
};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(60);

/// Configures long timeouts, so that no master is given up only because the machine is busy.
fn patient(urls: impl IntoIterator<Item = String>) -> RedlockBuilder {
    let builder = Redlock::builder().nodes(urls).restart_guard(RestartGuard::Off);
    builder.operation_timeout(PATIENCE / 30).connect_timeout(PATIENCE / 30)
}

async fn replica_of(master: &Server, other: &Server) {
    let port = other.port().to_string();
    let command = redis::cmd("REPLICAOF").arg("127.0.0.1").arg(port).to_owned();
    witness::ask::<()>(master, &command).await.unwrap();
}

async fn independent(master: &Server) {
    let command = redis::cmd("REPLICAOF").arg("NO").arg("ONE").to_owned();
    witness::ask::<()>(master, &command).await.unwrap();
}

fn voting(status: &Status) -> usize {
    status.into_iter().filter(|node| node.standing == NodeStanding::Voting).count()
}

async fn locks(redlock: &Redlock) {
    redlock.acquire("r").timeout(PATIENCE).await.unwrap().release().await.unwrap();
}

#[tokio::test]
async fn with_one_replica_of_five_a_new_client_locks_and_reports_it() {
    let (masters, other) = (Masters::start(5), Server::start());
    replica_of(&masters[2], &other).await;
    let strict = patient(masters.urls()).strict(true).connect().await.unwrap_err();
    assert!(matches!(&strict, ConnectError::Unfit(nodes) if nodes.len() == 1), "{strict}");
    let redlock = patient(masters.urls()).connect().await.unwrap();
    let status = redlock.status().await.unwrap();
    assert_eq!((voting(&status), status.can_acquire()), (4, true), "{status}");
    let problem = status.nodes()[2].standing.problem().unwrap();
    let expected =
        format!("a replica of 127.0.0.1:{}: name independent masters only", other.port());
    assert_eq!(problem, expected);
    locks(&redlock).await;

    // Fixed: once promoted it may lack what it had, but restarted it is like any other. No client
    // connects again.
    independent(&masters[2]).await;
    masters[2].restart();
    let all_vote = async || voting(&redlock.status().await.unwrap()) == 5;
    eventually("it votes again", PATIENCE, all_vote).await;
    locks(&redlock).await;
}

#[tokio::test]
async fn a_master_of_five_that_rejects_the_password_costs_its_vote() {
    let masters = Masters::start(4);
    let locked = Server::start_with(&["--requirepass", "new-password"]);
    let wrong = locked.url().replace("//", "//:old-password@");
    let urls = || masters.urls().into_iter().chain([wrong.clone()]);
    let redlock = patient(urls()).connect().await.unwrap();
    let status = redlock.status().await.unwrap();
    assert_eq!((voting(&status), status.can_acquire()), (4, true), "{status}");
    let standing = &status.nodes()[4].standing;
    assert!(matches!(standing, NodeStanding::Rejected(_)), "{standing}");
    assert!(standing.to_string().starts_with("rejected (WRONGPASS "), "{standing}");
    assert!(!status.to_string().contains("old-password"), "{status}");
    locks(&redlock).await;
    assert!(patient(urls()).strict(true).connect().await.is_err());
}

#[tokio::test]
async fn three_of_five_unfit_masters_are_refused_and_each_is_named() {
    let (masters, other) = (Masters::start(5), Server::start());
    for master in &masters[1..4] {
        replica_of(master, &other).await;
    }
    let error = patient(masters.urls()).connect().await.unwrap_err();
    assert!(matches!(error, ConnectError::Unfit(_)), "{error}");
    let shown = without_ports(error, &masters);
    // Equal problems are one line.
    let problem = "127.0.0.1:<2>, 127.0.0.1:<3>, 127.0.0.1:<4> cannot be used: a replica of ";
    assert_eq!(shown.matches(problem).count(), 1, "{shown}");
}

#[tokio::test]
async fn two_of_three_unfit_masters_of_the_second_list_are_refused() {
    let (masters, other) = (Masters::start(4), Server::start());
    let urls = masters.urls();
    let old = || [urls[0].clone(), urls[1].clone(), urls[3].clone()];
    let joint = || patient(urls[..3].iter().cloned()).joint_with(old());
    replica_of(&masters[3], &other).await;
    locks(&joint().connect().await.unwrap()).await;
    replica_of(&masters[1], &other).await;
    let error = joint().connect().await.unwrap_err();
    assert!(matches!(&error, ConnectError::Unfit(nodes) if nodes.len() == 2), "{error}");
}

#[tokio::test]
async fn wait_until_ready_waits_for_masters_that_have_just_started() {
    let masters = Masters::start(3);
    let (ttl, half) = (Duration::from_secs(4), Duration::from_millis(500));
    let builder = || {
        let builder = Redlock::builder().nodes(masters.urls()).ttl(ttl).max_ttl(ttl);
        let builder = builder
            .fencing_window(FencingWindow { back: half, ahead: half })
            .operation_timeout(PATIENCE / 30);
        builder.connect_timeout(PATIENCE / 30)
    };
    // Repeated if the machine was busy for longer than they take.
    let (redlock, left) = loop {
        masters.iter().for_each(Server::restart);
        let redlock = builder().connect().await.unwrap();
        let left = redlock.status().await.unwrap().can_acquire_in().unwrap();
        if left > ttl / 2 {
            break (redlock, left);
        }
    };
    let (began, counted) = (Instant::now(), witness::command_count(&masters[0]).await);
    let error = redlock.wait_until_ready(Duration::ZERO).await.unwrap_err();
    assert!(matches!(error, ReadyError::NotReady(_)), "{error}");
    redlock.wait_until_ready(PATIENCE).await.unwrap();
    assert!(began.elapsed() + Duration::from_millis(50) >= left, "{:?}", began.elapsed());
    assert_eq!(witness::command_count(&masters[0]).await, counted, "it asks no master");
    locks(&redlock).await;
}

#[tokio::test]
async fn a_connect_that_is_given_up_leaves_nothing_at_the_masters() {
    let masters = Masters::start(3);
    masters[1].stop();
    let noted = async |node: usize| witness::pttl(&masters[node], AGREEMENT).await.is_some();
    let builder = patient(masters.urls()).connect_timeout(PATIENCE);
    let connecting = tokio::spawn(builder.connect());
    let seen = async || noted(0).await && noted(2).await;
    eventually("its settings are noted", PATIENCE, seen).await;
    connecting.abort();
    let gone = async || !noted(0).await && !noted(2).await;
    eventually("they are taken back", Duration::from_secs(5), gone).await;
    masters[1].cont();
}

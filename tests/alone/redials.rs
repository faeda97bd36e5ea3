//! A thousand clients that lose a master at the same moment come back over two seconds, so that it can answer
//! the handshake of each. Ten thousand of them: `core/src/coordinator/tests/redial.rs`.

use crate::alone;
use crate::support::prelude::*;
use futures::stream::{StreamExt, iter};
use quorumlock::{NodeStanding, Redlock, RestartGuard};
use redis::cmd;
use std::time::Duration;
use tokio::time::sleep;

const CLIENTS: usize = 1_000;
/// Clients that connect at the same time.
const AT_ONCE: usize = 20;
/// Two seconds, and the pause before any redial.
const SPREAD: Duration = Duration::from_millis(2_060);

/// Returns how many connections the master has accepted, those of this question among them.
async fn accepted(server: &Server) -> usize {
    let info: String = witness::ask(server, cmd("INFO").arg("stats")).await.unwrap();
    let count = info.lines().find_map(|line| line.strip_prefix("total_connections_received:"));
    count.and_then(|count| count.parse().ok()).unwrap_or_else(|| panic!("no count in {info}"))
}

async fn are_back(clients: &[Redlock]) -> bool {
    for client in clients {
        let status = client.status().await.unwrap();
        if status.nodes().iter().any(|node| node.standing != NodeStanding::Voting) {
            return false;
        }
    }
    true
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_clients_that_lose_a_master_come_back_with_one_handshake_each() {
    let _turn = alone().await;
    let masters = Masters::start(3);
    let connect = async |_| {
        let builder = Redlock::builder().nodes(masters.urls()).restart_guard(RestartGuard::Off);
        builder.connect().await.unwrap()
    };
    let clients: Vec<Redlock> =
        iter(0..CLIENTS).map(connect).buffer_unordered(AT_ONCE).collect().await;
    let lost = &masters[0];
    let before = accepted(lost).await;
    let killed: usize =
        witness::ask(lost, cmd("CLIENT").arg("KILL").arg("TYPE").arg("pubsub")).await.unwrap();
    assert!(killed >= CLIENTS, "{killed}");

    // Questions to a thousand clients would keep them from their handshakes.
    sleep(SPREAD).await;
    eventually("all are back", 20 * SECOND, async || are_back(&clients).await).await;
    // The kill and the last question have connected, too.
    let redials = accepted(lost).await - before - 2;
    assert_eq!(redials, CLIENTS, "a handshake was given up, and tried again");
}

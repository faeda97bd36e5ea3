//! Connections that a server closes: since they were idle, or because an operator has killed them.
//! On a real clock: the server counts the seconds.

use crate::support::prelude::*;
use redis::cmd;

/// Returns how many connections the server has accepted.
async fn accepted(server: &Server) -> usize {
    let info: String = witness::ask(server, cmd("INFO").arg("stats")).await.unwrap();
    let count = info.lines().find_map(|line| line.strip_prefix("total_connections_received:"));
    count.unwrap().parse().unwrap()
}

#[tokio::test]
async fn a_client_whose_connections_are_closed_has_its_next_lock_at_the_first_attempt() {
    let masters = Masters::start_with(3, &["--timeout", "1"]);
    // A server closes no connection that listens to a channel.
    let redlock = masters.builder().wake_ups(false).connect().await.unwrap();
    redlock.try_acquire("r").await.unwrap().release().await.unwrap();
    for server in masters.iter() {
        // Each look is a connection, too.
        let (before, mut looks) = (accepted(server).await, 0);
        // The server looks once a second.
        eventually("it is closed, and is back", SOON, async || {
            looks += 1;
            accepted(server).await > before + looks
        })
        .await;
    }
    for server in masters.iter() {
        // Or it might be closed again at the very moment of the attempt.
        let stays = cmd("CONFIG").arg(&["SET", "timeout", "0"]).to_owned();
        witness::ask::<()>(server, &stays).await.unwrap();
        let is_back = async || witness::client_count(server).await > 0;
        eventually("it is connected", SOON, is_back).await;
    }
    redlock.try_acquire("r").await.unwrap().release().await.unwrap();
}

#[tokio::test]
async fn a_kept_lock_outlives_that_every_connection_of_its_holder_is_killed() {
    let masters = Masters::start(5);
    let redlock = masters.builder().connect().await.unwrap();
    let guard = redlock.acquire("r").ttl(SECOND).keep_alive().await.unwrap();
    for server in masters.iter() {
        let killed: i64 =
            witness::ask(server, cmd("CLIENT").arg(&["KILL", "TYPE", "pubsub"])).await.unwrap();
        assert!(killed >= 1);
    }
    tokio::time::sleep(1_500 * MS).await;
    assert!(guard.is_valid());
    guard.release().await.unwrap();
    witness::eventually_no_keys(&masters, SOON).await;
}

//! A client of another list that came to a master first, and what it costs clients that start later.

use super::*;
use crate::NodeStanding;
use crate::failure::ConnectError;
use std::io::{Error, ErrorKind};
use tokio::io::DuplexStream;

async fn try_connect(builder: RedlockBuilder) -> Result<Redlock, ConnectError> {
    builder.connect_on(Clock::tokio()).await
}

/// Adds a master that this client never reaches.
fn out_of_reach(builder: RedlockBuilder, url: &str) -> RedlockBuilder {
    builder.node_with_connector(url, || async {
        Err::<DuplexStream, _>(Error::from(ErrorKind::ConnectionRefused))
    })
}

/// Connects a client that reaches only the last of these masters, and whose list has `others`, too.
async fn stray(masters: &Masters, others: &[&str]) -> Redlock {
    let last = masters.last().unwrap();
    let builder = Redlock::builder().node_with_connector(last.url(), last.dialer());
    connect(others.iter().fold(builder, |builder, url| out_of_reach(builder, url))).await
}

#[tokio::test(start_paused = true)]
async fn a_stray_that_the_other_masters_keep_away_costs_its_master_and_no_newcomer() {
    let masters = five();
    let urls = masters.urls();
    let others = [&urls[1], &urls[2], &urls[3], "redis://10.0.0.9"];
    let stray = stray(&masters, &others).await;

    let redlock = try_connect(masters.builder()).await.unwrap();
    let status = redlock.status().await.unwrap();
    assert!(status.can_acquire(), "{status}");
    let standings: Vec<_> = status.nodes().iter().map(|node| node.standing.clone()).collect();
    assert!(standings[..4].iter().all(|standing| *standing == NodeStanding::Voting), "{status}");
    let NodeStanding::Disagrees(cause) = &standings[4] else { panic!("{status}") };
    assert!(cause.contains("joint_with"), "{cause}");
    let guard = redlock.acquire(KEY).await.unwrap();
    settle().await;
    assert_eq!(holders(&masters), [0, 1, 2, 3], "nothing is sent to the fifth");
    guard.release().await.unwrap();

    let strict = try_connect(masters.builder().strict(true)).await.unwrap_err();
    let ConnectError::Disagreement(nodes) = &strict else { panic!("{strict}") };
    assert_eq!(nodes.len(), 1, "{strict}");
    assert!(redlock.acquire(KEY).await.is_ok(), "the client that was refused leaves it as it was");

    drop(stray);
    sleep(60 * SECOND).await;
    let status = redlock.status().await.unwrap();
    let votes = |node: &crate::NodeStatus| node.standing == NodeStanding::Voting;
    assert!(status.nodes().iter().all(votes), "once the stray has gone: {status}");
}

#[tokio::test(start_paused = true)]
async fn a_stray_that_could_win_bars_newcomers_as_it_bars_those_that_run() {
    let names: [&[&str]; 2] =
        [&["redis://10.0.0.6", "redis://10.0.0.7", "redis://10.0.0.8", "redis://10.0.0.9"], &[]];
    for others in names {
        let masters = five();
        let running = connect(masters.builder()).await;
        let last = masters.last().unwrap();
        // The stray comes first where the agreement has been lost.
        operate(last, &["DEL", "quorumlock:agreement"]).await;
        let stray = stray(&masters, others).await;
        let error = try_connect(masters.builder()).await.unwrap_err();
        let ConnectError::Disagreement(nodes) = &error else { panic!("{error}") };
        assert_eq!(nodes.len(), 1, "{error}");
        sleep(15 * SECOND).await;
        let barred = running.try_acquire(KEY).await.unwrap_err();
        assert!(matches!(barred, crate::AcquireError::Disagreement(_)), "{barred}");
        drop(stray);
    }
}

#[tokio::test(start_paused = true)]
async fn strays_at_so_many_masters_that_the_rest_is_no_quorum_refuse_a_newcomer() {
    let masters = five();
    let urls = masters.urls();
    let mut strays = Vec::new();
    for last in [2, 3, 4] {
        let builder =
            Redlock::builder().node_with_connector(urls[last].clone(), masters[last].dialer());
        let others = [&urls[0], &urls[1], "redis://10.0.0.8", "redis://10.0.0.9"];
        let builder = others.iter().fold(builder, |builder, url| out_of_reach(builder, url));
        strays.push(connect(builder).await);
    }
    let error = try_connect(masters.builder()).await.unwrap_err();
    let ConnectError::Disagreement(nodes) = &error else { panic!("{error}") };
    assert_eq!(nodes.len(), 3, "{error}");
}

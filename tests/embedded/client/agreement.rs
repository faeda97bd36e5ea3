//! All clients of the same masters agree on their common settings through the masters. A client
//! with another setting is refused with both values, and uses none of the masters.

use super::prelude::*;
use crate::proxy::{self, in_front_of, kill_process};
use crate::support::normalised::without_times;
use quorumlock::{AcquireError, ConnectError, ExtendError, FencingWindow, RedlockBuilder};
use std::time::Duration;

/// Longest time between two heartbeats.
const HEARTBEAT: Duration = Duration::from_secs(15);

async fn refused(builder: RedlockBuilder) -> String {
    match builder.connect().await {
        Err(error @ ConnectError::Disagreement(_)) => without_times(&error.to_string()),
        other => panic!("{other:?}"),
    }
}

/// Returns the same complaint of each of three masters: once, with their names.
fn of_all_three(complaint: &str) -> String {
    let names = [1, 2, 3].map(|node| format!("embedded-{node}.invalid:6379"));
    format!("nodes: {} disagree: {complaint}", names.join(", "))
}

async fn forget_the_agreement(masters: &Masters) {
    for server in masters.iter() {
        let delete = redis::cmd("DEL").arg(AGREEMENT).to_owned();
        assert_eq!(witness::ask::<i64>(server, &delete).await, Ok(1));
    }
}

#[tokio::test(start_paused = true)]
async fn another_max_ttl_is_refused_with_both_values() {
    let masters = Masters::start(3);
    let first = masters.builder().connect().await.unwrap();
    first.acquire("r").await.unwrap().release().await.unwrap();
    let text = refused(masters.builder().max_ttl(20 * SECOND)).await;
    let complaint = "max_ttl is <time> here and <time> with another client: make them equal, or \
                     stop all clients and wait <time>";
    assert_eq!(text, of_all_three(complaint));
    let error = masters.builder().max_ttl(20 * SECOND).connect().await.unwrap_err();
    let shown = error.to_string();
    assert!(shown.contains("max_ttl is 20s here and 30s with another client"), "{shown}");
    // The longest ttl, its drift, and a heartbeat, minus the time that has passed since.
    assert!(shown.contains("stop all clients and wait 45 s"), "{shown}");
    // Nothing has changed for the first client, nor for a client with the same settings.
    let second = masters.builder().connect().await.unwrap();
    let guard = second.try_acquire("r").await.unwrap();
    assert!(first.try_acquire("r").await.unwrap_err().is_contended());
    drop(guard);
}

#[tokio::test(start_paused = true)]
async fn another_fencing_window_is_refused_with_both_values() {
    let masters = Masters::start(3);
    let _first = masters.builder().connect().await.unwrap();
    for (back, ahead, ours) in [(SECOND, 2 * SECOND, "1s"), (2 * SECOND, 3 * SECOND, "3s")] {
        let other = masters.builder().fencing_window(FencingWindow { back, ahead });
        let error = other.connect().await.unwrap_err().to_string();
        let text = format!("fencing_window is {ours} here and 2s with another client");
        assert_eq!(error.matches(&text).count(), 1, "{error}");
        assert_eq!(
            masters.iter().filter(|server| error.contains(&server.addr())).count(),
            3,
            "{error}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn lists_that_have_none_in_common_are_refused_with_both() {
    let masters = Masters::start(4);
    let named = |nodes: [usize; 3]| {
        let mut names = nodes.map(|node| masters[node].addr());
        names.sort_unstable();
        format!("[{}]", names.join(", "))
    };
    let _first = masters.of([0, 1, 2]).connect().await.unwrap();
    let error = masters.of([0, 1, 3]).connect().await.unwrap_err();
    let ConnectError::Disagreement(nodes) = &error else { panic!("{error}") };
    let shared = [0, 1].map(|node| masters[node].addr());
    let names: Vec<&str> = nodes.iter().map(|node| &*node.node).collect();
    assert_eq!(names, shared, "where the two meet");
    let text = format!(
        "this client's masters are {}, another client's {}: two such clients could both win; name \
         both lists while masters change, with joint_with, or wait ",
        named([0, 1, 3]),
        named([0, 1, 2])
    );
    for node in nodes {
        assert!(node.problem.starts_with(&text), "{}", node.problem);
    }
    // The order of the masters makes no difference, and a client with both lists has one in common.
    assert!(masters.of([2, 0, 1]).connect().await.is_ok());
    assert!(masters.joint_with(masters.of([0, 1, 3]), [0, 1, 2]).connect().await.is_ok());
}

/// The agreement was lost, and other clients have come to another one: the next heartbeat notices.
#[tokio::test(start_paused = true)]
async fn a_later_disagreement_is_found_by_the_next_heartbeat() {
    let masters = Masters::start(3);
    let first = masters.builder().connect().await.unwrap();
    let guard = first.acquire("r").ttl(30 * SECOND).await.unwrap();
    forget_the_agreement(&masters).await;
    let other = masters.builder().max_ttl(20 * SECOND).connect().await.unwrap();
    assert!(first.try_acquire("s").await.is_ok(), "no client has looked yet");

    let mut refused = None;
    eventually("a heartbeat finds it", HEARTBEAT, async || {
        tokio::time::sleep(SECOND / 5).await;
        match first.try_acquire("s").await {
            Err(error @ AcquireError::Disagreement(_)) => refused = Some(error),
            // The client learns it from one master after another.
            Ok(_) | Err(AcquireError::NoQuorum(_)) => {}
            Err(error) => panic!("{error}"),
        }
        refused.is_some()
    })
    .await;
    let text = refused.unwrap().to_string();
    assert!(text.contains("max_ttl is 30s here and 20s with another client"), "{text}");
    // It neither extends the lock that it holds nor gives it up early.
    let every_node = async || match guard.extend().await {
        Err(ExtendError::Unextended(error)) => error.to_string().matches("disagrees (").count() > 1,
        Ok(_) => false,
        Err(error) => panic!("{error}"),
    };
    eventually("a quorum is refused to the extension, too", HEARTBEAT, every_node).await;
    assert!(guard.is_valid());
    // The other client goes on, with the first client's lock still in place.
    assert!(other.try_acquire("r").await.unwrap_err().is_contended());
    assert!(other.try_acquire("t").await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn an_agreement_that_no_client_confirms_for_its_life_lapses() {
    let masters = Masters::start(3);
    let proxies = in_front_of(&masters);
    let first = proxy::builder(&proxies).ttl(SECOND).max_ttl(SECOND);
    let first = first.fencing_window(FencingWindow { back: SECOND / 4, ahead: SECOND / 4 });
    let first = first.connect().await.unwrap();
    first.acquire("r").await.unwrap().release().await.unwrap();
    // A quorum has it by then, and the rest soon.
    for server in masters.iter() {
        let has_it = async || witness::pttl(server, AGREEMENT).await.is_some();
        eventually("every master has the agreement", SOON, has_it).await;
    }
    let confirmed = Instant::now();
    kill_process(&proxies);
    // The longest ttl and the longest time between two heartbeats, each with its drift.
    let life = SECOND + Duration::from_millis(12) + HEARTBEAT + Duration::from_millis(152);
    for server in masters.iter() {
        let left = witness::pttl(server, AGREEMENT).await.unwrap();
        assert_eq!(left, life);
    }
    let other = || masters.builder().ttl(SECOND).max_ttl(SECOND * 2);
    let other = async || {
        other()
            .fencing_window(FencingWindow { back: SECOND / 4, ahead: SECOND / 4 })
            .connect()
            .await
    };
    assert!(matches!(other().await, Err(ConnectError::Disagreement(_))));
    let mut refused = 0;
    eventually("another one takes its place", life + SECOND * 2, async || {
        tokio::time::sleep(SECOND / 5).await;
        let result = other().await;
        refused += u32::from(result.is_err());
        result.is_ok()
    })
    .await;
    assert!(confirmed.elapsed() + SECOND > life, "after {:?}", confirmed.elapsed());
    assert!(refused > 50, "refused until then: {refused}");
}

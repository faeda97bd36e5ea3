//! One of five masters is replaced during operation: clients that name both lists exclude those of
//! the old list and those of the new one . A, B, C, D are in both lists, E is new,
//! F is old.

use super::prelude::*;
use crate::support::normalised::without_times;
use quorumlock::error::LossReason;
use quorumlock::{AcquireError, ConnectError, ExtendError, Redlock, RedlockBuilder, Released};
use std::io::{Error, ErrorKind};
use std::time::Duration;
use tokio::io::DuplexStream;

const E: usize = 4;
const F: usize = 5;
const NEW: [usize; 5] = [0, 1, 2, 3, E];
const OLD: [usize; 5] = [0, 1, 2, 3, F];

async fn connect(builder: RedlockBuilder) -> Redlock {
    builder.connect().await.unwrap()
}

async fn only(masters: &Masters, list: [usize; 5]) -> Redlock {
    connect(masters.of(list)).await
}

async fn joint(masters: &Masters) -> Redlock {
    connect(masters.joint_with(masters.of(NEW), OLD)).await
}

fn line(error: &AcquireError) -> String {
    without_times(&error.to_string())
}

#[tokio::test(start_paused = true)]
async fn a_lock_stands_on_all_six_and_its_release_reaches_all_six() {
    let masters = Masters::start(6);
    let redlock = joint(&masters).await;
    let guard = redlock.acquire("r").await.unwrap();
    everywhere(&masters, "r").await;
    assert_eq!(guard.release().await, Ok(Released::Confirmed));
    witness::eventually_no_keys(&masters, SOON).await;
}

#[tokio::test(start_paused = true)]
async fn a_master_of_both_lists_is_asked_once() {
    let masters = Masters::start(6);
    let redlock = joint(&masters).await;
    redlock.try_acquire("r").await.unwrap().release().await.unwrap();
    redlock.shutdown().await.unwrap();
    for server in masters.iter() {
        assert_eq!(witness::calls(server).await.get("set"), Some(&1), "{}", server.addr());
    }
}

#[tokio::test(start_paused = true)]
async fn clients_of_either_list_and_of_both_exclude_each_other() {
    for list in [OLD, NEW] {
        let masters = Masters::start(6);
        let (alone, both) = (only(&masters, list).await, joint(&masters).await);
        for (holder, other) in [(&alone, &both), (&both, &alone)] {
            let guard = holder.acquire("r").await.unwrap();
            let refused = other.try_acquire("r").await.unwrap_err();
            assert!(refused.is_contended(), "{refused}");
            assert!(guard.is_valid());
            guard.release().await.unwrap();
            witness::eventually_no_keys(&masters, SOON).await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_of_the_new_list_is_refused_beside_one_of_the_old() {
    let masters = Masters::start(6);
    let _old = only(&masters, OLD).await;
    let error = masters.of(NEW).connect().await.unwrap_err();
    assert!(matches!(&error, ConnectError::Disagreement(_)), "{error}");
    assert!(error.to_string().contains("name both lists"), "{error}");
    joint(&masters).await;
}

/// The reason for the joint phase: one master was exchanged, and both clients win. The new client
/// may connect at all only because the masters have forgotten the old client's settings.
#[tokio::test(start_paused = true)]
async fn old_and_new_list_have_two_holders_and_old_and_joint_have_one() {
    let masters = Masters::start(6);
    let old = only(&masters, OLD).await;
    // Before its first acquire it would ask once more.
    old.acquire("before").await.unwrap().release().await.unwrap();
    for node in 0..4 {
        let forget = redis::cmd("DEL").arg("quorumlock:agreement").to_owned();
        assert_eq!(witness::ask::<i64>(&masters[node], &forget).await, Ok(1));
    }
    let new = only(&masters, NEW).await;
    let both = joint(&masters).await;
    for node in [2, 3] {
        witness::set_foreign(&masters[node], "r", "theirs", Duration::from_secs(20)).await;
    }
    let first = old.try_acquire("r").await.unwrap(); // A, B, F
    for node in [2, 3] {
        witness::ask::<()>(&masters[node], redis::cmd("DEL").arg("r")).await.unwrap();
    }
    let refused = both.try_acquire("r").await.unwrap_err();
    assert!(refused.is_contended(), "{refused}");
    let free = async || witness::holders(&masters, "r").await == [0, 1, F];
    eventually("what was refused is rolled back", SOON, free).await;
    let second = new.try_acquire("r").await.unwrap(); // C, D, E
    assert!(first.is_valid() && second.is_valid(), "two holders");
}

#[tokio::test(start_paused = true)]
async fn a_majority_of_only_the_new_list_fails_and_the_error_says_why() {
    let masters = Masters::start(6);
    [2, 3, F].into_iter().for_each(|node| masters.kill(node));
    assert!(only(&masters, NEW).await.try_acquire("r").await.is_ok(), "three of the new list live");
    witness::eventually_no_keys(&masters, SOON).await;

    let error = joint(&masters).await.try_acquire("r").await.unwrap_err();
    let down = "down (connection refused)";
    let text = format!(
        "no quorum for \"r\": 3 of 6 masters may vote, 3 of the 5 new and 3 of the 5 old needed \
         (after <time>, 1 attempt): embedded-1.invalid:6379, embedded-2.invalid:6379, embedded-5.invalid:6379: could have \
         granted; embedded-3.invalid:6379, embedded-4.invalid:6379, embedded-6.invalid:6379: {down}"
    );
    assert!(error.is_no_quorum());
    assert_eq!(line(&error), text);
    assert_eq!(error.nodes().len(), 6, "each master once");
    witness::assert_no_keys_now(&masters).await;
}

#[tokio::test(start_paused = true)]
async fn a_majority_of_the_old_list_alone_wins_nothing() {
    let masters = Masters::start(6);
    [2, 3, E].into_iter().for_each(|node| masters.kill(node));
    assert!(only(&masters, OLD).await.try_acquire("r").await.is_ok(), "three of the old list live");
    let error = joint(&masters).await.try_acquire("r").await.unwrap_err();
    assert!(error.is_no_quorum(), "{error}");
    witness::eventually_no_keys(&masters, SOON).await;
}

/// Four of six have granted, which would be a majority if they were counted together.
#[tokio::test(start_paused = true)]
async fn many_grants_without_a_quorum_of_one_list_are_no_late_win() {
    let masters = Masters::start(6);
    let redlock = connect(masters.joint_with(masters.of([0, 1, 2]), [3, 4, 5])).await;
    redlock.acquire("before").await.unwrap().release().await.unwrap();
    [4, 5].into_iter().for_each(|node| masters[node].stop());
    let error = redlock.try_acquire("r").await.unwrap_err();
    let text =
        "no quorum for \"r\": 4 of 6 masters granted, 2 of the 3 new and 2 of the 3 old needed ";
    assert!(line(&error).starts_with(text), "{error}");
    assert!(matches!(error, AcquireError::NoQuorum(error) if !error.is_too_late()));
    [4, 5].into_iter().for_each(|node| masters[node].cont());
    witness::eventually_no_keys(&masters, SOON).await;
}

#[tokio::test(start_paused = true)]
async fn two_shared_masters_or_both_exchanged_ones_may_be_down() {
    for dead in [[2, 3], [E, F]] {
        let masters = Masters::start(6);
        dead.into_iter().for_each(|node| masters.kill(node));
        let redlock = joint(&masters).await;
        let guard = redlock.try_acquire("r").await.unwrap();
        guard.extend().await.unwrap();
        assert_eq!(guard.release().await, Ok(Released::Confirmed));
        witness::eventually_no_keys(&masters, SOON).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_guard_is_not_extended_without_a_quorum_of_the_old_list() {
    let masters = Masters::start(6);
    let redlock = joint(&masters).await;
    let guard = redlock.acquire("r").await.unwrap();
    [2, 3, F].into_iter().for_each(|node| masters.kill(node));
    let Err(ExtendError::Unextended(error)) = guard.extend().await else {
        panic!("a majority of the new list is not enough")
    };
    let text = "\"r\" was not extended, its deadline stands: 3 of 6 masters confirmed, \
                3 of the 5 new and 3 of the 5 old needed: ";
    assert!(error.to_string().starts_with(text), "{error}");
    assert!(guard.is_valid(), "nothing is destroyed");
}

#[tokio::test(start_paused = true)]
async fn a_guard_is_lost_once_either_list_no_longer_holds_it() {
    for gone in [[2, 3, E], [2, 3, F]] {
        let masters = Masters::start(6);
        let redlock = joint(&masters).await;
        let guard = redlock.acquire("r").await.unwrap();
        everywhere(&masters, "r").await;
        for node in gone {
            witness::ask::<()>(&masters[node], redis::cmd("DEL").arg("r")).await.unwrap();
        }
        // All answers have arrived when a quorum no longer holds it: no round before that is won.
        let Err(ExtendError::Lost(lost)) = guard.extend().await else {
            panic!("three of six are left, two of them of one list")
        };
        assert!(matches!(lost.reason, LossReason::QuorumGone(_)), "{lost}");
    }
}

/// The address names the master; the caller decides where the stream goes.
#[tokio::test(start_paused = true)]
async fn an_address_names_the_master_whatever_its_stream() {
    let masters = Masters::start(4);
    let names =
        ["redis://a.example", "redis://b.example", "redis://c.example", "redis://d.example"];
    let dial = |node: usize| masters[node].dialer();
    let mut builder = builder();
    for node in [0, 1, 3] {
        builder = builder.node_with_connector(names[node], dial(node));
    }
    for node in [0, 1, 2] {
        // A shared master is reached through the first list: there is no listener here.
        builder = match node {
            2 => builder.joint_with_connector(names[node], dial(node)),
            _ => builder.joint_with_connector(names[node], || async {
                Err::<DuplexStream, _>(Error::from(ErrorKind::ConnectionRefused))
            }),
        };
    }
    let redlock = connect(builder).await;
    let guard = redlock.acquire("r").await.unwrap();
    everywhere(&masters, "r").await;
    assert_eq!(guard.release().await, Ok(Released::Confirmed));
    witness::eventually_no_keys(&masters, SOON).await;
}

#[tokio::test(start_paused = true)]
async fn one_server_spelled_in_two_ways_is_refused_with_advice() {
    let masters = Masters::start(2);
    let builder = masters.builder();
    let respelled = builder.joint_with_connector("redis://respelled.example", masters[0].dialer());
    let builder = masters.joint_with(respelled, [1]);
    let error = builder.connect().await.unwrap_err().to_string();
    let alike = "each master counts once, and one that is in both lists is spelled alike in both";
    assert!(error.ends_with(alike), "{error}");
}

#[tokio::test(start_paused = true)]
async fn an_empty_second_list_changes_nothing() {
    let none: [&str; 0] = [];
    let redlock = connect(Redlock::builder().node("redis://127.0.0.1:1").joint_with(none)).await;
    let error = redlock.try_acquire("r").await.unwrap_err().to_string();
    assert!(
        error.starts_with("no quorum for \"r\": 0 of 1 masters may vote, 1 needed "),
        "{error}"
    );
}

#[tokio::test(start_paused = true)]
async fn lists_that_contradict_themselves_or_each_other_say_where() {
    let new = ["redis://10.0.0.1", "redis://u:pw@10.0.0.2/3"];
    for (also, text) in [
        (
            vec!["redis://10.0.0.3", "redis://10.0.0.1", "redis://10.0.0.1:6379"],
            "joint_with: node 3 of 3: 10.0.0.1:6379 is node 2 already: name each master once",
        ),
        (
            vec!["redis://10.0.0.3", "redis://10.0.0.3/1"],
            "joint_with: node 2 of 2: 10.0.0.3:6379 is node 1 already: name each master once",
        ),
        (
            vec!["redis://10.0.0.1", "redis://u:other@10.0.0.2/3"],
            "joint_with: node 2 of 2: 10.0.0.2:6379 is in nodes too (node 2), with other credentials: \
             write it alike in both",
        ),
        (
            vec!["redis://u:pw@10.0.0.2"],
            "joint_with: node 1 of 1: 10.0.0.2:6379 is in nodes too (node 2), with database 3: \
             write it alike in both",
        ),
        (
            vec!["10.0.0.9"],
            "joint_with: node 1 of 1: the address is not a URL for Redis (it needs a scheme such as \
             redis://, %XX for special characters in a user name or password, brackets around \
             IPv6): write it like \"redis://10.0.0.1:6379\" or \"unix:///run/redis.sock\"",
        ),
    ] {
        let error = Redlock::builder().nodes(new).joint_with(also).connect().await.unwrap_err();
        assert_eq!(error.to_string(), text);
    }
    let crowd = |from: usize| (from..from + 33).map(|n| format!("redis://10.0.0.{n}"));
    let error =
        Redlock::builder().nodes(crowd(0)).joint_with(crowd(32)).connect().await.unwrap_err();
    let text = "joint_with: 65 masters in both lists are more than 64: five are the usual number";
    assert_eq!(error.to_string(), text);
    let error = Redlock::builder().joint_with(crowd(0)).connect().await.unwrap_err();
    assert!(error.to_string().starts_with("nodes: there is none"), "{error}");
}

//! Masters that write each command to disk before they answer have forgotten nothing when they
//! return: a client that trusts them need not wait. A client that cannot know that waits as usual.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use quorumlock::report::{Answer, Reason};
use quorumlock::{Redlock, RedlockBuilder, Released};
use std::time::Duration;
use support::masters::Masters;
use support::normalised::without_ports;
use support::poll::eventually;
use support::witness;

const MS: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);
const TTL: Duration = Duration::from_secs(10);
const SOON: Duration = Duration::from_secs(5);
const DURABLE: [&str; 4] = ["--appendonly", "yes", "--appendfsync", "always"];

fn trusting(masters: &Masters) -> RedlockBuilder {
    Redlock::builder().nodes(masters.urls()).ttl(TTL).trust_persistence()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn durable_masters_vote_at_once_and_still_hold_after_a_restart() {
    let masters = Masters::start_with(3, &DURABLE);
    let ours = trusting(&masters).connect().await.unwrap();
    let guard = ours.try_acquire("r").await.unwrap();
    let everywhere = async || witness::holders(&masters, "r").await.len() == 3;
    eventually("every master has the key", SOON, everywhere).await;
    // The notes there are then older than any uptime that a restarted master reports.
    tokio::time::sleep(3 * SECOND).await;
    masters.iter().for_each(|server| server.restart());

    assert_eq!(witness::holders(&masters, "r").await, [0, 1, 2], "they remember");
    let theirs = trusting(&masters).connect().await.unwrap();
    let refused = theirs.try_acquire("r").await.unwrap_err();
    assert!(refused.is_contended(), "{refused}");
    let elsewhere = theirs.try_acquire("s").await.unwrap();
    // They are dialled again, and their answers count at once.
    let before = guard.deadline();
    let extended = async || guard.extend().await.is_ok();
    eventually("the lock is extended over restarted masters", SOON, extended).await;
    assert!(guard.deadline() > before);
    assert_eq!(guard.release().await, Released::Released);
    assert_eq!(elsewhere.release().await, Released::Released);
    assert!(theirs.try_acquire("r").await.is_ok());
}

/// The same masters, with a client that does not trust them.
#[tokio::test]
async fn durable_masters_wait_for_who_does_not_trust_them() {
    let masters = Masters::start_with(3, &DURABLE);
    let redlock = Redlock::builder().nodes(masters.urls()).connect().await.unwrap();
    let refused = redlock.try_acquire("r").await.unwrap_err();
    assert!(refused.to_string().contains("warming up (may vote in "), "{refused}");
}

#[tokio::test]
async fn trust_that_the_configuration_contradicts_is_refused() {
    let forgetful = Masters::start(1);
    let lazy = Masters::start_with(1, &["--appendonly", "yes", "--appendfsync", "everysec"]);
    let at_times = [&DURABLE[..], &["--no-appendfsync-on-rewrite", "yes"]].concat();
    let at_times = Masters::start_with(1, &at_times);
    for (masters, problem) in [
        (&forgetful, "appendonly is no"),
        (&lazy, "appendfsync is everysec"),
        (&at_times, "no-appendfsync-on-rewrite is yes"),
    ] {
        let error = trusting(masters).connect().await.unwrap_err();
        let text = format!(
            "nodes: 127.0.0.1:<1> cannot be used: {problem}, and trust_persistence needs \
             appendonly yes, appendfsync always and no-appendfsync-on-rewrite no"
        );
        assert_eq!(without_ports(error, masters), text);
    }
}

#[tokio::test]
async fn trust_in_masters_that_may_not_tell_their_configuration_waits() {
    let user = ["--user", "app", "on", ">pass", "~*", "&*", "+@all", "-config"];
    let masters = Masters::start_with(3, &[&DURABLE[..], &user].concat());
    let urls = masters.urls().into_iter().map(|url| url.replace("//", "//app:pass@"));
    let (max_ttl, half) = (Duration::from_secs(2), 500 * MS);
    let builder = Redlock::builder().nodes(urls).ttl(max_ttl).max_ttl(max_ttl);
    let builder = builder.fencing_window(half, half).trust_persistence();
    let redlock = builder.connect().await.unwrap();
    let refused = redlock.try_acquire("r").await.unwrap_err();
    for node in refused.nodes() {
        let Answer::Refused(Reason::WarmingUp { remaining }) = node.answer else {
            panic!("{refused}")
        };
        assert!(remaining <= max_ttl + 22 * MS && remaining > max_ttl / 2, "{refused}");
    }
    redlock.acquire("r").await.unwrap().release().await;
}

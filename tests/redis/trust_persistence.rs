//! Masters that write each command to disk before they answer have forgotten nothing when they
//! return: a client that trusts them need not wait. A client that cannot know that waits as usual.
//! On a real clock: it is servers that write to disk and report their uptime in whole seconds.

use crate::support::normalised::without_ports;
use crate::support::prelude::*;
use quorumlock::report::{Answer, Refusal};
use quorumlock::{FencingWindow, Redlock, RedlockBuilder, Released, RestartGuard};
use std::time::Duration;

const TTL: Duration = Duration::from_secs(10);
const DURABLE: [&str; 4] = ["--appendonly", "yes", "--appendfsync", "always"];

fn trusting(masters: &Masters) -> RedlockBuilder {
    Redlock::builder().nodes(masters.urls()).ttl(TTL).restart_guard(RestartGuard::TrustPersistence)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn durable_masters_vote_at_once_and_still_hold_after_a_restart() {
    let masters = Masters::start_with(3, &DURABLE);
    let ours = trusting(&masters).connect().await.unwrap();
    let guard = ours.try_acquire("r").await.unwrap();
    everywhere(&masters, "r").await;
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
    assert_eq!(guard.release().await, Ok(Released::Confirmed));
    assert_eq!(elsewhere.release().await, Ok(Released::Confirmed));
    assert!(theirs.try_acquire("r").await.is_ok());
}

/// The same masters, with a client that does not trust them.
#[tokio::test]
async fn durable_masters_wait_for_clients_that_do_not_trust_them() {
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
            "nodes: 127.0.0.1:<1> cannot be used: {problem}, and a restart_guard that trusts persistence needs \
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
    let builder = builder
        .fencing_window(FencingWindow { back: half, ahead: half })
        .restart_guard(RestartGuard::TrustPersistence);
    let redlock = builder.connect().await.unwrap();
    let refused = redlock.try_acquire("r").await.unwrap_err();
    for node in refused.nodes() {
        let Answer::Refused(Refusal::WarmingUp { remaining }) = node.answer else {
            panic!("{refused}")
        };
        assert!(remaining <= max_ttl + 22 * MS && remaining > max_ttl / 2, "{refused}");
    }
    redlock.acquire("r").await.unwrap().release().await.unwrap();
}

/// Preflight says beforehand which servers forget a fenced lock because of what their user `default`
/// may not do, and only those.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn preflight_finds_masters_that_would_forget_a_fenced_lock() {
    let users = [
        ["--user", "app", "on", ">pass", "~*", "&*", "+@all"],
        ["--user", "default", "on", "nopass", "~*", "&*", "+@all"],
    ];
    for rights in [&["-set"][..], &["-@dangerous", "+info", "+client"]] {
        let arguments = [&DURABLE[..], &users.concat(), rights].concat();
        let masters = Masters::start_with(1, &arguments);
        let urls = masters.urls().into_iter().map(|url| url.replace("//", "//app:pass@"));
        let builder = || {
            let nodes = Redlock::builder().nodes(urls.clone()).operation_timeout(900 * MS);
            nodes.ttl(LONG).restart_guard(RestartGuard::TrustPersistence)
        };
        let report = builder().preflight().await.unwrap();
        let redlock = builder().connect().await.unwrap();
        let fenced = redlock.try_acquire("fenced").fenced().await.unwrap();
        let plain = redlock.try_acquire("plain").await.unwrap();
        let before = (witness::value(&masters[0], "plain").await, report.is_ok());
        masters[0].restart();
        let kept = witness::value(&masters[0], "plain").await;
        assert_eq!(kept, before.0, "a single write is kept");
        let is_kept = witness::value(&masters[0], "fenced").await.is_some();
        assert_eq!(is_kept, report.is_ok(), "{report}");
        let is_named = report.to_string().contains("would drop transactions");
        assert_eq!(is_named, !is_kept, "{report}");
        fenced.forget();
        plain.forget();
    }
}

#[tokio::test]
async fn a_client_that_may_not_ask_about_default_learns_that() {
    let user = ["--user", "app", "on", ">pass", "~*", "&*", "+@all", "-acl"];
    let masters = Masters::start_with(1, &[&DURABLE[..], &user].concat());
    let url = masters[0].url().replace("//", "//app:pass@");
    let with = |guard| Redlock::builder().node(&*url).restart_guard(guard);
    let trusting = with(RestartGuard::TrustPersistence).preflight().await.unwrap();
    assert!(trusting.is_ok(), "{trusting}");
    let asks = masters[0].version().contains("v=7.0");
    let text = trusting.to_string();
    assert!(!asks || text.contains("note: ACL DRYRUN is denied (NOPERM "), "{text}");
    // Without that trust the question is not asked, so that it is not in the server's ACL log.
    let refused =
        async || witness::ask::<Vec<redis::Value>>(&masters[0], redis::cmd("ACL").arg("LOG")).await;
    let before = refused().await.unwrap().len();
    let report = with(RestartGuard::On).preflight().await.unwrap();
    assert!(!report.to_string().contains("ACL DRYRUN"), "{report}");
    assert_eq!(refused().await.unwrap().len(), before);
}

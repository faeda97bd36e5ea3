//! A list has the name of a resource: no lock of any kind is to be had there, the error says why, and
//! nothing is sent again and again.

use crate::support::prelude::*;
use futures::future::join_all;
use quorumlock::{AcquireError, Redlock, RestartGuard};
use std::time::Duration;

const KEY: &str = "list";

async fn ask<T: redis::FromRedisValue>(server: &Server, words: &[&str]) -> T {
    let mut command = redis::cmd(words[0]);
    command.arg(&words[1..]);
    witness::ask(server, &command).await.unwrap()
}

/// Returns how many commands the server has executed, within scripts too.
async fn executed(server: &Server) -> u64 {
    let stats: String = ask(server, &["INFO", "stats"]).await;
    let line = stats.lines().find_map(|line| line.strip_prefix("total_commands_processed:"));
    line.unwrap().trim().parse().unwrap()
}

fn says_wrong_type(error: &AcquireError) -> bool {
    format!("{error}").contains("WRONGTYPE")
}

#[tokio::test]
async fn what_is_no_lock_is_named_and_costs_no_repetition() {
    // Masters of its own for each kind: all are watched at the same time.
    let kinds = ["plain", "fenced", "several", "in turn", "reader"];
    join_all(kinds.map(is_named_and_costs_no_repetition)).await;
}

async fn is_named_and_costs_no_repetition(kind: &str) {
    let masters = Masters::start(3);
    for server in masters.iter() {
        let _: i64 = ask(server, &["RPUSH", KEY, "1"]).await;
    }
    let builder = Redlock::builder().nodes(masters.urls()).restart_guard(RestartGuard::Off);
    let redlock = builder.ttl(Duration::from_secs(10)).connect().await.unwrap();
    let wait = 500 * MS;
    let error = match kind {
        "plain" => redlock.acquire(KEY).timeout(wait).await.unwrap_err(),
        "fenced" => redlock.acquire(KEY).fenced().timeout(wait).await.unwrap_err(),
        "several" => redlock.acquire_all([KEY, "other"]).timeout(wait).await.unwrap_err(),
        "in turn" => redlock.acquire(KEY).fair(true).timeout(wait).await.unwrap_err(),
        _ => redlock.rw_lock(KEY).read().timeout(wait).await.unwrap_err(),
    };
    // SET NX only says that something is there.
    let is_clear = error.is_contended() || says_wrong_type(&error);
    assert!(is_clear, "{kind}: {error}");
    if matches!(kind, "fenced" | "several" | "reader") {
        assert!(says_wrong_type(&error), "{kind}: {error}");
    }
    tokio::time::sleep(200 * MS).await;
    let before = executed(&masters[0]).await;
    // Of a server on a real clock: what is sent again comes several times in this span.
    tokio::time::sleep(400 * MS).await;
    let more = executed(&masters[0]).await - before;
    assert!(more < 15, "{more} commands in 400 ms after a {kind} acquire has ended");
    let left: Vec<String> = ask(&masters[0], &["KEYS", "*other*"]).await;
    assert!(!left.contains(&"other".to_owned()), "{left:?}");
    let of_list: i64 = ask(&masters[0], &["LLEN", KEY]).await;
    assert_eq!(of_list, 1, "it is as it was");
}

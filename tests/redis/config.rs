//! Settings from a file and from environment variables, on real masters.

use crate::support::normalised::without_ports;
use crate::support::prelude::*;
use quorumlock::{Config, Redlock};
use std::fs;

#[tokio::test]
async fn a_lock_is_held_by_what_a_file_and_variables_say() {
    let masters = Masters::start(3);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("locks.toml");
    let file = "nodes = [\"redis://127.0.0.1:1\"]\nkey_prefix = \"file:\"\nrestart_guard = \"off\"";
    fs::write(&path, file).unwrap();
    let vars =
        [("QUORUMLOCK_NODES", masters.urls().join(" ")), ("QUORUMLOCK_LABEL", "worker-7".into())];
    let config = Config::from_vars(vars).unwrap().or(Config::from_file(&path).unwrap());

    let redlock = Redlock::builder().config(config).connect().await.unwrap();
    let guard = redlock.acquire("orders:42").await.unwrap();
    let holders = witness::holders(&masters, "file:orders:42").await;
    assert!(holders.len() >= 2, "{holders:?}");
    let inspection = redlock.inspect("orders:42").await.unwrap();
    assert!(inspection.to_string().contains("worker-7"), "{inspection}");
    guard.release().await.unwrap();
    redlock.shutdown().await.unwrap();
}

#[tokio::test]
async fn a_wrong_password_is_reported_without_the_password() {
    let masters = Masters::start_with(1, &["--requirepass", "secret"]);
    let url = masters[0].url().replace("//", "//:hunter2@");
    let config = Config::from_toml(&format!("nodes = [{url:?}]")).unwrap();
    let refused = Redlock::builder().config(config).connect().await.unwrap_err();
    assert!(!format!("{refused:?}").contains("hunter2"), "{refused:?}");
    assert_eq!(
        without_ports(refused, &masters),
        "nodes: 127.0.0.1:<1> cannot be used: WRONGPASS invalid username-password pair or user is disabled."
    );
}

//! What the command reports only after long: libfaketime lets its clock run ten times as fast.

use crate::cli::{self, PATIENCE, shell};
use crate::support::clock;
use crate::support::masters::Masters;
use crate::support::poll::eventually_blocking;
use crate::waiting::{hold, read, start};
use serde_json::Value;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

const TIMES: u32 = 10;

/// By its clock, masters are ten times as slow.
fn fast<'a>(command: &'a mut Command, library: &Path) -> &'a mut Command {
    command.env("LD_PRELOAD", library).env("FAKETIME", format!("+0 x{TIMES}"));
    command.env("QUORUMLOCK_OPERATION_TIMEOUT", "10s").env("QUORUMLOCK_CONNECT_TIMEOUT", "20s");
    command.env("QUORUMLOCK_TTL", "30s")
}

/// A holder is no news for a log, so that the commands without masters are the only ones that write.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_terminal_an_outage_is_reported_once_and_so_is_its_end() {
    let Some(library) = clock::library() else { return };
    let (masters, fine) = (Masters::start(3), Masters::start(3));
    let _held = hold(&fine, "web-3").await;
    (1..3).for_each(|node| masters.kill(node));
    let files = tempfile::tempdir().unwrap();
    let path = |name: &str| files.path().join(name);
    let began = Instant::now();
    let mut elect = cli::on(&masters, &["elect", "e", "--", "true"]);
    let elect = start(fast(&mut elect, &library), &path("elect"));
    let mut json = shell(&masters, &["--json", "--no-timeout"], "true");
    let json = start(fast(&mut json, &library), &path("json"));
    let mut held = shell(&fine, &["--no-timeout"], "true");
    let mut held = start(fast(&mut held, &library), &path("held"));

    eventually_blocking("both report it", PATIENCE, || {
        read(&path("elect")).ends_with('\n') && read(&path("json")).ends_with('\n')
    });
    let waited = began.elapsed() * TIMES;
    assert!(waited > Duration::from_secs(9), "after {waited:?}");
    let missing = format!("({} down, {} down)", masters[1].addr(), masters[2].addr());
    let what = format!("no quorum: 1 of 3 masters may vote, 2 needed {missing}");
    let reported = format!("quorumlock: waiting for \"e\": {what}\n");
    assert_eq!(read(&path("elect")), reported);
    // It is reported once, however long it lasts: it is looked at each second.
    tokio::time::sleep(Duration::from_secs(3) / TIMES).await;
    masters[1].restart();
    assert!(elect.wait_with_output().unwrap().status.success());
    assert!(json.wait_with_output().unwrap().status.success());
    let end = "quorumlock: waiting for \"e\": a quorum may vote again\n";
    assert_eq!(read(&path("elect")), reported + end);
    let notes = read(&path("json"));
    let notes: Vec<Value> = notes.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |name: &str| notes.iter().map(|note| note[name].clone()).collect::<Vec<_>>();
    assert_eq!(of("obstacle"), ["no_quorum".into(), Value::Null], "{notes:?}");
    assert_eq!(of("waiting_for"), ["r", "r"], "{notes:?}");
    assert_eq!(read(&path("held")), "");
    held.kill().unwrap();
    held.wait().unwrap();
}

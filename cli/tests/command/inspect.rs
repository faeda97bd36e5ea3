//! `quorumlock inspect` and `force-release`: the holder of a lock is shown, and the lock can be
//! taken away.

use crate::cli::{self, PATIENCE, Running, run};
use crate::support::masters::Masters;
use crate::support::poll::eventually_blocking;
use crate::support::witness;
use quorumlock::{Guard, Redlock};
use serde_json::Value;
use std::io::Write;
use std::process::Stdio;
use std::time::Duration;

async fn hold(masters: &Masters, resource: &str) -> (Redlock, Guard) {
    let patient = masters.builder().operation_timeout(Duration::from_secs(1));
    let redlock = patient.label("worker-7").connect().await.unwrap();
    let guard = redlock.acquire(resource).ttl(Duration::from_secs(30)).await.unwrap();
    (redlock, guard)
}

#[test]
fn a_free_lock_is_reported_as_free_on_every_master() {
    let masters = Masters::start(3);
    let output = run(&mut cli::on(&masters, &["inspect", "r"]));
    let nodes =
        masters.urls().into_iter().map(|url| format!("  {}  free\n", &url["redis://".len()..]));
    let expected = format!("\"r\" is free\n{}", nodes.collect::<String>());
    assert_eq!((output.code, output.stdout, &*output.stderr), (Some(0), expected, ""));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn several_locks_are_shown_in_turn_and_as_a_json_line_each() {
    let masters = Masters::start(3);
    let _held = hold(&masters, "held").await;
    masters.kill(2);
    let plain = run(&mut cli::on(&masters, &["inspect", "held", "free"]));
    assert_eq!((plain.code, &*plain.stderr), (Some(0), ""), "{plain:?}");
    assert!(plain.stdout.starts_with("\"held\" is held by worker-7, expires in "), "{plain:?}");
    assert!(plain.stdout.contains("\n\"free\" is free\n"), "{plain:?}");
    assert_eq!(plain.stdout.matches("down (Connection refused").count(), 2, "{plain:?}");

    let json = run(&mut cli::on(&masters, &["--json", "inspect", "held", "free"]));
    let lines: Vec<Value> =
        json.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let [held, free] = &lines[..] else { panic!("{json:?}") };
    assert_eq!((&held["resource"], &held["state"]), (&"held".into(), &"held".into()));
    assert_eq!(held["holder"]["label"], "worker-7");
    let left = held["holder"]["remaining_ms"].as_u64().unwrap();
    assert!(left <= 30_000, "{left}");
    let states: Vec<_> =
        held["nodes"].as_array().unwrap().iter().map(|node| &node["state"]).collect();
    assert_eq!(states, ["held", "held", "unknown"]);
    assert_eq!((&free["state"], &free["holder"]), (&"free".into(), &Value::Null));
}

/// The inspection has noted nothing at the master that could keep other clients away.
#[test]
fn an_inspection_of_one_master_keeps_no_later_command_away() {
    let masters = Masters::start(5);
    let inspected = run(cli::over([masters[0].url()]).args(["inspect", "r"]));
    assert_eq!((inspected.code, &*inspected.stderr), (Some(0), ""), "{inspected:?}");
    let ran = run(&mut cli::on(&masters, &["run", "-n", "r", "--", "echo", "at work"]));
    assert_eq!((ran.code, &*ran.stdout, &*ran.stderr), (Some(0), "at work\n", ""), "{ran:?}");
    // A command with a single master is not refused afterwards either, and may look.
    let again = run(cli::over([masters[0].url()]).args(["inspect", "r"]));
    assert_eq!(again.code, Some(0), "{again:?}");
}

#[test]
fn a_lock_that_no_quorum_reports_on_gives_112() {
    let masters = Masters::start(3);
    (0..2).for_each(|node| masters.kill(node));
    let output = run(&mut cli::on(&masters, &["inspect", "r"]));
    assert_eq!(output.code, Some(112), "{output:?}");
    assert!(output.stdout.starts_with("\"r\" is neither held nor free by quorum\n"), "{output:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_terminal_force_release_needs_the_yes_option() {
    let masters = Masters::start(3);
    let _held = hold(&masters, "r").await;
    let refused = run(&mut cli::on(&masters, &["force-release", "r"]));
    let line = "quorumlock: force-release asks on a terminal, and there is none: use --yes\n";
    assert_eq!((refused.code, &*refused.stderr), (Some(114), line));
    assert_eq!(witness::holders(&masters, "r").await.len(), 3);

    let done = run(&mut cli::on(&masters, &["force-release", "--yes", "--json", "r"]));
    assert_eq!((done.code, &*done.stderr), (Some(0), ""), "{done:?}");
    let value: Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!((&value["released"], &value["was"]["state"]), (&true.into(), &"held".into()));
    assert_eq!(value["was"]["holder"]["label"], "worker-7");
    witness::eventually_no_keys(&masters, PATIENCE).await;

    let again = run(&mut cli::on(&masters, &["force-release", "--yes", "r"]));
    let line = "\"r\" is free: nothing was done\n";
    assert_eq!((again.code, &*again.stdout), (Some(0), line), "{again:?}");
}

/// Types `keys` as the answer to the question that was shown.
fn answer(masters: &Masters, keys: &[u8]) -> cli::Finished {
    let script = format!("{} force-release r; echo code=$?", env!("CARGO_BIN_EXE_quorumlock"));
    let files = tempfile::tempdir().unwrap();
    let shown = files.path().join("shown");
    let mut command = cli::beside(masters, "script");
    command.env("SHELL", "/bin/sh").args(["-qfec", &script]).arg(&shown);
    let mut running = Running::start(command.stdin(Stdio::piped()));
    let asks =
        || std::fs::read(&shown).is_ok_and(|text| String::from_utf8_lossy(&text).contains("[y/N]"));
    eventually_blocking("it asks", PATIENCE, asks);
    running.stdin().write_all(keys).unwrap();
    running.finish()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn on_a_terminal_it_shows_the_holder_and_obeys_the_answer() {
    let masters = Masters::start(3);
    let _held = hold(&masters, "r").await;
    let no = answer(&masters, b"n\n");
    assert!(no.stdout.contains("held by worker-7") && no.stdout.contains("code=1"), "{no:?}");
    assert_eq!(witness::holders(&masters, "r").await.len(), 3);
    let yes = answer(&masters, b"y\n");
    assert!(yes.stdout.contains("code=0"), "{yes:?}");
    witness::eventually_no_keys(&masters, PATIENCE).await;
}

//! `quorumlock list` and `watch`: every lock that is held, as a table, as JSON, and as it changes.

use crate::cli::{self, Finished, PATIENCE, run};
use crate::support::masters::Masters;
use crate::support::normalised::without_times;
use crate::support::poll::eventually;
use crate::support::witness;
use quorumlock::{Guard, Redlock};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::time::Duration;

const PAGE: &str = include_str!("../../../docs/cli.md");

const LONG: Duration = Duration::from_secs(30);

async fn client(masters: &Masters, label: &str) -> Redlock {
    let patient = masters.builder().operation_timeout(Duration::from_secs(1));
    patient.label(label).connect().await.unwrap()
}

/// Acquires, and waits until every master has the key.
async fn hold(masters: &Masters, label: &str, resources: &[&str]) -> (Redlock, Guard) {
    let redlock = client(masters, label).await;
    let names: Vec<String> = resources.iter().map(|name| (*name).to_owned()).collect();
    let guard = redlock.acquire_all(names).ttl(LONG).await.unwrap();
    for name in resources {
        let all = async || witness::holders(masters, name).await.len() == masters.len();
        eventually("every master has it", PATIENCE, all).await;
    }
    (redlock, guard)
}

fn lines(printed: &Finished) -> Vec<Value> {
    printed.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The widths of the columns follow the times.
fn normalised(text: &str) -> String {
    let line = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        without_times(&words.join(" "))
    };
    text.trim().lines().map(line).collect::<Vec<_>>().join("\n")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_list_on_the_page_is_what_the_command_prints() {
    let masters = Masters::start(5);
    let _backup = hold(&masters, "web-3:4711", &["backup"]).await;
    let _orders = hold(&masters, "worker-7", &["orders:42", "orders:43"]).await;
    let other = client(&masters, "worker-8").await;
    let waiting = tokio::spawn(other.acquire("orders:42").timeout(PATIENCE).into_future());
    let counted = async || {
        let json = run(&mut cli::on(&masters, &["list", "--json", "orders:42"]));
        lines(&json)[0]["waiting"] == 1
    };
    eventually("it is seen to wait", PATIENCE, counted).await;

    let plain = run(&mut cli::on(&masters, &["list"]));
    assert_eq!((plain.code, &*plain.stderr), (Some(0), ""), "{plain:?}");
    let recorded = PAGE.split_once("$ quorumlock list\n").unwrap().1.split("```").next().unwrap();
    assert_eq!(normalised(&plain.stdout), normalised(recorded));
    assert!(recorded.lines().chain(plain.stdout.lines()).all(|line| line.len() <= 80), "{plain:?}");

    let json = run(&mut cli::on(&masters, &["list", "--json"]));
    let found = lines(&json);
    let text = |name: &str| found.iter().map(|lock| lock[name].clone()).collect::<Vec<_>>();
    assert_eq!(text("resource"), ["backup", "orders:42", "orders:43"]);
    assert_eq!(text("holder"), ["web-3:4711", "worker-7", "worker-7"]);
    assert_eq!(text("state"), ["held"; 3]);
    for lock in &found {
        assert!(lock["remaining_ms"].as_u64().unwrap() <= 30_000, "{lock}");
        assert_eq!(
            (&lock["recognized"], lock["held_on"].as_array().unwrap().len()),
            (&true.into(), 5)
        );
    }
    waiting.abort();
}

#[test]
fn an_empty_list_says_where_it_has_looked() {
    let masters = Masters::start(3);
    for (arguments, expected) in [
        (&["list"][..], "no lock is held\n"),
        (&["list", "orders:"], "no lock is held under \"orders:\"\n"),
        (&["list", "--json"], ""),
    ] {
        let output = run(&mut cli::on(&masters, arguments));
        assert_eq!((output.code, &*output.stdout, &*output.stderr), (Some(0), expected, ""));
    }
    let refused = run(&mut cli::on(&masters, &["list", "quorumlock:"]));
    assert_eq!(refused.code, Some(114), "{refused:?}");
    assert!(refused.stderr.starts_with("quorumlock: prefix: "), "{refused:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn masters_that_are_down_are_named_and_too_many_give_112() {
    let masters = Masters::start(3);
    let _held = hold(&masters, "me", &["r"]).await;
    masters.kill(0);
    let listed = run(&mut cli::on(&masters, &["list"]));
    assert_eq!(listed.code, Some(0), "{listed:?}");
    assert!(
        listed.stdout.contains("2 of 3") && listed.stdout.contains("1 lock is held"),
        "{listed:?}"
    );
    let dead = format!("quorumlock: warning: {} is not used: not reachable (", masters[0].addr());
    assert!(listed.stderr.starts_with(&dead) && listed.stderr.lines().count() == 1, "{listed:?}");
    masters.kill(1);
    let unclear = run(&mut cli::on(&masters, &["list", "--json"]));
    assert_eq!(
        (unclear.code, &lines(&unclear)[0]["state"]),
        (Some(112), &"unclear".into()),
        "{unclear:?}"
    );
    let error: Value = serde_json::from_str(unclear.stderr.lines().last().unwrap()).unwrap();
    assert_eq!(
        (&error["error"], error["nodes"].as_array().unwrap().len()),
        (&"no_quorum".into(), 2)
    );
}

/// A terminal is 80 columns wide unless it says otherwise; a name that is too long is cut.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn on_a_terminal_the_table_fits() {
    let masters = Masters::start(3);
    let name = "r".repeat(100);
    let _held = hold(&masters, &"worker-".repeat(9), &[&name]).await;
    let command = format!("{} list", env!("CARGO_BIN_EXE_quorumlock"));
    let mut script = cli::beside(&masters, "script");
    script.env("SHELL", "/bin/sh").env("NO_COLOR", "1").env_remove("COLUMNS").args([
        "-qfec",
        &command,
        "/dev/null",
    ]);
    let drawn = run(script.stdin(Stdio::null()));
    let table: Vec<&str> = drawn.stdout.lines().collect();
    assert!(table.iter().all(|line| line.trim_end().chars().count() <= 80), "{drawn:?}");
    assert!(table[1].starts_with("rrrr") && table[1].contains('…'), "{drawn:?}");
    let piped = run(&mut cli::on(&masters, &["list"]));
    assert!(piped.stdout.contains(&name), "{piped:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn watch_prints_what_changes_while_it_is_read() {
    let masters = Masters::start(3);
    let (first, guard) = hold(&masters, "first", &["r"]).await;
    for json in [false, true] {
        let mut command = cli::on(&masters, &["watch", "--interval", "100ms"]);
        let format = if json { &["--json"][..] } else { &[] };
        let mut child = command.args(format).stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let line = lines.next().unwrap().unwrap();
        if json {
            let value: Value = serde_json::from_str(&line).unwrap();
            assert_eq!((&value["event"], &value["holder"]), (&"held".into(), &"first".into()));
            assert!(value["at_ms"].as_u64().unwrap() > 1_600_000_000_000, "{value}");
        } else {
            assert!(line.contains("Z \"r\" is held by first, expires in "), "{line}");
        }
        let other = hold(&masters, "second", &["s"]).await;
        let line = lines.next().unwrap().unwrap();
        assert!(line.contains("\"s\"") && line.contains("second"), "{line}");
        other.1.release().await.unwrap();
        let line = lines.next().unwrap().unwrap();
        let gone = if json { "\"event\":\"released\"" } else { "\"s\" is free, seen for " };
        assert!(line.contains(gone), "{line}");
        drop(lines);
        // It writes once more, and finds that the pipe is closed.
        let third = hold(&masters, "third", &["t"]).await;
        assert_eq!(child.wait().unwrap().code(), Some(0));
        third.1.release().await.unwrap();
    }
    guard.release().await.unwrap();
    first.shutdown().await.unwrap();
}

/// With a prefix, the key is another than the resource.
#[test]
fn inspect_prints_the_key_that_it_asked_for() {
    let masters = Masters::start(3);
    let mut command = cli::on(&masters, &["inspect", "r"]);
    let plain = run(command.env("QUORUMLOCK_KEY_PREFIX", "locks:"));
    assert!(plain.stdout.starts_with("\"r\" is free (key \"locks:r\")\n"), "{plain:?}");
    let json = run(command.arg("--json"));
    assert_eq!(lines(&json)[0]["key"], "locks:r");
}

#[test]
fn a_pause_that_is_too_short_is_refused() {
    let refused = run(cli::over(["redis://127.0.0.1:1"]).args(["watch", "-i", "10ms"]));
    assert_eq!(refused.code, Some(114), "{refused:?}");
    assert!(refused.stderr.contains("use at least 100ms"), "{refused:?}");
}

//! `quorumlock run --shared`: commands that read together, and one that has the lock alone;
//! and the readers that an operator sees.

use crate::cli::{self, PATIENCE, Running, run, shell};
use crate::support::masters::Masters;
use crate::support::poll::eventually;
use crate::support::witness;
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// A command that runs until its stdin is closed.
fn start(masters: &Masters, options: &[&str], file: &Path) -> Running {
    let script = format!("echo runs >> {}; read x; exit 0", file.display());
    let mut command: Command = shell(masters, options, &script);
    Running::start(command.stdin(Stdio::piped()))
}

fn count(file: &Path) -> usize {
    std::fs::read_to_string(file).unwrap_or_default().lines().count()
}

#[tokio::test]
async fn commands_that_share_run_together_and_one_that_does_not_runs_alone() {
    let (masters, files) = (Masters::start(3), tempfile::tempdir().unwrap());
    let file = files.path().join("runs");
    let first = start(&masters, &["--shared", "--label", "reader-1"], &file);
    let second = start(&masters, &["--shared", "--label", "reader-2"], &file);
    eventually("both run", PATIENCE, async || count(&file) == 2).await;
    let alone = run(&mut shell(&masters, &["--no-wait"], "exit 7"));
    assert_eq!(alone.code, Some(111), "{alone:?}");
    assert!(alone.stderr.starts_with("quorumlock: \"r\" is read by reader-"), "{alone:?}");
    assert_eq!(run(&mut shell(&masters, &["--shared", "--no-wait"], "exit 7")).code, Some(7));

    let waiting = start(&masters, &["--no-timeout"], &file);
    assert_eq!((first.finish().code, second.finish().code), (Some(0), Some(0)));
    eventually("the one that waited runs", PATIENCE, async || count(&file) == 3).await;
    let reader = run(&mut shell(&masters, &["--shared", "--no-wait"], "exit 7"));
    assert_eq!(reader.code, Some(111), "{reader:?}");
    assert_eq!(waiting.finish().code, Some(0));
    witness::assert_no_keys_now(&masters).await;
}

#[tokio::test]
async fn an_operator_sees_who_reads_and_takes_the_lock_away_from_all_of_them() {
    let (masters, files) = (Masters::start(3), tempfile::tempdir().unwrap());
    let file = files.path().join("runs");
    let reader = start(&masters, &["--shared", "--label", "reader-1"], &file);
    eventually("it runs", PATIENCE, async || count(&file) == 1).await;

    let inspected = run(&mut cli::on(&masters, &["inspect", "--json", "r"]));
    let json: Value = serde_json::from_str(&inspected.stdout).unwrap();
    assert_eq!(json["state"], "read", "{inspected:?}");
    assert_eq!(json["holder"]["readers"][0]["label"], "reader-1", "{inspected:?}");
    assert_eq!(json["holder"]["label"], Value::Null, "{inspected:?}");
    let inspected = run(&mut cli::on(&masters, &["inspect", "r"]));
    assert!(inspected.stdout.starts_with("\"r\" is read by reader-1 for "), "{inspected:?}");

    let listed = run(&mut cli::on(&masters, &["list"]));
    let row = listed.stdout.lines().nth(1).unwrap();
    let cells: Vec<&str> = row.split_whitespace().collect();
    assert_eq!(cells[..3], ["r", "read", "reader-1"], "{listed:?}");
    assert!(!listed.stdout.contains("quorumlock:"), "{listed:?}");
    let listed = run(&mut cli::on(&masters, &["list", "--json"]));
    let json: Value = serde_json::from_str(&listed.stdout).unwrap();
    assert_eq!((&json["state"], &json["recognized"]), (&"read".into(), &true.into()), "{listed:?}");
    assert_eq!(json["readers"][0]["label"], "reader-1", "{listed:?}");

    let taken = run(&mut cli::on(&masters, &["force-release", "--yes", "r"]));
    assert_eq!(taken.code, Some(0), "{taken:?}");
    assert_eq!(run(&mut shell(&masters, &["--no-wait"], "exit 7")).code, Some(7));
    drop(reader);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn watch_reports_readers_that_come_and_leave() {
    let masters = Masters::start(3);
    let redlock = crate::support::masters::builder().nodes(masters.urls()).connect().await.unwrap();
    let read = async |label: &str| {
        let table = redlock.rw_lock("table:7");
        table.read().ttl(Duration::from_secs(20)).label(label).await.unwrap()
    };
    let first = read("worker-1").await;
    let mut command = cli::on(&masters, &["watch", "--json", "--interval", "100ms", "table:"]);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut look = || {
        let line: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
        let mut labels: Vec<String> = line["readers"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|reader| reader["label"].to_string())
            .collect();
        labels.sort_unstable();
        (line["event"].as_str().unwrap().to_owned(), labels.join(" "))
    };
    assert_eq!(look(), ("read".into(), "\"worker-1\"".into()));
    let second = read("worker-2").await;
    assert_eq!(look(), ("readers".into(), "\"worker-1\" \"worker-2\"".into()));
    first.release().await.unwrap();
    assert_eq!(look(), ("readers".into(), "\"worker-2\"".into()));
    second.release().await.unwrap();
    assert_eq!(look().0, "released");
    child.kill().unwrap();
    child.wait().unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_waiting_reader_learns_that_a_writer_waits() {
    let masters = Masters::start(3);
    let redlock = crate::support::masters::builder().nodes(masters.urls()).connect().await.unwrap();
    let table = redlock.rw_lock("r");
    let reader = table.read().ttl(Duration::from_secs(20)).await.unwrap();
    let writer = tokio::spawn(table.write().timeout(Duration::MAX).into_future());
    let refused = async || table.try_read().await.is_err();
    eventually("the writer waits", PATIENCE, refused).await;
    let waited = run(&mut shell(&masters, &["--shared", "--verbose", "--timeout", "1s"], "exit 7"));
    assert_eq!(waited.code, Some(111), "{waited:?}");
    let waits = "waiting for \"r\": a writer waits for it\n";
    assert!(waited.stderr.contains(waits), "{waited:?}");
    assert!(waited.stderr.contains("\"r\" is wanted by a writer that waits: "), "{waited:?}");
    reader.release().await.unwrap();
    writer.await.unwrap().unwrap().release().await.unwrap();
}

/// Two streams of readers that overlap would keep a lock out that is no writer.
#[tokio::test]
async fn a_writer_comes_before_new_readers() {
    let (masters, files) = (Masters::start(3), tempfile::tempdir().unwrap());
    for options in [&["--exclusive"][..], &["--exclusive", "--fenced"]] {
        let file = files.path().join(options.len().to_string());
        let reader = start(&masters, &["--shared", "--label", "reader-1"], &file);
        eventually("it reads", PATIENCE, async || count(&file) == 1).await;
        let writer = start(&masters, &[options, &["--no-timeout"]].concat(), &file);
        let next = || run(&mut shell(&masters, &["--shared", "--no-wait"], "exit 7"));
        eventually("no new reader comes in", PATIENCE, async || next().code == Some(111)).await;
        assert!(next().stderr.contains("\"r\" is wanted by a writer that waits: "));
        assert_eq!(reader.finish().code, Some(0));
        eventually("it writes", PATIENCE, async || count(&file) == 2).await;
        let refused = next();
        assert!(refused.stderr.starts_with("quorumlock: \"r\" is held by "), "{refused:?}");
        assert_eq!(writer.finish().code, Some(0));
        assert_eq!(next().code, Some(7));
    }
}

#[tokio::test]
async fn what_does_not_go_with_readers_is_refused_before_a_master_is_asked() {
    let masters = Masters::start(1);
    for with in [&["--fenced"][..], &["--permits", "2"], &["--min-hold", "5s"]] {
        let refused = run(&mut shell(&masters, &[&["--shared"], with].concat(), "exit 7"));
        assert_eq!(refused.code, Some(114), "{refused:?}");
        let text = format!("the argument '--shared' cannot be used with '{}", with[0]);
        assert!(refused.stderr.contains(&text), "{refused:?}");
    }
    for with in [&["--shared"][..], &["--fair"], &["--permits", "2"], &["--min-hold", "5s"]] {
        let refused = run(&mut shell(&masters, &[&["--exclusive"], with].concat(), "exit 7"));
        assert_eq!(refused.code, Some(114), "{refused:?}");
        assert!(refused.stderr.contains("' cannot be used with '"), "{refused:?}");
    }
    for option in ["--shared", "--exclusive"] {
        let refused = run(&mut cli::on(&masters, &["run", option, "a", "b", "--", "true"]));
        assert_eq!(refused.code, Some(114), "{refused:?}");
        assert!(refused.stderr.contains("--fair are for one RESOURCE"), "{refused:?}");
    }
}

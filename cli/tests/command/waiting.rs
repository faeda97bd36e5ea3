//! `quorumlock run` while it waits, for a person who follows: what it waits for.

use crate::cli::{PATIENCE, Running, Terminal, beside, run, shell};
use crate::support::masters::Masters;
use crate::support::poll::{eventually, eventually_blocking};
use crate::support::witness;
use quorumlock::{Guard, Redlock};
use serde_json::Value;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

pub(crate) async fn hold(masters: &Masters, label: &str) -> (Redlock, Guard) {
    let patient = masters.builder().operation_timeout(Duration::from_secs(1));
    let redlock = patient.label(label).connect().await.unwrap();
    let guard = redlock.acquire("r").timeout(PATIENCE).keep_alive().await.unwrap();
    (redlock, guard)
}

/// Starts a command whose stderr is a file, which can be read while it waits.
pub(crate) fn start(command: &mut Command, stderr: &Path) -> Child {
    command.stdout(Stdio::piped());
    command.stderr(File::create(stderr).unwrap()).spawn().unwrap()
}

pub(crate) fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

const PROGRAM: &str = env!("CARGO_BIN_EXE_quorumlock");

/// Starts it on a terminal of its own; what the terminal shows is its stdout.
fn on_a_terminal(masters: &Masters, columns: usize, arguments: &str) -> Running {
    let script = format!("stty cols {columns} rows 40; {PROGRAM} {arguments}; echo code=$?");
    let mut command = beside(masters, "script");
    command.env("SHELL", "/bin/sh").args(["-qfec", &script, "/dev/null"]);
    Running::start(command.stdin(Stdio::null()))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_follows_learns_the_holder_and_else_waiting_is_silent() {
    let masters = Masters::start(3);
    let _held = hold(&masters, "web-3").await;
    // All at the same time: they wait.
    let on_terminals = ["run --timeout 1s r -- true", "run --json --timeout 1s r -- true"]
        .map(|arguments| on_a_terminal(&masters, 200, arguments));
    let piped = [&["-v", "--json"][..], &[], &["--json"]].map(|options| {
        let options = [options, &["--timeout", "1s"]].concat();
        Running::start(&mut shell(&masters, &options, "echo ran"))
    });
    let [shown, json] = on_terminals.map(Running::finish);
    let line = "quorumlock: waiting for \"r\": held by web-3, expires in ";
    assert!(shown.stdout.starts_with(line) && shown.stdout.contains("code=111"), "{shown:?}");
    assert!(!json.stdout.contains("waiting") && json.stdout.contains("code=111"), "{json:?}");

    let [followed, silent @ ..] = piped.map(Running::finish);
    assert_eq!(followed.code, Some(111), "{followed:?}");
    let lines: Vec<Value> =
        followed.stderr.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let note = lines.iter().find(|line| line["obstacle"] == "held").expect("a note");
    assert_eq!((&note["waiting_for"], &note["holder"]["label"]), (&"r".into(), &"web-3".into()));
    assert!(note["remaining_ms"].as_u64().unwrap() <= 10_000, "{note}");
    assert!(note["note"].as_str().unwrap().starts_with("waiting for \"r\": held by web-3, "));
    for output in silent {
        assert_eq!(output.code, Some(111), "{output:?}");
        assert!(!output.stderr.contains("waiting"), "{output:?}");
    }
    // One attempt is no wait.
    let once = run(&mut shell(&masters, &["-v", "--no-wait"], "echo ran"));
    assert!(!once.stderr.contains("waiting"), "{once:?}");
}

#[test]
fn a_waiter_for_fresh_masters_learns_how_long() {
    let masters = Masters::start(3);
    let start = |option: &str| {
        let mut command = shell(&masters, &[option, "--timeout", "1s"], "echo ran");
        Running::start(command.env("QUORUMLOCK_RESTART_GUARD", "on"))
    };
    let [shown, json] = ["-v", "--json"].map(start).map(Running::finish);
    assert_eq!(shown.code, Some(112), "{shown:?}");
    let line = "quorumlock: waiting for \"r\": masters are warming up, ready in ";
    assert!(shown.stderr.starts_with(line), "{shown:?}");
    assert!(shown.stderr.contains(" s (0 of 3 masters may vote, 2 needed)\n"), "{shown:?}");
    // The failure has the main fact in front, and the time for programs.
    let line = "\nquorumlock: no quorum for \"r\": masters are warming up, enough may vote in ";
    assert!(shown.stderr.contains(line), "{shown:?}");
    let value: Value = serde_json::from_str(&json.stderr).unwrap();
    assert_eq!(value["error"], "no_quorum");
    assert!((1..=32_000).contains(&value["ready_in_ms"].as_u64().unwrap()), "{value}");
    for node in value["nodes"].as_array().unwrap() {
        assert_eq!(node["answer"], "warming_up", "{value}");
        assert!((1..=32_000).contains(&node["remaining_ms"].as_u64().unwrap()), "{value}");
    }
}

#[test]
fn a_waiter_for_masters_that_are_down_learns_which() {
    let masters = Masters::start(3);
    (1..3).for_each(|node| masters.kill(node));
    let shown = run(&mut shell(&masters, &["-v", "--timeout", "1s"], "echo ran"));
    assert_eq!(shown.code, Some(112), "{shown:?}");
    let missing = format!("({} down, {} down)\n", masters[1].addr(), masters[2].addr());
    let line = "quorumlock: waiting for \"r\": no quorum: 1 of 3 masters may vote, 2 needed ";
    assert!(shown.stderr.contains(&format!("\n{line}{missing}")), "{shown:?}");
    assert_eq!(shown.stderr.matches("waiting for").count(), 1, "{shown:?}");
}

async fn verbose_names_the_holder_and_then_the_next_one() {
    let masters = Masters::start(3);
    let (_redlock, first) = hold(&masters, "web-3").await;
    let files = tempfile::tempdir().unwrap();
    let stderr = files.path().join("stderr");
    let mut command = shell(&masters, &["-v", "--no-timeout"], "echo ran");
    let running = start(&mut command, &stderr);
    let begins = |holder: &str| format!("quorumlock: waiting for \"r\": held by {holder}, expires");
    eventually_blocking("the holder is named", PATIENCE, || {
        read(&stderr).contains(&begins("web-3"))
    });
    // The key changes hands on the masters, so that the waiter gets no turn.
    let next = "0123456789abcdef0123456789abcdef:web-4";
    for server in masters.iter() {
        witness::set_foreign(server, "r", next, Duration::from_secs(10)).await;
    }
    eventually_blocking("the next holder is named", PATIENCE, || {
        read(&stderr).contains(&begins("web-4"))
    });
    for server in masters.iter() {
        witness::ask::<()>(server, redis::cmd("DEL").arg("r")).await.unwrap();
    }
    drop(first);
    assert!(running.wait_with_output().unwrap().status.success());
    let lines = read(&stderr);
    assert_eq!(lines.matches("waiting for").count(), 2, "once each: {lines}");
    assert!(lines.ends_with("quorumlock: acquired \"r\"\nquorumlock: released \"r\"\n"), "{lines}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_later_look_repeats_no_holder_and_names_the_next() {
    let masters = Masters::start(3);
    let _held = hold(&masters, "web-3").await;
    // Both at the same time: they wait.
    let waits = on_a_terminal(&masters, 200, "run --timeout 4s r -- true");
    verbose_names_the_holder_and_then_the_next_one().await;
    let shown = waits.finish();
    let line = "quorumlock: waiting for \"r\": held by web-3, expires in ";
    assert!(shown.stdout.starts_with(line), "{shown:?}");
    assert_eq!(shown.stdout.matches("waiting for").count(), 1, "{shown:?}");
    assert!(!shown.stdout.contains("\x1b["), "{shown:?}");
    let (_, error) = shown.stdout.split_once("\r\n").expect("the error has a line of its own");
    assert!(error.starts_with("quorumlock: \"r\" is held by web-3, expires in "), "{shown:?}");
    let first = error.lines().next().unwrap();
    assert!(first.contains(" (after 4 s, ") && first.ends_with(" attempts)"), "{shown:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn behind_control_c_the_prompt_has_a_line_of_its_own() {
    let masters = Masters::start(3);
    let _held = hold(&masters, "web-3").await;
    let script = format!("trap : INT; {PROGRAM} run --no-timeout r -- true; echo code=$?");
    let mut terminal = Terminal::start(&masters, &script);
    eventually_blocking("it waits", PATIENCE, || terminal.shown().contains("expires in "));
    terminal.type_in(b"\x03");
    eventually_blocking("it ends", PATIENCE, || terminal.shown().contains("code=130\r\n"));
    let shown = terminal.shown();
    assert!(shown.contains("^C\r\ncode=130"), "{shown:?}");
}

/// A stopped terminal, or a reader that does not read: here a pipe that is full.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reader_that_does_not_read_does_not_delay_the_lock() {
    let masters = Masters::start(3);
    let (_redlock, guard) = hold(&masters, "web-3").await;
    let (reader, writer) = std::io::pipe().unwrap();
    let mut full = writer.try_clone().unwrap();
    // What is left of the pipe is too little for a line.
    let filler = std::thread::spawn(move || {
        let _ = full.write_all(&vec![b'.'; 1 << 17]);
    });
    let mut command = shell(&masters, &["-v", "--no-timeout"], "true");
    command.stdout(Stdio::null()).stderr(writer);
    let mut running = command.spawn().unwrap();
    tokio::time::sleep(Duration::from_secs(1)).await;
    guard.release().await.unwrap();
    eventually("it acquires", PATIENCE, async || witness::holders(&masters, "r").await.len() >= 2)
        .await;
    let _ = running.kill();
    let _ = running.wait();
    drop(reader);
    let _ = filler.join();
}

//! Clients of this version next to clients of the previous one, as in a rolling upgrade, up and
//! down.
//!
//! The previous version had another agreement: `rolling_upgrade/agree.lua` is its script, sent here
//! as that version sent it. `make test-upgrade` runs the previous version's command itself next to
//! this one.

use crate::cli;
use crate::support::masters::{self, Masters};
use crate::support::poll::eventually;
use crate::support::server::Server;
use crate::support::witness;
use quorumlock::RedlockBuilder;
use quorumlock::error::ConnectError;
use redis::Value;
use std::collections::BTreeMap;
use std::fs;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

const AGREEMENT: &str = "quorumlock:agreement";
/// The script of the previous version.
const AGREE: &str = include_str!("rolling_upgrade/agree.lua");
const SECOND: Duration = Duration::from_secs(1);
/// How long a note of the previous version lasted by default, in milliseconds.
const STANDS: i64 = 45_302;

fn builder(urls: impl IntoIterator<Item = String>) -> RedlockBuilder {
    masters::builder().nodes(urls)
}

/// Sends the question of the previous version with these settings.
async fn before_asks(server: &Server, max_ttl: i64, list: &[&Server]) -> Value {
    let mut names: Vec<String> = list.iter().map(|server| server.addr().to_string()).collect();
    names.sort_unstable();
    let mut command = redis::cmd("EVAL");
    command.arg(AGREE).arg(1).arg(AGREEMENT).arg(STANDS).arg(max_ttl).arg(2_000).arg(2_000);
    witness::ask(server, command.arg(names.join(" "))).await.unwrap()
}

async fn noted(server: &Server) -> BTreeMap<String, String> {
    witness::ask(server, redis::cmd("HGETALL").arg(AGREEMENT)).await.unwrap()
}

async fn all_agree(masters: &Masters) {
    let list: Vec<&Server> = masters.iter().collect();
    for server in masters.iter() {
        let answer = before_asks(server, 30_000, &list).await;
        assert!(matches!(answer, Value::Int(1..)), "{answer:?}");
    }
}

#[tokio::test]
async fn clients_of_both_versions_agree_on_the_same_whoever_was_first() {
    for before_is_first in [true, false] {
        let masters = Masters::start(3);
        if before_is_first {
            all_agree(&masters).await;
        }
        let redlock = builder(masters.urls()).connect().await.unwrap();
        all_agree(&masters).await;
        redlock.acquire("r").await.unwrap().release().await.unwrap();
        // Another client of this version finds the notes of both.
        let other = builder(masters.urls()).connect().await.unwrap();
        other.acquire("r").await.unwrap().release().await.unwrap();
    }
}

#[tokio::test]
async fn a_client_refused_beside_an_older_version_withdraws_its_note() {
    let masters = Masters::start(4);
    let list: Vec<&Server> = masters.iter().take(3).collect();
    for server in &list {
        before_asks(server, 30_000, &list).await;
    }
    let before = noted(list[0]).await;
    let urls = || masters.urls().into_iter().take(3);
    let other_ttl = builder(urls()).max_ttl(20 * SECOND).connect().await.unwrap_err();
    let other_list = builder(masters.urls().into_iter().skip(1)).connect().await.unwrap_err();
    for (error, words) in [(other_ttl, "max_ttl is 20s here and 30s"), (other_list, "lists")] {
        assert!(matches!(error, ConnectError::Disagreement(_)), "{error}");
        assert!(error.to_string().contains(words), "{error}");
    }
    assert_eq!(noted(list[0]).await, before);
    assert!(noted(&masters[3]).await.keys().all(|field| !field.starts_with("lists")));
}

#[tokio::test]
async fn a_client_of_the_version_before_learns_of_this_one() {
    let masters = Masters::start(4);
    let _redlock = builder(masters.urls().into_iter().take(3)).connect().await.unwrap();
    let (list, other): (Vec<&Server>, Vec<&Server>) =
        (masters.iter().take(3).collect(), masters.iter().skip(1).collect());
    let before = noted(&masters[1]).await;
    for (max_ttl, list, field) in [(20_000, list, "max_ttl"), (30_000, other, "lists")] {
        let answer = before_asks(&masters[1], max_ttl, &list).await;
        let Value::Array(parts) = answer else { panic!("{answer:?}") };
        assert_eq!(parts[0], Value::BulkString(field.into()));
        assert!(matches!(parts[2], Value::Int(1..)), "{parts:?}");
    }
    assert_eq!(noted(&masters[1]).await, before);
}

/// The previous version sets the life of all notes to its own, without the drift of 15 s that this
/// version has added.
#[tokio::test]
async fn an_older_client_shortens_a_note_by_no_more_than_the_drift() {
    let masters = Masters::start(3);
    let _redlock = builder(masters.urls()).connect().await.unwrap();
    all_agree(&masters).await;
    let left = witness::pttl(&masters[0], AGREEMENT).await.unwrap();
    assert!(left > Duration::from_millis(STANDS.unsigned_abs()) - SECOND, "{left:?}");
}

/// The path of the other version's command, for the test below.
const OTHER: &str = "OTHER_QUORUMLOCK";

/// Runs commands of the two versions in turn until `over`, and returns their number. No command
/// finds another one at work.
fn work(command: impl Fn() -> Command, over: &AtomicBool, failed: &Mutex<Vec<String>>) -> usize {
    let mut runs = 0;
    while !over.load(Relaxed) {
        let output = cli::run(&mut command());
        if output.code != Some(0) {
            failed.lock().unwrap().push(format!("{output:?}"));
            return runs;
        }
        runs += 1;
    }
    runs
}

/// A command in a play: of which version, and how it acquires.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Part {
    Before,
    /// Fair, if that version knows it.
    BeforeFair,
    Now,
    NowFair,
    /// Reads: this version alone knows how.
    NowReads,
}
use Part::{Before, BeforeFair, Now, NowFair, NowReads};

/// Plays these parts beside each other, for four seconds each time.
fn play(plays: &[&[Part]], writes: &str, reads: &str) {
    let other = std::env::var(OTHER).unwrap_or_else(|_| panic!("{OTHER} is not set"));
    let masters = Masters::start(5);
    let folder = tempfile::tempdir().unwrap();
    let inside = folder.path().join("inside");
    let arguments = ["--timeout", "30s", "--ttl", "5s", "r", "--", "sh", "-c"];
    let of = |part: Part| {
        let (masters, inside, other) = (&masters, inside.clone(), other.clone());
        move || {
            let mut command = match part {
                Before | BeforeFair => cli::beside(masters, &other),
                Now | NowReads | NowFair => cli::on(masters, &[]),
            };
            let option = match part {
                Before | Now => None,
                NowReads => Some("--shared"),
                BeforeFair | NowFair => Some("--fair"),
            };
            command.arg("run").args(option).args(arguments);
            command.arg(if part == NowReads { reads } else { writes }).arg(&inside);
            command
        }
    };
    let failed = Mutex::new(Vec::new());
    for &parts in plays {
        let over = AtomicBool::new(false);
        let runs: Vec<usize> = thread::scope(|scope| {
            let start = |part: &Part| {
                let (over, failed, part, of) = (&over, &failed, *part, &of);
                scope.spawn(move || work(of(part), over, failed))
            };
            let workers: Vec<_> = parts.iter().map(start).collect();
            thread::sleep(4 * SECOND);
            over.store(true, Relaxed);
            workers.into_iter().map(|worker| worker.join().unwrap()).collect()
        });
        let failures = failed.lock().unwrap();
        assert!(failures.is_empty(), "{parts:?}: {failures:#?}");
        // The fair commands of the version before keep all others out between their turns.
        let fewest = if parts.contains(&BeforeFair) { 1 } else { 6 };
        assert!(runs.iter().all(|runs| *runs >= fewest), "{parts:?}: {runs:?}");
        eprintln!("{parts:?}: {runs:?} commands");
    }
    assert!(!fs::exists(&inside).unwrap());
}

/// Making a directory fails if it exists.
const ALONE: &str = "mkdir \"$0\" && sleep 0.01 && rmdir \"$0\"";

#[test]
#[ignore = "needs the command of another version: make test-upgrade"]
fn commands_of_both_versions_keep_each_other_out_up_and_down() {
    play(
        &[&[Before, Before], &[Now, Before], &[Now, Now], &[Before, Now], &[Before, Before]],
        ALONE,
        ALONE,
    );
}

#[test]
#[ignore = "needs the command of another version: make test-upgrade"]
fn readers_and_commands_of_the_version_before_keep_each_other_out() {
    // A reader fails if a writer is inside, before it reads and after.
    let reads = "! test -e \"$0\" && sleep 0.01 && ! test -e \"$0\"";
    play(&[&[NowReads, Before], &[NowReads, Now], &[Before, NowReads]], ALONE, reads);
}

#[test]
#[ignore = "needs the command of another version: make test-upgrade"]
fn fair_commands_and_commands_of_the_version_before_keep_each_other_out() {
    play(&[&[NowFair, Before], &[NowFair, NowFair, Before], &[NowFair, Before, Now]], ALONE, ALONE);
    let other = std::env::var(OTHER).unwrap_or_else(|_| panic!("{OTHER} is not set"));
    if cli::run(Command::new(other).args(["run", "--help"])).stdout.contains("--fair") {
        play(
            &[&[BeforeFair, NowFair], &[BeforeFair, Now], &[BeforeFair, BeforeFair, NowFair]],
            ALONE,
            ALONE,
        );
    }
}

/// To the version before, what is kept on a master is taken: the master does not count for its
/// extension, and it does not set its key there again until the key is no longer kept.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs the command of another version: make test-upgrade"]
async fn a_key_kept_on_a_minority_costs_a_holder_of_the_version_before_no_lock() {
    let other = std::env::var(OTHER).unwrap_or_else(|_| panic!("{OTHER} is not set"));
    let masters = Masters::start(5);
    let mut command = cli::beside(&masters, &other);
    command.args(["run", "--ttl", "3s", "r", "--", "sleep", "8"]);
    let holder = cli::Running::start(&mut command);
    let held = async || witness::holders(&masters, "r").await.len() == 5;
    eventually("it holds", cli::PATIENCE, held).await;
    let token = witness::value(&masters[4], "r").await;

    let redlock = builder(masters.urls()).connect().await.unwrap();
    for server in &masters[..2] {
        witness::set_foreign(server, "r", "quorumlock:next:another", 2 * SECOND).await;
    }
    let waits = redlock.acquire("r").fair(true).timeout(2 * SECOND).await.unwrap_err();
    assert!(waits.is_contended(), "{waits}");
    let is_back = async || witness::value(&masters[0], "r").await == token;
    eventually("its key is back where it was kept", cli::PATIENCE, is_back).await;
    let waits = redlock.acquire("r").fair(true).timeout(60 * SECOND).await;
    let output = holder.finish();
    assert_eq!(output.code, Some(0), "{output:?}");
    waits.unwrap().release().await.unwrap();
}

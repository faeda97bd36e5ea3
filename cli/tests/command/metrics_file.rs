//! `--metrics-file`: what a collector of text files reads about a command and its lock.

use crate::cli::{PATIENCE, Running, on, run, shell};
use crate::support::masters::Masters;
use crate::support::poll::eventually_blocking;
use crate::waiting::{read, start};
use quorumlock::Redlock;
use rustix::process::Signal;
use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::{SystemTime, UNIX_EPOCH};
use tempfile::TempDir;

/// Returns the value of the only sample of this name with these labels; all have that of the lock.
fn value(path: &Path, name: &str, labels: &str) -> Option<f64> {
    let text = fs::read_to_string(path).ok()?;
    assert!(text.ends_with('\n'), "cut off: {text:?}");
    let mut samples = text.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    assert!(samples.clone().all(|line| line.contains("lock=\"r\"")), "{text}");
    let sample = samples.find(|line| {
        let rest = line.strip_prefix(name).and_then(|rest| rest.strip_prefix('{'));
        rest.is_some_and(|rest| rest.contains(labels))
    })?;
    sample.rsplit_once(' ')?.1.parse().ok()
}

#[allow(clippy::float_cmp)] // Whole numbers, which a float has exactly.
fn is(path: &Path, name: &str, labels: &str, expected: f64) -> bool {
    value(path, name, labels) == Some(expected)
}

fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs_f64()
}

fn file() -> (TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("quorumlock_r.prom");
    (folder, path)
}

fn names(folder: &TempDir) -> Vec<String> {
    let names = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
    names.map(|name| name.into_string().unwrap()).collect()
}

#[test]
fn a_command_that_has_ended_leaves_its_metrics_and_nothing_else() {
    let masters = Masters::start(3);
    let (folder, path) = file();
    let option = ["--metrics-file", path.to_str().unwrap()];
    let began = now();
    let ended = run(&mut shell(&masters, &option, "exit 0"));
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert_eq!(names(&folder), ["quorumlock_r.prom"]);
    let acquired = "outcome=\"acquired\"";
    assert!(is(&path, "quorumlock_acquires_total", acquired, 1.0));
    assert!(is(&path, "quorumlock_releases_total", "outcome=\"released\"", 1.0));
    assert!(is(&path, "quorumlock_held_locks", "kind=\"plain\"", 0.0));
    assert!(value(&path, "quorumlock_acquire_wait_seconds_bucket", acquired).is_some(), "buckets");
    assert!(is(&path, "quorumlock_command_exit_code", "", 0.0));
    let started = value(&path, "quorumlock_command_start_time_seconds", "").unwrap();
    let success = value(&path, "quorumlock_command_success_time_seconds", "").unwrap();
    assert!(began <= started && started <= success && success <= now());

    // What fails later does not take the last success away.
    let failed = run(&mut shell(&masters, &option, "exit 7"));
    assert_eq!(failed.code, Some(7), "{failed:?}");
    assert!(is(&path, "quorumlock_command_exit_code", "", 7.0));
    assert!(is(&path, "quorumlock_command_success_time_seconds", "", success));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lock_that_another_client_holds_is_no_success() {
    let masters = Masters::start(3);
    let redlock = masters.builder().connect().await.unwrap();
    let _held = redlock.acquire("r").keep_alive().await.unwrap();
    let (_folder, path) = file();
    let options = ["--metrics-file", path.to_str().unwrap(), "--no-wait", "-E", "0"];
    let refused = run(&mut shell(&masters, &options, "true"));
    assert_eq!((refused.code, &*refused.stderr), (Some(0), ""), "{refused:?}");
    assert!(is(&path, "quorumlock_command_exit_code", "", 0.0));
    assert!(is(&path, "quorumlock_command_success_time_seconds", "", 0.0));
    assert!(is(&path, "quorumlock_acquires_total", "outcome=\"contended\"", 1.0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_change_is_in_the_file_while_a_candidate_waits_and_leads() {
    let masters = Masters::start(3);
    let redlock: Redlock = masters.builder().connect().await.unwrap();
    let other = redlock.election("r").campaign("there").await.unwrap();
    let (folder, path) = file();
    let options = ["elect", "--metrics-file", path.to_str().unwrap(), "r", "--", "sleep", "600"];
    let running = Running::start(&mut on(&masters, &options));
    let leader = "kind=\"leader\"";
    eventually_blocking("it campaigns", PATIENCE, || {
        is(&path, "quorumlock_waiting_callers", leader, 1.0)
    });
    assert!(is(&path, "quorumlock_held_locks", leader, 0.0));
    other.resign().await.unwrap();
    eventually_blocking("it leads", PATIENCE, || is(&path, "quorumlock_held_locks", leader, 1.0));
    assert!(is(&path, "quorumlock_waiting_callers", leader, 0.0));
    assert_eq!(value(&path, "quorumlock_command_exit_code", ""), None, "it runs");
    running.signal(Signal::TERM);
    assert_eq!(running.finish().code, Some(143));
    assert!(is(&path, "quorumlock_command_exit_code", "", 143.0));
    assert!(is(&path, "quorumlock_held_locks", leader, 0.0));
    assert_eq!(names(&folder), ["quorumlock_r.prom"]);
}

#[test]
fn a_file_that_cannot_be_is_a_mistake_before_anything_is_locked() {
    let masters = Masters::start(3);
    let (folder, path) = file();
    for (path, code, line) in [
        ("r.txt", 114, "--metrics-file: node_exporter reads files that end with .prom: name it so"),
        ("/no/such/folder/r.prom", 116, "--metrics-file /no/such/folder/r.prom: No such file"),
    ] {
        let refused = run(&mut shell(&masters, &["--metrics-file", path], "echo ran"));
        assert_eq!(refused.code, Some(code), "{refused:?}");
        assert!(refused.stderr.starts_with(&format!("quorumlock: {line}")), "{refused:?}");
        assert_eq!(refused.stdout, "");
    }
    // One that goes away later costs a warning, and not the lock.
    let (option, gone) = (["--metrics-file", path.to_str().unwrap()], folder.path().to_owned());
    let files = tempfile::tempdir().unwrap();
    let stderr = files.path().join("stderr");
    let script = format!("rm -r {}; read x; echo ran", gone.display());
    let mut command = shell(&masters, &option, &script);
    let running = start(command.stdin(Stdio::piped()), &stderr);
    eventually_blocking("it warns", PATIENCE, || read(&stderr).ends_with('\n'));
    let ended = running.wait_with_output().unwrap();
    assert_eq!((ended.status.code(), &*ended.stdout), (Some(0), &b"ran\n"[..]), "{ended:?}");
    let warned = read(&stderr);
    assert_eq!(warned.lines().count(), 1, "{warned}");
    assert!(warned.starts_with("quorumlock: warning: --metrics-file "), "{warned}");
}

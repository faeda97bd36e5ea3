//! `quorumlock run` when the lock is lost, or the process itself: the command and all of its group
//! are gone by the deadline, according to the times that they write down themselves.

use crate::cli::{
    self, PATIENCE, Running, eventually_gone, is_alive, last_stamp, now_ns, pid_in, run, shell,
};
use crate::support::masters::Masters;
use crate::support::poll::{eventually, eventually_blocking};
use crate::support::witness;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Duration;
use tempfile::TempDir;

/// Long enough that a busy machine extends in time.
const TTL: Duration = Duration::from_secs(2);
const TTL_OPTION: [&str; 2] = ["--ttl", "2s"];

/// A command of two processes that write down the time as long as they live.
struct Stamps {
    files: TempDir,
}

impl Stamps {
    fn new() -> Self {
        Self { files: tempfile::tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.files.path().join(name)
    }

    /// Returns the script; each process runs `first` before anything else. None holds stdout or
    /// stderr.
    fn script(&self, first: &str) -> String {
        let folder = self.files.path().display();
        let stamp = |name: &str| {
            format!(
                "{first}; sh -c 'echo $PPID' > {folder}/{name}.pid; \
                 while :; do date +%s%N >> {folder}/{name}; sleep 0.02; done"
            )
        };
        format!("exec >/dev/null 2>&1; ({}) & {}", stamp("grandchild"), stamp("child"))
    }

    fn await_both(&self) {
        for name in ["child", "grandchild"] {
            eventually_blocking("both write", PATIENCE, || last_stamp(&self.path(name)).is_some());
        }
    }

    /// Asserts that both are gone, and that neither has written after `end`, in nanoseconds since
    /// 1970.
    fn assert_none_after(&self, end: u128) {
        for name in ["child", "grandchild"] {
            assert!(!is_alive(pid_in(&self.path(&format!("{name}.pid")))), "{name} is alive");
            let last = last_stamp(&self.path(name)).unwrap();
            let (late, early) = (last.saturating_sub(end), end.saturating_sub(last));
            assert!(late == 0, "{name}: {} ms too late", late / 1_000_000);
            eprintln!("{name}: the last time {} ms before the end", early / 1_000_000);
        }
    }
}

/// A script that ignores these signals.
const STUBBORN: &str = "trap '' TERM INT HUP";

#[test]
fn a_command_without_masters_and_its_children_end_in_time() {
    // Most of it is waiting.
    thread::scope(|scope| {
        for (first, grace) in [("true", "5s"), (STUBBORN, "5s"), (STUBBORN, "0s")] {
            scope.spawn(move || loses_its_masters(first, grace));
        }
    });
}

fn loses_its_masters(first: &str, grace: &str) {
    let masters = Masters::start(5);
    let stamps = Stamps::new();
    let options = [&TTL_OPTION[..], &["-v", "--grace", grace]].concat();
    let running = Running::start(&mut shell(&masters, &options, &stamps.script(first)));
    stamps.await_both();
    (0..3).for_each(|node| masters.kill(node));
    // No extension that begins later is won, so no deadline lies beyond a ttl from here.
    let end = now_ns() + TTL.as_nanos();
    let output = running.finish();
    assert_eq!((output.code, &*output.stdout), (Some(113), ""), "{output:?}");
    // The second reason is the watchdog's, if the whole process was held up when it was time.
    let ended = "\nquorumlock: too few masters extended \"r\" in time; the command ";
    let held_up = "\nquorumlock: lost \"r\": it was not extended in time, because this process";
    assert!([ended, held_up].iter().any(|line| output.stderr.contains(line)), "{output:?}");
    // It warns before it is too late.
    let early = "quorumlock: acquired \"r\"\nquorumlock: ending the command: \"r\" expires in ";
    let has_warned = output.stderr.starts_with(early);
    assert!(has_warned || output.stderr.contains(held_up), "{output:?}");
    assert!(output.stderr.contains("\n  3 of 5 masters "), "{output:?}");
    assert_eq!(output.stderr.matches("down (Connection refused").count(), 1, "{output:?}");
    stamps.assert_none_after(end);
}

#[test]
fn at_max_hold_the_command_is_gone_before_its_given_deadline() {
    let masters = Masters::start(3);
    let stamps = Stamps::new();
    let script = format!(
        "echo $QUORUMLOCK_DEADLINE > {}; {}",
        stamps.path("deadline").display(),
        stamps.script(STUBBORN)
    );
    let options = [&TTL_OPTION[..], &["--json", "--max-hold", "2s"]].concat();
    let output = run(&mut shell(&masters, &options, &script));
    assert_eq!(output.code, Some(113), "{output:?}");
    let value: Value = serde_json::from_str(&output.stderr).unwrap();
    assert_eq!((&value["error"], &value["reason"]), (&"lost".into(), &"max_hold".into()));
    assert_eq!((&value["resource"], &value["command_signal"]), (&"r".into(), &9.into()));
    let held_for = value["held_for_ms"].as_u64().unwrap();
    assert!((700..2_000).contains(&held_for), "{value}");
    let deadline = std::fs::read_to_string(stamps.path("deadline")).unwrap();
    let deadline: u128 = deadline.trim().parse().unwrap();
    // An extension may give back what the drift had taken off, and not more.
    let drift = TTL.as_millis() / 100 + 2;
    stamps.assert_none_after((deadline + drift) * 1_000_000);
}

#[test]
fn a_child_that_heeds_sigterm_gets_its_grace_and_last_words() {
    let masters = Masters::start(3);
    let script = "trap 'echo bye; exit 0' TERM; while :; do sleep 0.05; done";
    let output = run(&mut shell(&masters, &["--ttl", "2s", "--max-hold", "2s"], script));
    assert_eq!((output.code, &*output.stdout), (Some(113), "bye\n"), "{output:?}");
    let line = "quorumlock: max_hold reached for \"r\"; the command ended with code 0\n";
    // The shell may say before it that a signal ended its sleep.
    assert!(output.stderr.contains(line), "{output:?}");
}

#[tokio::test]
async fn a_lock_that_is_taken_away_ends_the_command() {
    let masters = Masters::start(3);
    let mut command = shell(&masters, &TTL_OPTION, "exec sleep 300");
    let running = Running::start(&mut command);
    eventually("it is held", PATIENCE, async || witness::holders(&masters, "r").await.len() == 3)
        .await;
    let away = run(&mut cli::on(&masters, &["force-release", "--yes", "r"]));
    assert_eq!(away.code, Some(0), "{away:?}");
    let output = running.finish();
    assert_eq!(output.code, Some(113), "{output:?}");
    assert!(output.stderr.starts_with("quorumlock: lost \"r\": masters had "), "{output:?}");
    assert!(output.stderr.contains("; the command was ended by signal 15\n"), "{output:?}");
}

#[test]
fn a_lock_taken_from_a_command_with_leave_counts_as_lost() {
    let masters = Masters::start(3);
    let files = tempfile::tempdir().unwrap();
    let (ready, done) = (files.path().join("ready"), files.path().join("done"));
    // With this ttl, no extension reports it before the end.
    let options = ["--forget", "--ttl", "30s"];
    let script = format!("echo $$ > {}; {}", ready.display(), wait_for(&done));
    let mut command = shell(&masters, &options, &script);
    // Too few answers in time would not be a loss.
    let running = Running::start(command.env("QUORUMLOCK_OPERATION_TIMEOUT", "3s"));
    pid_in(&ready);
    let away = run(&mut cli::on(&masters, &["force-release", "--yes", "r"]));
    assert_eq!(away.code, Some(0), "{away:?}");
    std::fs::write(&done, "").unwrap();
    let output = running.finish();
    assert_eq!(output.code, Some(113), "{output:?}");
    assert!(output.stderr.starts_with("quorumlock: lost \"r\": masters had "), "{output:?}");
}

#[test]
fn a_lock_that_was_gone_when_it_was_to_be_released_is_reported() {
    let masters = Masters::start(3);
    let files = tempfile::tempdir().unwrap();
    let (ready, done) = (files.path().join("ready"), files.path().join("done"));
    // With this ttl, no extension reports it before the end.
    let script = format!("echo $$ > {}; {}; exit 4", ready.display(), wait_for(&done));
    let mut command = shell(&masters, &["--ttl", "30s"], &script);
    let running = Running::start(command.env("QUORUMLOCK_OPERATION_TIMEOUT", "3s"));
    pid_in(&ready);
    let away = run(&mut cli::on(&masters, &["force-release", "--yes", "r"]));
    assert_eq!(away.code, Some(0), "{away:?}");
    std::fs::write(&done, "").unwrap();
    let output = running.finish();
    assert_eq!(output.code, Some(113), "{output:?}");
    assert!(
        output.stderr.starts_with("quorumlock: lost \"r\": masters had forgotten it"),
        "{output:?}"
    );
}

/// A zombie cannot be killed. Here it represents a process that belongs to another user. It is one once it was
/// killed: a shell may reap a child that has ended before.
#[tokio::test]
async fn a_lock_is_kept_while_a_process_of_the_group_remains() {
    let masters = Masters::start(3);
    let files = tempfile::tempdir().unwrap();
    let ready = files.path().join("ready");
    // The process's parent leaves the group, and does not reap it.
    let parent =
        format!("sleep 30 & exec setsid sh -c \"echo > {}; exec sleep 30\"", ready.display());
    let script = format!("exec >/dev/null 2>&1; sh -c '{parent}' & {}; exit 6", wait_for(&ready));
    let output = run(&mut shell(&masters, &["--ttl", "30s", "--grace", "0s"], &script));
    assert_eq!(output.code, Some(6), "{output:?}");
    assert!(
        output.stderr.starts_with("quorumlock: warning: a process of the command's group"),
        "{output:?}"
    );
    assert_eq!(witness::holders(&masters, "r").await.len(), 3);
}

/// Returns a wait for the file, for a shell.
fn wait_for(path: &Path) -> String {
    format!("while ! [ -e {} ]; do sleep 0.05; done", path.display())
}

/// Returns the watchdog of `parent`, by the names that `ps` and `top` show.
fn watchdog_of(parent: Pid) -> Option<Pid> {
    let processes = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let pids = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let is_ours = |pid: &i32| {
        let read = |file: &str| std::fs::read(format!("/proc/{pid}/{file}")).unwrap_or_default();
        let status = String::from_utf8_lossy(&read("status")).into_owned();
        status.contains(&format!("\nPPid:\t{}\n", parent.as_raw_nonzero()))
            && read("cmdline")
                == format!("quorumlock: watchdog of {}\0", parent.as_raw_nonzero()).as_bytes()
            && read("comm") == b"quorumlock-wdog\n"
    };
    pids.into_iter().find(is_ours).and_then(Pid::from_raw)
}

fn started(masters: &Masters, stamps: &Stamps) -> (Running, Pid) {
    let running = Running::start(&mut shell(masters, &TTL_OPTION, &stamps.script(STUBBORN)));
    stamps.await_both();
    let watchdog = watchdog_of(running.pid()).expect("a watchdog");
    (running, watchdog)
}

fn pid_of(stamps: &Stamps, name: &str) -> Pid {
    pid_in(&stamps.path(&format!("{name}.pid")))
}

/// Checks the lock as its next holder sees it.
fn assert_free_within_a_ttl(masters: &Masters, killed: u128) {
    let next: &mut Command = &mut shell(masters, &["--timeout", "60s"], "date +%s%N");
    let output = run(next);
    assert_eq!(output.code, Some(0), "{output:?}");
    let entered: u128 = output.stdout.trim().parse().unwrap();
    let after = Duration::from_nanos(u64::try_from(entered - killed).unwrap());
    // The last extension began before that; the rest is a busy machine.
    assert!(after < TTL + PATIENCE / 4, "free only after {after:?}");
}

#[test]
fn sigkill_ends_the_group_and_leaves_the_lock_one_ttl_at_most() {
    let masters = Masters::start(3);
    let stamps = Stamps::new();
    let (running, watchdog) = started(&masters, &stamps);
    let killed = now_ns();
    running.signal(Signal::KILL);
    assert_eq!(running.finish().code, None);
    for name in ["child", "grandchild"] {
        eventually_gone(pid_of(&stamps, name));
    }
    eventually_gone(watchdog);
    assert_free_within_a_ttl(&masters, killed);
    // From when any other client may hold the lock.
    stamps.assert_none_after(killed + TTL.as_nanos());
}

/// The effect of `killall -9 quorumlock`. The processes that the command has started are then
/// unsupervised: the manual says so.
#[test]
fn killed_together_with_its_watchdog_it_takes_the_command_along() {
    let masters = Masters::start(3);
    let stamps = Stamps::new();
    let (running, watchdog) = started(&masters, &stamps);
    kill_process(watchdog, Signal::STOP).unwrap();
    running.signal(Signal::KILL);
    assert_eq!(running.finish().code, None);
    eventually_gone(pid_of(&stamps, "child"));
    kill_process(watchdog, Signal::CONT).unwrap();
    eventually_gone(pid_of(&stamps, "grandchild"));
}

#[test]
fn a_stopped_run_has_its_command_killed_in_time_and_reports_it() {
    let masters = Masters::start(3);
    let stamps = Stamps::new();
    let (running, _watchdog) = started(&masters, &stamps);
    running.signal(Signal::STOP);
    let end = now_ns() + TTL.as_nanos();
    for name in ["child", "grandchild"] {
        eventually_gone(pid_of(&stamps, name));
    }
    stamps.assert_none_after(end);
    running.signal(Signal::CONT);
    let output = running.finish();
    assert_eq!(output.code, Some(113), "{output:?}");
}

#[test]
fn a_watchdog_that_is_killed_is_reported_and_the_command_goes_on() {
    let masters = Masters::start(3);
    let files = tempfile::tempdir().unwrap();
    let (ready, done): (PathBuf, PathBuf) = (files.path().join("ready"), files.path().join("done"));
    let script = format!("echo $$ > {}; {}; exit 6", ready.display(), wait_for(&done));
    let running = Running::start(&mut shell(&masters, &TTL_OPTION, &script));
    pid_in(&ready);
    kill_process(watchdog_of(running.pid()).unwrap(), Signal::KILL).unwrap();
    // Each extension would write to the watchdog.
    thread::sleep(TTL * 2 / 3);
    std::fs::write(&done, "").unwrap();
    let output = running.finish();
    assert_eq!(output.code, Some(6), "{output:?}");
    assert!(output.stderr.starts_with("quorumlock: warning: the watchdog is gone"), "{output:?}");
}

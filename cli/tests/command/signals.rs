//! Signals to `quorumlock run`, and the terminal that it shares with its command.

use crate::cli::{self, PATIENCE, Running, pid_in, shell};
use crate::support::masters::Masters;
use crate::support::poll::{eventually, eventually_blocking};
use crate::support::server::Server;
use crate::support::witness;
use rustix::process::Signal;
use std::io::Write;
use std::path::Path;
use std::process::Stdio;

#[tokio::test]
async fn signals_that_end_are_passed_on_and_the_lock_is_released() {
    let masters = Masters::start(3);
    let files = tempfile::tempdir().unwrap();
    for (name, signal) in
        [("HUP", Signal::HUP), ("INT", Signal::INT), ("QUIT", Signal::QUIT), ("TERM", Signal::TERM)]
    {
        let ready = files.path().join(name);
        let script = format!(
            "trap 'echo {name}; exit 9' {name}; echo $$ > {}; while :; do sleep 0.05; done",
            ready.display()
        );
        let running = Running::start(&mut shell(&masters, &[], &script));
        pid_in(&ready);
        running.signal(signal);
        let output = running.finish();
        assert_eq!(
            (output.code, output.stdout),
            (Some(9), format!("{name}\n")),
            "{}",
            output.stderr
        );
        witness::assert_no_keys_now(&masters).await;
    }
}

#[tokio::test]
async fn a_command_ended_by_a_passed_on_signal_gives_128_plus_signal() {
    let masters = Masters::start(3);
    let files = tempfile::tempdir().unwrap();
    let ready = files.path().join("ready");
    // The shell's own child gets it, too: no process is left.
    let script = format!("echo $$ > {}; sleep 300; true", ready.display());
    let running = Running::start(&mut shell(&masters, &[], &script));
    pid_in(&ready);
    running.signal(Signal::TERM);
    let output = running.finish();
    assert_eq!((output.code, &*output.stderr), (Some(143), ""));
    witness::assert_no_keys_now(&masters).await;
}

#[test]
fn signals_of_the_users_own_go_to_the_command_alone() {
    let masters = Masters::start(3);
    let files = tempfile::tempdir().unwrap();
    let ready = files.path().join("ready");
    // By default USR1 would end the child of the shell.
    let script = format!(
        "sleep 300 & child=$!; got() {{ kill -0 $child && echo alive; kill $child; exit 0; }}; \
         trap got USR1; echo $$ > {}; while :; do sleep 0.05 || true; done",
        ready.display()
    );
    let running = Running::start(&mut shell(&masters, &[], &script));
    pid_in(&ready);
    running.signal(Signal::USR1);
    let output = running.finish();
    assert_eq!((output.code, &*output.stdout), (Some(0), "alive\n"), "{}", output.stderr);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_waiter_for_the_lock_is_ended_at_once_and_leaves_nothing() {
    let masters = Masters::start(3);
    let redlock = masters.builder().connect().await.unwrap();
    let guard = redlock.acquire("r").keep_alive().await.unwrap();
    let running = Running::start(&mut shell(&masters, &["--no-timeout"], "echo ran"));
    eventually_waits(&masters).await;
    running.signal(Signal::INT);
    let output = running.finish();
    assert_eq!((output.code, &*output.stdout, &*output.stderr), (Some(130), "", ""));
    guard.release().await.unwrap();
    witness::eventually_no_keys(&masters, PATIENCE).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_waiter_for_the_lock_can_be_suspended_and_goes_on_waiting() {
    let masters = Masters::start(3);
    let redlock = masters.builder().connect().await.unwrap();
    let guard = redlock.acquire("r").keep_alive().await.unwrap();
    let running = Running::start(&mut shell(&masters, &["--no-timeout"], "echo ran"));
    eventually_waits(&masters).await;
    running.signal(Signal::TSTP);
    eventually("it is stopped", PATIENCE, async || cli::is_stopped(running.pid())).await;
    running.signal(Signal::CONT);
    guard.release().await.unwrap();
    let output = running.finish();
    assert_eq!((output.code, &*output.stdout, &*output.stderr), (Some(0), "ran\n", ""));
}

/// Returns once a waiter listens at one of the masters for the release.
async fn eventually_waits(masters: &Masters) {
    let listens = async |server: &Server| {
        let channels = redis::cmd("PUBSUB").arg("CHANNELS").to_owned();
        let channels = witness::ask::<Vec<String>>(server, &channels).await;
        channels.is_ok_and(|channels| channels.iter().any(|channel| !channel.contains('@')))
    };
    eventually("it waits", PATIENCE, async || {
        listens(&masters[0]).await || listens(&masters[1]).await || listens(&masters[2]).await
    })
    .await;
}

#[test]
fn what_is_ignored_stays_ignored() {
    let masters = Masters::start(3);
    let files = tempfile::tempdir().unwrap();
    let (ready, done) = (files.path().join("ready"), files.path().join("done"));
    let quoted = |path: &Path| path.display().to_string();
    let inside = format!(
        "echo $$ > {}; while ! [ -e {} ]; do sleep 0.05; done; grep SigIgn /proc/self/status",
        quoted(&ready),
        quoted(&done)
    );
    let ignoring = "trap '' HUP; exec \"$0\" run r -- sh -c \"$1\"";
    let mut command = cli::beside(&masters, "sh");
    command.args(["-c", ignoring, program(), &inside]);
    let running = Running::start(command.stdin(Stdio::null()));
    pid_in(&ready);
    running.signal(Signal::HUP);
    std::fs::write(&done, "").unwrap();
    let output = running.finish();
    assert_eq!(output.code, Some(0), "{output:?}");
    let mask = output.stdout.trim().rsplit(['\t', ' ']).next().unwrap();
    assert_eq!(u64::from_str_radix(mask, 16).unwrap() & 1, 1, "{output:?}");
}

/// Runs `sh -c script` on a terminal of its own, by util-linux; whatever is written to it is typed.
fn on_a_terminal(masters: &Masters, script: &str) -> Running {
    let mut command = cli::beside(masters, "script");
    command.env("SHELL", "/bin/sh").args(["-qefc", script, "/dev/null"]);
    Running::start(command.stdin(Stdio::piped()))
}

fn type_in(running: &mut Running, keys: &[u8]) {
    let stdin = running.stdin();
    stdin.write_all(keys).unwrap();
    stdin.flush().unwrap();
}

#[tokio::test]
async fn on_a_terminal_control_c_reaches_the_command_once() {
    let masters = Masters::start(3);
    let files = tempfile::tempdir().unwrap();
    let (ready, count) = (files.path().join("ready"), files.path().join("count"));
    let inner = files.path().join("inner");
    std::fs::write(
        &inner,
        format!(
            "trap 'echo x >> {1}' INT; echo $$ > {0}; i=0\n\
             while [ $i -lt 10 ]; do sleep 0.05; [ -e {1} ] && i=$((i+1)); done; exit 7\n",
            ready.display(),
            count.display()
        ),
    )
    .unwrap();
    // The shell that has started it is in our group, so the inner shell gets its own.
    let script = format!("trap : INT; {} run r -- sh {}; echo code=$?", program(), inner.display());
    let mut running = on_a_terminal(&masters, &script);
    pid_in(&ready);
    type_in(&mut running, b"\x03");
    let output = running.finish();
    assert!(output.stdout.contains("code=7"), "{output:?}");
    assert_eq!(std::fs::read_to_string(&count).unwrap(), "x\n");
    witness::assert_no_keys_now(&masters).await;
}

fn program() -> &'static str {
    env!("CARGO_BIN_EXE_quorumlock")
}

#[test]
fn on_a_terminal_the_command_reads_and_then_the_shell_again() {
    let masters = Masters::start(3);
    let files = tempfile::tempdir().unwrap();
    let ready = files.path().join("ready");
    // The command reads twice, the script that has started it reads once.
    let script = format!(
        "{} run r -- sh -c 'echo $$ > {}; read a; read b; echo got=$a$b'; read c; echo then=$c",
        program(),
        ready.display()
    );
    let mut running = on_a_terminal(&masters, &script);
    pid_in(&ready);
    type_in(&mut running, b"one\ntwo\nthree\n");
    let output = running.finish();
    assert!(output.stdout.contains("got=onetwo"), "{output:?}");
    assert!(output.stdout.contains("then=three"), "{output:?}");
}

#[test]
fn on_a_terminal_control_z_suspends_both_and_fg_resumes_both() {
    let masters = Masters::start(3);
    let files = tempfile::tempdir().unwrap();
    let [ours, child, resume, done] =
        ["ours", "child", "resume", "done"].map(|name| files.path().join(name));
    let wait = |path: &Path| format!("while ! [ -e {} ]; do sleep 0.05; done", path.display());
    // It starts nothing in the meantime: a shell whose child is stopped on its way into a program
    // waits for that, and is not stopped itself.
    let made = std::process::Command::new("mkfifo").arg(&done).status().unwrap();
    assert!(made.success());
    let inner = format!(
        "echo $PPID > {}; echo $$ > {}; read line < {}; exit 5",
        ours.display(),
        child.display(),
        done.display()
    );
    // Job control gives `quorumlock` a group of its own, which Ctrl-Z stops.
    let script = format!(
        "set -m; {} run --ttl 30s r -- sh -c '{inner}'; echo first=$?; {}; fg; echo second=$?",
        program(),
        wait(&resume)
    );
    let mut running = on_a_terminal(&masters, &script);
    let both = [pid_in(&ours), pid_in(&child)];
    type_in(&mut running, b"\x1a");
    eventually_blocking("both are stopped", PATIENCE, || both.into_iter().all(cli::is_stopped));
    std::fs::write(&resume, "").unwrap();
    std::fs::write(&done, "").unwrap();
    let output = running.finish();
    // 128 and SIGSTOP.
    assert!(output.stdout.contains("first=147"), "{output:?}");
    assert!(output.stdout.contains("second=5"), "{output:?}");
}

//! `quorumlock run` when nothing goes wrong: the command under its lock, and the cleanup of both.

use crate::cli::{self, PATIENCE, Running, eventually_gone, is_alive, pid_in, run, shell};
use crate::support::masters::Masters;
use crate::support::poll::eventually;
use crate::support::witness;
use std::fs;
use std::io::Write;
use std::process::Stdio;
use std::time::Duration;

#[tokio::test]
async fn run_exits_with_the_commands_code_and_frees_the_lock() {
    let masters = Masters::start(3);
    for code in [0, 1, 7, 255] {
        let output = run(&mut shell(&masters, &[], &format!("exit {code}")));
        assert_eq!((output.code, &*output.stdout, &*output.stderr), (Some(code), "", ""));
        witness::assert_no_keys_now(&masters).await;
    }
}

#[tokio::test]
async fn a_command_that_a_signal_ends_gives_128_and_the_signal() {
    let masters = Masters::start(3);
    for signal in [9, 15, 34] {
        let output = run(&mut shell(&masters, &[], &format!("kill -{signal} $$")));
        assert_eq!((output.code, &*output.stderr), (Some(128 + signal), ""));
    }
    witness::assert_no_keys_now(&masters).await;
}

#[test]
fn the_command_gets_its_resource_and_its_deadline() {
    let masters = Masters::start(3);
    let script =
        "echo \"$QUORUMLOCK_RESOURCE,$QUORUMLOCK_FENCING_TOKEN\"; echo $QUORUMLOCK_DEADLINE";
    let before = cli::now_ns() / 1_000_000;
    let output =
        run(shell(&masters, &["--ttl", "20s"], script).env("QUORUMLOCK_FENCING_TOKEN", "7"));
    let (names, deadline) = output.stdout.split_once('\n').unwrap();
    assert_eq!(names, "r,");
    let deadline: u128 = deadline.trim().parse().unwrap();
    let after = cli::now_ns() / 1_000_000;
    assert!(before < deadline && deadline < after + 20_000, "{before} {deadline} {after}");
}

#[test]
fn a_fenced_command_receives_a_token_greater_than_the_last() {
    let masters = Masters::start(3);
    let tokens = [(); 3].map(|()| {
        let output = run(&mut shell(&masters, &["--fenced"], "echo $QUORUMLOCK_FENCING_TOKEN"));
        assert_eq!(output.code, Some(0), "{output:?}");
        output.stdout.trim().parse::<u64>().unwrap()
    });
    assert!(tokens.is_sorted_by(|earlier, later| earlier < later), "{tokens:?}");
}

#[tokio::test]
async fn several_resources_are_held_together_while_the_command_runs() {
    let masters = Masters::start(3);
    let files = tempfile::tempdir().unwrap();
    let names = files.path().join("names");
    let script = format!("echo \"$QUORUMLOCK_RESOURCE\" > {}; read x", names.display());
    let mut command = cli::on(&masters, &["run", "a", "b", "--", "sh", "-c", &script]);
    let running = Running::start(command.stdin(Stdio::piped()));
    eventually("the command runs", PATIENCE, async || {
        fs::read_to_string(&names).is_ok_and(|names| names == "a\nb\n")
    })
    .await;
    for key in ["a", "b"] {
        assert!(witness::holders(&masters, key).await.len() >= 2, "{key}");
    }
    assert_eq!(running.finish().code, Some(1), "`read` at the end of its input");
    witness::assert_no_keys_now(&masters).await;
}

#[test]
fn what_goes_in_and_out_is_not_touched() {
    let masters = Masters::start(3);
    let bytes: Vec<u8> =
        (0..200_000_u32).map(|place| place.to_le_bytes()[place as usize % 3]).collect();
    let mut command = cli::on(&masters, &["run", "-v", "r", "--", "sh", "-c", "cat; printf e >&2"]);
    let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let sent = bytes.clone();
    let sender = std::thread::spawn(move || stdin.write_all(&sent).unwrap());
    let output = child.wait_with_output().unwrap();
    sender.join().unwrap();
    assert!(output.stdout == bytes, "{} bytes of {}", output.stdout.len(), bytes.len());
    assert_eq!(
        String::from_utf8_lossy(&output.stderr),
        "quorumlock: acquired \"r\"\nequorumlock: released \"r\"\n"
    );
}

#[test]
fn a_resource_that_is_named_twice_is_locked_once() {
    let masters = Masters::start(3);
    let script = ["sh", "-c", "printf %s \"$QUORUMLOCK_RESOURCE\""];
    let twice = run(cli::on(&masters, &["run", "a", "b", "a", "--"]).args(script));
    assert_eq!((twice.code, &*twice.stdout), (Some(0), "a\nb"), "{twice:?}");
    // One resource, so that an option for one goes with it.
    let fair = run(cli::on(&masters, &["run", "--fair", "a", "a", "--"]).args(script));
    assert_eq!((fair.code, &*fair.stdout), (Some(0), "a"), "{fair:?}");
}

#[test]
fn at_most_64_resources_are_locked_together() {
    let masters = Masters::start(3);
    let names: Vec<String> = (0..65).map(|number| format!("r{number}")).collect();
    let lock = |names: &[String]| {
        run(cli::on(&masters, &["run"]).args(names).args(["--", "sh", "-c", "exit 7"]))
    };
    assert_eq!(lock(&names[..64]).code, Some(7));
    let refused = lock(&names);
    assert_eq!(refused.code, Some(114), "{refused:?}");
    assert!(refused.stderr.contains("64"), "{refused:?}");
}

#[test]
fn verbose_names_the_masters_that_are_down() {
    let masters = Masters::start(5);
    (3..5).for_each(|node| masters.kill(node));
    let shown = run(&mut shell(&masters, &["-v"], "true"));
    let down = |node: usize| {
        let refused = "down (Connection refused (os error 111))";
        format!("quorumlock: {} is {refused}\n", masters[node].addr())
    };
    let rest = "quorumlock: acquired \"r\"\nquorumlock: released \"r\"\n";
    assert_eq!(shown.stderr, down(3) + &down(4) + rest);
    assert_eq!(run(&mut shell(&masters, &[], "true")).stderr, "");
}

#[test]
fn arguments_arrive_as_they_are() {
    let masters = Masters::start(3);
    let words = ["a b", "", "--json", "--", "$HOME", "\u{e9}\n"];
    let mut command = cli::on(&masters, &["run", "r", "--", "printf", "<%s>"]);
    let output = run(command.args(words));
    assert_eq!(output.stdout, words.map(|word| format!("<{word}>")).concat());
}

#[tokio::test]
async fn a_lock_is_kept_alive_for_longer_than_its_ttl() {
    let masters = Masters::start(3);
    let mut command = shell(&masters, &["--ttl", "2s"], "read x; exit 5");
    let mut child = command.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    eventually("it is held", PATIENCE, async || witness::holders(&masters, "r").await.len() == 3)
        .await;
    let token = witness::value(&masters[0], "r").await;
    // There is no event to wait for: the claim is that nothing happens for longer than a ttl.
    tokio::time::sleep(Duration::from_millis(2_100)).await;
    assert_eq!(witness::value(&masters[0], "r").await, token);
    drop(child.stdin.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(output.status.code(), Some(5));
}

#[tokio::test]
async fn a_lock_that_is_left_keeps_its_key_for_about_another_ttl() {
    let masters = Masters::start(3);
    let output = run(&mut shell(&masters, &["--forget", "--ttl", "30s"], "true"));
    assert_eq!(output.code, Some(0), "{output:?}");
    assert_eq!(witness::holders(&masters, "r").await.len(), 3);
    let left = witness::pttl(&masters[0], "r").await.unwrap();
    assert!(left <= Duration::from_secs(30), "{left:?}");
}

#[tokio::test]
async fn leftover_processes_of_the_group_end_before_the_release() {
    let masters = Masters::start(3);
    let files = tempfile::tempdir().unwrap();
    let left = files.path().join("left");
    // It ignores SIGTERM, and holds neither stdout nor stderr.
    let script = format!(
        "(trap '' TERM; sh -c 'echo $PPID' > {0}; while :; do sleep 0.1; done) >/dev/null 2>&1 &
         while ! [ -s {0} ]; do sleep 0.05; done; exit 3",
        left.display()
    );
    let output = run(&mut shell(&masters, &["--grace", "200ms"], &script));
    assert_eq!((output.code, &*output.stderr), (Some(3), ""));
    assert!(!is_alive(pid_in(&left)));
    witness::assert_no_keys_now(&masters).await;
}

/// It is not part of the group, and the manual says so.
#[tokio::test]
async fn what_has_left_the_group_outlives_the_lock() {
    let masters = Masters::start(3);
    let files = tempfile::tempdir().unwrap();
    let daemon = files.path().join("daemon");
    let script = format!(
        "setsid sh -c 'echo $$ > {0}; exec sleep 300' >/dev/null 2>&1 &
         while ! [ -s {0} ]; do sleep 0.05; done",
        daemon.display()
    );
    let output = run(&mut shell(&masters, &[], &script));
    assert_eq!((output.code, &*output.stderr), (Some(0), ""));
    let daemon = pid_in(&daemon);
    assert!(is_alive(daemon));
    witness::assert_no_keys_now(&masters).await;
    rustix::process::kill_process(daemon, rustix::process::Signal::KILL).unwrap();
    eventually_gone(daemon);
}

#[test]
fn a_lock_inside_a_lock_is_another_one() {
    let masters = Masters::start(3);
    let inner = format!("{} run inner -- sh -c 'exit 4'", env!("CARGO_BIN_EXE_quorumlock"));
    let output = run(&mut shell(&masters, &["--fenced"], &inner));
    assert_eq!((output.code, &*output.stderr), (Some(4), ""));
}

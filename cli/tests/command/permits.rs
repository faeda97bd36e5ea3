//! `quorumlock run --permits`: so many commands at a time, and no more.

use crate::cli::{self, PATIENCE, Running, eventually_gone, shell, told};
use crate::support::masters::Masters;
use crate::support::poll::eventually;
use crate::support::witness;
use rustix::process::Signal;
use std::process::{Command, Stdio};
use std::time::Duration;

/// A command that runs until its stdin is closed, with a permit of two.
fn start(masters: &Masters, options: &[&str], file: &std::path::Path) -> Running {
    let script = format!("echo runs >> {}; read x; exit 0", file.display());
    let mut command: Command = shell(masters, options, &script);
    Running::start(command.stdin(Stdio::piped()))
}

fn count(file: &std::path::Path) -> usize {
    std::fs::read_to_string(file).unwrap_or_default().lines().count()
}

#[tokio::test]
async fn two_of_two_run_and_the_third_is_refused_or_waits_for_one_of_them() {
    let (masters, files) = (Masters::start(3), tempfile::tempdir().unwrap());
    let file = files.path().join("runs");
    let first = start(&masters, &["--permits", "2"], &file);
    let second = start(&masters, &["--permits", "2"], &file);
    eventually("both run", PATIENCE, async || count(&file) == 2).await;
    let third = told(&mut shell(&masters, &["--permits", "2", "--no-wait"], "exit 7"));
    let full = "quorumlock: all 2 permits of \"r\" are taken, the first expires in ";
    assert_eq!((third.code, third.stderr.starts_with(full)), (Some(111), true), "{third:?}");
    // A lock of the same name is another thing, and so is what `list` shows.
    assert_eq!(told(&mut shell(&masters, &["--no-wait"], "exit 7")).code, Some(7));
    let list = told(&mut cli::on(&masters, &["list"]));
    assert_eq!((list.code, list.stdout.contains("slot")), (Some(0), false), "{list:?}");

    let waiting = start(&masters, &["--permits", "2", "--no-timeout"], &file);
    assert_eq!(first.told().code, Some(0));
    eventually("the one that waited runs", PATIENCE, async || count(&file) == 3).await;
    assert_eq!((second.told().code, waiting.told().code), (Some(0), Some(0)));
    witness::assert_no_keys_now(&masters).await;
}

#[tokio::test]
async fn the_permit_of_one_that_was_killed_expires() {
    let (masters, files) = (Masters::start(3), tempfile::tempdir().unwrap());
    let file = files.path().join("runs");
    let options = ["--permits", "1", "--ttl", "2s"];
    let killed = start(&masters, &options, &file);
    eventually("it runs", PATIENCE, async || count(&file) == 1).await;
    let pid = killed.pid();
    killed.signal(Signal::KILL);
    eventually_gone(pid);
    let next = told(&mut shell(&masters, &["--permits", "1", "--timeout", "1m"], "exit 7"));
    assert_eq!(next.code, Some(7), "{next:?}");
    drop(killed);
    eventually("nothing stays", Duration::from_secs(10), async || {
        witness::holders(&masters, "quorumlock:slot:0:r").await.is_empty()
    })
    .await;
}

#[test]
fn permits_are_for_one_resource_and_have_no_token() {
    let masters = ["redis://127.0.0.1:1"];
    for (arguments, problem) in [
        (vec!["--permits", "2", "a", "b"], "--permits is for one RESOURCE"),
        (vec!["--permits", "0", "a"], "'--permits <N>'"),
        (vec!["--permits", "65", "a"], "'--permits <N>'"),
        (vec!["--permits", "2", "--fenced", "a"], "cannot be used with"),
    ] {
        let mut command = cli::over(masters);
        let told = told(command.arg("run").args(&arguments).args(["--", "true"]));
        let says = told.stderr.contains(problem);
        assert_eq!((told.code, says), (Some(114), true), "{arguments:?}: {told:?}");
    }
}

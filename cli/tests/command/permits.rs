//! `quorumlock run --permits`: so many commands at a time, and no more; and the permits that an
//! operator sees.

use crate::cli::{self, Finished, PATIENCE, Running, eventually_gone, run, shell};
use crate::support::masters::Masters;
use crate::support::poll::eventually;
use crate::support::witness;
use futures::future::join_all;
use quorumlock::{Permit, Redlock};
use rustix::process::Signal;
use serde_json::Value;
use std::io::{BufRead, BufReader};
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
    let third = run(&mut shell(&masters, &["--permits", "2", "--no-wait"], "exit 7"));
    let full = "quorumlock: all 2 permits of \"r\" are taken, the first expires in ";
    assert_eq!((third.code, third.stderr.starts_with(full)), (Some(111), true), "{third:?}");
    // A lock of the same name is another thing.
    assert_eq!(run(&mut shell(&masters, &["--no-wait"], "exit 7")).code, Some(7));

    let waiting = start(&masters, &["--permits", "2", "--no-timeout"], &file);
    assert_eq!(first.finish().code, Some(0));
    eventually("the one that waited runs", PATIENCE, async || count(&file) == 3).await;
    assert_eq!((second.finish().code, waiting.finish().code), (Some(0), Some(0)));
    witness::assert_no_keys_now(&masters).await;
}

/// With the whole command in between, as for a script that is started under another lock.
#[tokio::test]
async fn a_command_gets_its_slot_and_one_without_a_permit_none() {
    let (masters, files) = (Masters::start(3), tempfile::tempdir().unwrap());
    let (outer, inner) = (files.path().join("outer"), files.path().join("inner"));
    let (slot, ourselves) = ("echo \"slot=$QUORUMLOCK_SLOT\"", env!("CARGO_BIN_EXE_quorumlock"));
    let script = format!(
        "{slot} >> {}; {ourselves} run other -- sh -c '{slot}' >> {}; read x; exit 0",
        outer.display(),
        inner.display()
    );
    let started = [(); 3].map(|()| {
        let mut command = shell(&masters, &["--permits", "3"], &script);
        Running::start(command.stdin(Stdio::piped()))
    });
    eventually("all have written it", PATIENCE, async || count(&inner) == 3).await;
    let lines = |file| {
        let text = std::fs::read_to_string(file).unwrap();
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.sort_unstable();
        lines
    };
    assert_eq!(lines(&outer), ["slot=0", "slot=1", "slot=2"]);
    assert_eq!(lines(&inner), ["slot="; 3]);
    assert_eq!(started.map(|running| running.finish().code), [Some(0); 3]);
    let outdated = run(shell(&masters, &[], slot).env("QUORUMLOCK_SLOT", "7"));
    assert_eq!(outdated.stdout, "slot=\n", "{outdated:?}");
}

#[tokio::test]
async fn the_permit_of_one_that_was_killed_expires() {
    let (masters, files) = (Masters::start(3), tempfile::tempdir().unwrap());
    let file = files.path().join("runs");
    let options = ["--permits", "1", "--ttl", "500ms"];
    let killed = start(&masters, &options, &file);
    eventually("it runs", PATIENCE, async || count(&file) == 1).await;
    let pid = killed.pid();
    killed.signal(Signal::KILL);
    eventually_gone(pid);
    let next = run(&mut shell(&masters, &["--permits", "1", "--timeout", "1m"], "exit 7"));
    assert_eq!(next.code, Some(7), "{next:?}");
    drop(killed);
    eventually("nothing stays", Duration::from_secs(10), async || {
        witness::holders(&masters, "quorumlock:slot:0:r").await.is_empty()
    })
    .await;
}

const LONG: Duration = Duration::from_secs(30);

/// Takes the permits, each with its slot as its label, and waits until all masters have them.
async fn take(masters: &Masters, permits: usize) -> (Redlock, Vec<Permit>) {
    let patient = masters.builder().operation_timeout(Duration::from_secs(1));
    let redlock = patient.connect().await.unwrap();
    let mut held = Vec::new();
    for _ in 0..permits {
        let semaphore = redlock.semaphore("import", permits);
        let label = format!("worker-{}", held.len());
        held.push(semaphore.acquire().label(label).ttl(LONG).await.unwrap());
    }
    let all = async || {
        let slots = (0..permits).map(|slot| format!("quorumlock:slot:{slot}:import"));
        let seen = join_all(slots.map(async |key| witness::holders(masters, &key).await.len()));
        seen.await.into_iter().all(|on| on == masters.len())
    };
    eventually("every master has them", PATIENCE, all).await;
    (redlock, held)
}

fn lines(output: &Finished) -> Vec<Value> {
    output.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn fields(lines: &[Value], name: &str) -> Vec<Value> {
    lines.iter().map(|line| line[name].clone()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_operator_sees_who_has_which_permit_and_takes_one_away() {
    let masters = Masters::start(3);
    let (redlock, mut held) = take(&masters, 3).await;
    held.sort_by_key(|permit| permit.slot());
    let free = held.pop().unwrap();
    free.release().await.unwrap();
    let gone = async || witness::holders(&masters, "quorumlock:slot:2:import").await.is_empty();
    eventually("it is free", PATIENCE, gone).await;

    let shown = run(&mut cli::on(&masters, &["inspect", "import", "--permits", "3"]));
    let text: Vec<&str> = shown.stdout.lines().collect();
    assert_eq!((shown.code, text.len(), &*shown.stderr), (Some(0), 4, ""), "{shown:?}");
    assert_eq!(text[0], "2 of 3 permits of \"import\" are held");
    for (slot, line) in text[1..3].iter().enumerate() {
        let begins = format!("  slot  {slot}  held by worker-");
        assert!(line.starts_with(&begins) && line.ends_with(", on 3 of 3 masters"), "{line}");
    }
    assert_eq!(text[3], "  slot  2  free");
    let json =
        lines(&run(&mut cli::on(&masters, &["inspect", "import", "--permits", "3", "--json"])));
    assert_eq!(fields(&json, "slot"), [0, 1, 2]);
    assert_eq!(fields(&json, "state"), ["held", "held", "free"]);
    assert_eq!(fields(&json, "key")[1], "quorumlock:slot:1:import");

    // The lock of that name is another thing, and so is a semaphore whose name begins so.
    let _lock = redlock.acquire("import").ttl(LONG).await.unwrap();
    let _other = redlock.semaphore("important", 1).acquire().ttl(LONG).await.unwrap();
    let _hidden = redlock.semaphore("export", 1).acquire().ttl(LONG).await.unwrap();
    let list = lines(&run(&mut cli::on(&masters, &["list", "--json", "import"])));
    assert_eq!(fields(&list, "resource"), ["import", "import", "import", "important"]);
    assert_eq!(fields(&list, "slot"), [Value::Null, 0.into(), 1.into(), 0.into()]);
    let list = run(&mut cli::on(&masters, &["list"])).stdout;
    assert!(list.starts_with("RESOURCE   SLOT  STATE  HOLDER"), "{list}");
    assert!(list.contains("\n1 lock and 4 permits are held\n"), "{list}");

    let force = ["force-release", "import", "--slot", "1", "--yes"];
    let away = run(&mut cli::on(&masters, &force));
    let line = "slot 1 of \"import\" was taken away: it was held by worker-";
    assert_eq!((away.code, away.stdout.starts_with(line)), (Some(0), true), "{away:?}");
    let again = run(&mut cli::on(&masters, &force));
    assert_eq!(again.stdout, "slot 1 of \"import\" is free: nothing was done\n", "{again:?}");
    held[1].extend().await.unwrap_err();
    held[0].extend().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn watch_keeps_permits_apart() {
    let masters = Masters::start(3);
    let (_redlock, mut held) = take(&masters, 2).await;
    let mut command = cli::on(&masters, &["watch", "--interval", "100ms", "import"]);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    for slot in 0..2 {
        let line = lines.next().unwrap().unwrap();
        let expected = format!("Z slot {slot} of \"import\" is held by worker-");
        assert!(line.contains(&expected), "{line}");
    }
    held.sort_by_key(|permit| permit.slot());
    held.remove(0).release().await.unwrap();
    let line = lines.next().unwrap().unwrap();
    assert!(line.contains("Z slot 0 of \"import\" is free, seen for "), "{line}");
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn permits_that_no_quorum_reports_on_are_shown_with_their_masters() {
    let masters = Masters::start(3);
    (0..2).for_each(|node| masters.kill(node));
    let output = run(&mut cli::on(&masters, &["inspect", "import", "--permits", "2"]));
    assert_eq!(output.code, Some(112), "{output:?}");
    let text = &output.stdout;
    assert!(
        text.starts_with("0 of 2 permits of \"import\" are held\n  slot  0  neither"),
        "{text}"
    );
    assert_eq!((text.lines().count(), text.matches("down (").count()), (9, 4), "{text}");
}

#[test]
fn permits_are_for_one_resource_and_have_no_token() {
    let masters = ["redis://127.0.0.1:1"];
    for (arguments, problem) in [
        (vec!["--permits", "2", "a", "b"], "--fair are for one RESOURCE"),
        (vec!["--permits", "0", "a"], "'--permits <N>'"),
        (vec!["--permits", "65", "a"], "'--permits <N>'"),
        (vec!["--permits", "2", "--fenced", "a"], "cannot be used with"),
    ] {
        let mut command = cli::over(masters);
        let output = run(command.arg("run").args(&arguments).args(["--", "true"]));
        let says = output.stderr.contains(problem);
        assert_eq!((output.code, says), (Some(114), true), "{arguments:?}: {output:?}");
    }
}

/// Users name what they have taken, whether it is a lock or a permit.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_name_without_a_lock_whose_permits_are_held_is_not_just_free() {
    let masters = Masters::start(3);
    let (_redlock, _permits) = take(&masters, 2).await;
    let note = "2 permits are held: see list import, or inspect import --permits N";
    let inspected = run(&mut cli::on(&masters, &["inspect", "import", "other"]));
    assert_eq!(inspected.code, Some(0), "{inspected:?}");
    assert!(inspected.stdout.starts_with("\"import\" is free\n"), "{inspected:?}");
    assert_eq!(inspected.stdout.matches(&format!("\n  but {note}\n")).count(), 1, "{inspected:?}");
    let json = run(&mut cli::on(&masters, &["--json", "inspect", "import", "other"]));
    let held = |line: &str| serde_json::from_str::<Value>(line).unwrap()["permits_held"].clone();
    assert_eq!(json.stdout.lines().map(held).collect::<Vec<_>>(), [2.into(), Value::Null]);
    for words in [&["ask", "import"][..], &["force-release", "--yes", "import"]] {
        let output = run(&mut cli::on(&masters, words));
        let line = format!("\"import\" is free, but {note}; --slot names one: nothing was done\n");
        assert_eq!((output.code, &*output.stdout), (Some(0), &*line), "{output:?}");
    }
}

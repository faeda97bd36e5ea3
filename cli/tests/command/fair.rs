//! `quorumlock run --fair`: commands that run in the order in which they came; and what an operator
//! sees of the waiters.

use crate::cli::{self, PATIENCE, Running, run, shell};
use crate::support::masters::Masters;
use crate::support::poll::{eventually, eventually_blocking};
use crate::support::witness;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// A command that notes its name in a file.
fn start(masters: &Masters, name: &str, file: &Path) -> Running {
    let script = format!("echo {name} >> {}", file.display());
    let mut command: Command = shell(masters, &["--fair", "--timeout", "50s"], &script);
    Running::start(command.stdin(Stdio::null()))
}

fn inspected(masters: &Masters) -> Value {
    let inspected = run(&mut cli::on(masters, &["inspect", "--json", "r"]));
    serde_json::from_str(&inspected.stdout).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn commands_run_in_the_order_in_which_they_came() {
    let (masters, files) = (Masters::start(3), tempfile::tempdir().unwrap());
    let file = files.path().join("order");
    let redlock = crate::support::masters::builder().nodes(masters.urls()).connect().await.unwrap();
    let guard = redlock.acquire("r").fair(true).keep_alive().label("web-3").await.unwrap();
    let names = ["first", "second", "third"];
    let mut running = Vec::new();
    for (place, name) in names.iter().enumerate() {
        running.push(start(&masters, name, &file));
        let waits = || inspected(&masters)["waiting"] == place + 1;
        eventually_blocking("it waits in turn", PATIENCE, waits);
    }
    let shown = run(&mut cli::on(&masters, &["inspect", "r"]));
    assert!(shown.stdout.starts_with("\"r\" is held by web-3, expires in "), "{shown:?}");
    assert!(shown.stdout.lines().next().unwrap().ends_with(", 3 waiting"), "{shown:?}");

    let gives_up = ["--fair", "--verbose", "--timeout", "1s"];
    let last = run(&mut shell(&masters, &gives_up, "exit 7"));
    assert_eq!(last.code, Some(111), "{last:?}");
    let is_told = |line: &str| {
        line.contains("waiting for \"r\": held by web-3")
            && line.ends_with(", 3 ahead in the queue")
    };
    assert!(last.stderr.lines().any(is_told), "{last:?}");
    assert!(last.stderr.contains(", 3 ahead in the queue\n"), "{last:?}");

    let mut as_json =
        shell(&masters, &["--fair", "--verbose", "--json", "--timeout", "1m"], "exit 7");
    let mut as_json = as_json.stderr(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(as_json.stderr.take().unwrap()).lines();
    let mut lines = lines.map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap());
    let waits = lines.find(|line| line["obstacle"] == "held" && line["ahead"] == 3);
    assert_eq!(waits.unwrap()["waiting"], 4);
    kill_process(Pid::from_child(&as_json), Signal::TERM).unwrap();
    as_json.wait().unwrap();

    guard.release().await.unwrap();
    for (running, name) in running.into_iter().zip(names) {
        assert_eq!(running.finish().code, Some(0), "{name}");
    }
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "first\nsecond\nthird\n");
    eventually("nothing is left", PATIENCE, async || {
        witness::keys(&masters[0]).await.unwrap().is_empty()
    })
    .await;
}

/// As an older version keeps it.
#[tokio::test]
async fn a_key_that_is_kept_is_shown_to_be_free() {
    let masters = Masters::start(3);
    let kept = "quorumlock:next:0123456789abcdef0123456789abcdef";
    for server in masters.iter() {
        witness::set_foreign(server, "r", kept, Duration::from_secs(20)).await;
    }
    let json = inspected(&masters);
    assert_eq!(
        (&json["state"], &json["kept"], &json["nodes"][0]["state"]),
        (&"free".into(), &true.into(), &"kept".into())
    );
    let shown = run(&mut cli::on(&masters, &["inspect", "r"]));
    assert!(shown.stdout.starts_with("\"r\" is free, reserved for the next waiter\n"), "{shown:?}");
    let taken = run(&mut cli::on(&masters, &["force-release", "--yes", "r"]));
    assert_eq!(taken.stdout, "\"r\" is free: nothing was done\n", "{taken:?}");
}

#[tokio::test]
async fn what_does_not_go_with_fair_is_refused_before_a_master_is_asked() {
    let masters = Masters::start(1);
    for with in ["--shared", "--exclusive"] {
        let refused = run(&mut shell(&masters, &["--fair", with], "exit 7"));
        assert_eq!(refused.code, Some(114), "{refused:?}");
        let text =
            refused.stderr.contains("cannot be used with '--") && refused.stderr.contains(with);
        assert!(text, "{refused:?}");
    }
    let permit = run(&mut shell(&masters, &["--fair", "--permits", "2"], "exit 7"));
    assert_eq!(permit.code, Some(7), "{permit:?}");
    let mut two = cli::on(&masters, &["run", "--fair", "a", "b", "--", "true"]);
    let refused = run(&mut two);
    assert_eq!(refused.code, Some(114), "{refused:?}");
    assert!(refused.stderr.contains("--fair are for one RESOURCE"), "{refused:?}");
    let mut all = cli::on(&masters, &["run", "a", "b", "--", "sh", "-c", "exit 7"]);
    let several = run(all.env("QUORUMLOCK_FAIR", "true"));
    assert_eq!(several.code, Some(7), "the setting does not apply to several: {several:?}");
}

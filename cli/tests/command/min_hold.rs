//! `run --min-hold`: what keeps others out after the command, and what does not.

use crate::cli::{PATIENCE, Running, on, run, shell};
use crate::support::masters::Masters;
use crate::support::poll::eventually;
use crate::support::witness;
use rustix::process::Signal;
use std::time::Duration;

/// Longer than any of this takes.
const OPTIONS: [&str; 5] = ["--no-wait", "--ttl", "2s", "--min-hold", "29s"];

/// The shortest that is left anywhere of the key's life, if all masters have it.
async fn left(masters: &Masters) -> Option<Duration> {
    let mut shortest = Some(Duration::MAX);
    for master in masters.iter() {
        shortest = shortest.min(witness::pttl(master, "r").await);
    }
    shortest
}

#[tokio::test]
async fn a_command_that_succeeds_keeps_others_out() {
    let masters = Masters::start(3);
    let first = run(&mut shell(&masters, &OPTIONS, "echo done"));
    assert_eq!((first.code, &*first.stdout, &*first.stderr), (Some(0), "done\n", ""));
    let left = left(&masters).await.unwrap();
    assert!(left > Duration::from_secs(2) && left < Duration::from_millis(29_292), "{left:?}");
    let second = run(&mut shell(&masters, &OPTIONS, "echo again"));
    assert_eq!((second.code, &*second.stdout), (Some(111), ""), "{second:?}");
    assert!(second.stderr.contains(" is done by "), "{second:?}");
}

#[tokio::test]
async fn what_has_ended_well_is_shown_as_such_and_may_be_opened() {
    let masters = Masters::start(3);
    let named = [&OPTIONS[..], &["--label", "me"]].concat();
    assert_eq!(run(&mut shell(&masters, &named, "true")).code, Some(0));
    let stored = witness::value(&masters[0], "r").await.unwrap();
    assert!(stored.starts_with("quorumlock:done:") && stored.ends_with(":me"), "{stored}");
    let does = |arguments: &[&str]| {
        let output = run(&mut on(&masters, arguments));
        assert_eq!(output.code, Some(0), "{arguments:?}: {output:?}");
        output.stdout
    };
    for command in [&["inspect", "r"][..], &["list"]] {
        let shown = does(command);
        let (line, state) = (shown.contains("done by me, locked for 2"), shown.contains("ended"));
        assert_eq!((line, state), (command[0] == "inspect", command[0] == "list"), "{shown}");
        let json = does(&[command, &["--json"]].concat());
        assert!(json.contains(r#""state":"ended""#) && json.contains(r#""me""#), "{json}");
    }
    assert!(does(&["inspect", "r"]).starts_with("\"r\" is done by me, locked for 2"));
    does(&["force-release", "--yes", "r"]);
    witness::assert_no_keys_now(&masters).await;
}

#[tokio::test]
async fn a_command_that_fails_or_is_not_found_does_not() {
    let masters = Masters::start(3);
    for (script, code) in [("exit 3", 3), ("kill -TERM $$", 143)] {
        let output = run(&mut shell(&masters, &OPTIONS, script));
        assert_eq!((output.code, &*output.stderr), (Some(code), ""));
        witness::assert_no_keys_now(&masters).await;
    }
}

#[tokio::test]
async fn a_run_that_is_killed_keeps_others_out() {
    let masters = Masters::start(3);
    let running = Running::start(&mut shell(&masters, &OPTIONS, "exec sleep 300"));
    let everywhere = async || left(&masters).await.is_some();
    eventually("it is held", PATIENCE, everywhere).await;
    running.signal(Signal::KILL);
    drop(running);
    let left = left(&masters).await.unwrap();
    assert!(left > Duration::from_secs(2), "more than a ttl: {left:?}");
}

#[tokio::test]
async fn more_than_max_ttl_and_two_ways_to_leave_are_refused() {
    let masters = Masters::start(1);
    let long = run(&mut shell(&masters, &["--min-hold", "1h"], "true"));
    assert_eq!(long.code, Some(114), "{long:?}");
    assert!(long.stderr.contains("min_hold: 1h is above max_ttl (30s)"), "{long:?}");
    let both = run(&mut shell(&masters, &["--min-hold", "20s", "--forget"], "true"));
    assert_eq!(both.code, Some(114), "{both:?}");
    witness::assert_no_keys_now(&masters).await;
}

//! `make demo` plays on masters of its own: `QUORUMLOCK_NODES` may be exported for other work.

use crate::support::example;
use crate::support::prelude::*;
use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::Duration;

const SOON: Duration = Duration::from_secs(20);

/// Plays for a moment, with the variable exported. Returns the masters that it names, and whether those
/// of the variable had another client than the witness by then.
async fn plays_on(masters: &Masters, options: &[&str]) -> (String, bool) {
    let mut demo = Command::new(example::program("failover"));
    demo.args(options).env("QUORUMLOCK_NODES", masters.urls().join(","));
    let mut process = demo.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(process.stdout.take().unwrap()).lines().map(Result::unwrap);
    let named = lines.by_ref().find(|line| line.contains(" five ")).expect("the masters");
    // The play begins with a line for each time that has passed.
    let _begun = lines.by_ref().find(|line| line.contains("worker")).expect("a play");
    let is_client = async || {
        let mut all = false;
        for master in masters.iter() {
            all |= witness::ask::<i64>(master, &redis::cmd("DBSIZE")).await.unwrap() > 0;
        }
        all
    };
    let was_used = if options.is_empty() {
        tokio::time::sleep(Duration::from_secs(1)).await;
        is_client().await
    } else {
        eventually("it plays on them", SOON, is_client).await;
        true
    };
    kill_process(Pid::from_child(&process), Signal::INT).unwrap();
    assert_eq!(process.wait().unwrap().code(), Some(130));
    (named.trim().to_owned(), was_used)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_demonstration_uses_masters_of_others_only_if_it_is_asked_to() {
    let masters = Masters::start(5);
    let own = plays_on(&masters, &[]).await;
    assert_eq!(own, ("five embedded masters, in this process".to_owned(), false));
    let (named, was_used) = plays_on(&masters, &["--on-nodes"]).await;
    assert!(named.starts_with("the five masters that QUORUMLOCK_NODES names: cut off"), "{named}");
    assert!(was_used);
}

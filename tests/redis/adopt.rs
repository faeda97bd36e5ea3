//! A lock that goes from process to process, on real masters, and processes that are killed (SIGKILL)
//! at every step of that: nothing is left for longer than a ttl.
//! On a real clock: processes are killed.

use crate::processes::{self, SAYS};
use crate::support::prelude::*;
use quorumlock::error::AdoptErrorKind;
use quorumlock::{FencedDetached, FencedGuard, Redlock};
use std::io::{BufRead, BufReader, Lines, Write, stderr, stdin};
use std::process::{Child, ChildStderr, ChildStdin};
use std::time::Duration;

const KEY: &str = "job";
const TTL: Duration = Duration::from_millis(1_500);
const PROCESS: &str = "adopt::a_process_that_a_test_has_started";

async fn connect(urls: Vec<String>) -> Redlock {
    let builder = builder().nodes(urls).operation_timeout(Duration::from_millis(140));
    builder.ttl(TTL).connect().await.unwrap()
}

/// A process that has a client of the masters. Killed on drop.
struct Process {
    child: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStderr>>,
}

impl Process {
    fn start(masters: &Masters) -> Self {
        let mut child = processes::start(PROCESS, masters);
        let output = BufReader::new(child.stderr.take().unwrap()).lines();
        let input = child.stdin.take().unwrap();
        let mut process = Self { child, input, output };
        assert_eq!(process.hears(), "connected");
        process
    }

    fn tell(&mut self, words: &str) {
        writeln!(self.input, "{words}").unwrap();
    }

    fn hears(&mut self) -> String {
        let lines = self.output.by_ref().map(Result::unwrap);
        let mut answers = lines.filter_map(|line| Some(line.split_once(SAYS)?.1.to_owned()));
        answers.next().expect("a process that says something")
    }

    fn does(&mut self, words: &str) -> String {
        self.tell(words);
        self.hears()
    }

    fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Not a test: a process that does what a test asks. Its locks are extended on another thread.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "tests of this file start it as a process"]
async fn a_process_that_a_test_has_started() {
    let Some(masters) = processes::masters() else { return };
    let redlock = connect(masters).await;
    let say = |words: &str| writeln!(stderr(), "\n{SAYS}{words}").unwrap();
    say("connected");
    let mut guard: Option<FencedGuard> = None;
    for line in stdin().lines().map(Result::unwrap) {
        match line.split_once(' ').unwrap_or((&line, "")) {
            ("acquire", _) => {
                let held =
                    redlock.acquire(KEY).keep_alive_for(Duration::MAX).fenced().await.unwrap();
                say(&held.fencing_token().to_string());
                guard = Some(held);
            }
            ("detach", _) => match guard.take().unwrap().detach().await {
                Ok(detached) => say(&serde_json::to_string(&detached).unwrap()),
                Err(refused) => say(&refused.to_string()),
            },
            ("adopt", value) => {
                let detached: FencedDetached = serde_json::from_str(value).unwrap();
                match redlock.adopt(detached).await {
                    Ok(adopted) => {
                        say(&adopted.fencing_token().to_string());
                        guard = Some(adopted);
                    }
                    Err(refused) => say(&refused.to_string()),
                }
            }
            ("release", _) => say(&format!("{:?}", guard.take().unwrap().release().await)),
            (what, _) => panic!("{what}?"),
        }
    }
}

async fn holders(masters: &Masters) -> usize {
    witness::holders(masters, KEY).await.len()
}

/// Waits until the lock is free, which takes a ttl at most: its holder extended it forever.
async fn is_free_after_a_ttl(masters: &Masters, after: &str) {
    eventually(after, SOON, async || holders(masters).await == 0).await;
}

#[tokio::test]
async fn a_lock_outlives_the_process_that_has_acquired_it() {
    let masters = Masters::start(3);
    let (mut first, mut second) = (Process::start(&masters), Process::start(&masters));
    let third = connect(masters.urls()).await;
    let number = first.does("acquire");
    let value = first.does("detach");
    first.kill();
    assert!(third.try_acquire(KEY).await.unwrap_err().is_contended());
    assert_eq!(second.does(&format!("adopt {value}")), number);
    // Adopted, it is kept alive, as it was before.
    tokio::time::sleep(TTL + TTL / 3).await;
    assert!(third.try_acquire(KEY).await.unwrap_err().is_contended());
    assert_eq!(second.does("release"), "Ok(Confirmed)");
    let next = third.try_acquire(KEY).fenced().await.unwrap();
    assert!(next.fencing_token().to_string() > number);
}

#[tokio::test]
async fn what_comes_too_late_is_lost() {
    let masters = Masters::start(3);
    let (mut first, second) = (Process::start(&masters), connect(masters.urls()).await);
    first.does("acquire");
    let value: FencedDetached = serde_json::from_str(&first.does("detach")).unwrap();
    is_free_after_a_ttl(&masters, "it is not adopted").await;
    let refused = second.adopt(value).await.unwrap_err();
    assert!(matches!(refused.kind, AdoptErrorKind::TooLate(_)), "{refused}");
}

#[tokio::test]
async fn both_sides_killed_at_every_step_leave_nothing_for_longer_than_a_ttl() {
    // Masters of its own for each step: all wait for the end at the same time.
    let mut killed = Vec::new();
    for step in ["acquire", "begin to detach", "detach"] {
        let masters = Masters::start(3);
        let mut first = Process::start(&masters);
        first.does("acquire");
        match step {
            "detach" => _ = first.does("detach"),
            "begin to detach" => first.tell("detach"),
            _ => {}
        }
        first.kill();
        killed.push((step, masters));
    }
    for step in ["begin to adopt", "adopt", "begin to release", "release"] {
        let masters = Masters::start(3);
        let (mut first, mut second) = (Process::start(&masters), Process::start(&masters));
        let number = first.does("acquire");
        let adopt = format!("adopt {}", first.does("detach"));
        match step {
            "begin to adopt" => second.tell(&adopt),
            _ => assert_eq!(second.does(&adopt), number),
        }
        match step {
            "begin to release" => second.tell("release"),
            "release" => _ = second.does("release"),
            _ => {}
        }
        first.kill();
        second.kill();
        killed.push((step, masters));
    }
    for (step, masters) in killed {
        is_free_after_a_ttl(&masters, step).await;
    }
}

#[tokio::test]
async fn a_master_that_was_down_is_topped_up_by_the_adopter() {
    let masters = Masters::start(3);
    let (first, second) = (connect(masters.urls()).await, connect(masters.urls()).await);
    let guard = first.acquire(KEY).await.unwrap();
    masters.kill(2);
    let mut guard = Some(guard);
    let detached = loop {
        // The connection may not have ended yet.
        match guard.take().unwrap().detach().await {
            Ok(detached) => break detached,
            Err(refused) => guard = Some(refused.guard),
        }
    };
    let adopted = second.adopt(detached).keep_alive().await.unwrap();
    masters[2].restart();
    everywhere(&masters, KEY).await;
    adopted.release().await.unwrap();
    eventually("it is released everywhere", SOON, async || holders(&masters).await == 0).await;
}

#[tokio::test]
async fn work_that_has_ended_well_is_not_adopted_from_a_copy() {
    let masters = Masters::start(3);
    let (first, second) = (connect(masters.urls()).await, connect(masters.urls()).await);
    for names in [&[KEY][..], &[KEY, "other"]] {
        let guard = first.acquire_all(names).min_hold(LONG).fenced().await.unwrap();
        let value = serde_json::to_string(&guard.detach().await.unwrap()).unwrap();
        let copy = || serde_json::from_str::<FencedDetached>(&value).unwrap();
        second.adopt(copy()).await.unwrap().release().await.unwrap();
        for redlock in [&first, &second] {
            let refused = redlock.adopt(copy()).await.unwrap_err();
            assert!(matches!(refused.kind, AdoptErrorKind::TooLate(_)), "{refused}");
            drop(redlock.adopt(copy()));
            assert!(redlock.try_acquire(KEY).await.unwrap_err().is_contended());
        }
        tokio::time::sleep(200 * MS).await;
        for name in names {
            let stored = witness::values(&masters, name).await;
            let is_marked = |value: &Option<String>| {
                value.as_deref().is_some_and(|value| value.starts_with("quorumlock:done:"))
            };
            assert!(stored.iter().all(is_marked), "{stored:?}");
            let inspection = first.inspect(*name).await.unwrap();
            assert!(inspection.holder().unwrap().has_ended(), "{inspection}");
            first.force_release(&inspection).await.unwrap();
        }
        drop(first.try_acquire_all(names).await.unwrap());
    }
}

/// A script that has written is not refused for want of memory.
#[tokio::test]
async fn masters_without_memory_mark_what_has_ended_well() {
    let masters = Masters::start(3);
    let redlock = connect(masters.urls()).await;
    let guard = redlock.acquire(KEY).min_hold(LONG).await.unwrap();
    everywhere(&masters, KEY).await;
    let full = redis::cmd("CONFIG").arg("SET").arg("maxmemory").arg("1").to_owned();
    for master in masters.iter() {
        let _: String = witness::ask(master, &full).await.unwrap();
    }
    guard.release().await.unwrap();
    assert!(redlock.inspect(KEY).await.unwrap().holder().unwrap().has_ended());
}

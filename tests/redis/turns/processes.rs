//! Processes that work under one lock, `r`, as a test instructs them.

use crate::processes::{self, say};
use crate::support::poll::eventually_blocking;
use crate::support::prelude::*;
use quorumlock::{Guard, Redlock};
use rustix::process::{Pid, Signal, kill_process};
use std::io::stdin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::Duration;

use super::nanos;

/// How long each section lasts.
const SECTION: Duration = Duration::from_millis(3);

const PROCESS: &str = "turns::processes::a_process_that_a_test_has_started";

/// How a process asks for the lock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Way {
    Fair,
    Plain,
    /// Single attempts, without a pause.
    Hammers,
}

/// A section: which task of which process, when it asked, and from when to when it was inside, in
/// nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Had {
    pub(super) process: usize,
    pub(super) task: usize,
    pub(super) asked: u128,
    pub(super) from: u128,
    pub(super) until: u128,
}

async fn asked_for(redlock: &Redlock, way: Way) -> Guard {
    match way {
        Way::Fair => redlock.acquire("r").fair(true).timeout(Duration::MAX).await.unwrap(),
        Way::Plain => redlock.acquire("r").timeout(Duration::MAX).await.unwrap(),
        Way::Hammers => loop {
            if let Ok(guard) = redlock.try_acquire("r").await {
                return guard;
            }
        },
    }
}

/// Enters one section after the other, and says so, until it is to end.
async fn work(task: usize, redlock: Redlock, way: Way, begin: u128, ends: Arc<AtomicBool>) {
    tokio::time::sleep(super::span(nanos(), begin)).await;
    while !ends.load(SeqCst) {
        let asked = nanos();
        let guard = asked_for(&redlock, way).await;
        let from = nanos();
        tokio::time::sleep(SECTION).await;
        assert!(guard.is_valid());
        let until = nanos();
        guard.release().await.unwrap();
        say(&format!("{task} {asked} {from} {until}"));
    }
}

/// Not a test: a process that works as its lines of input say, until their end.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "tests of this folder start it as a process"]
async fn a_process_that_a_test_has_started() {
    let Some(masters) = processes::masters() else { return };
    let builder = builder().nodes(masters).operation_timeout(900 * MS);
    let redlock = builder.connect().await.unwrap();
    say("connected");
    let mut working: Option<(Arc<AtomicBool>, Vec<_>)> = None;
    for line in stdin().lines() {
        let line = line.unwrap();
        let words: Vec<&str> = line.split(' ').collect();
        if let Some((ends, tasks)) = working.take() {
            ends.store(true, SeqCst);
            futures::future::try_join_all(tasks).await.unwrap();
            say("over");
        }
        let (way, tasks, begin) = match words[..] {
            ["end"] => continue,
            [way, tasks, begin] => (way, tasks.parse().unwrap(), begin.parse().unwrap()),
            _ => panic!("{line}"),
        };
        let way = match way {
            "Fair" => Way::Fair,
            "Plain" => Way::Plain,
            _ => Way::Hammers,
        };
        let ends = Arc::new(AtomicBool::new(false));
        let work =
            |task: usize| tokio::spawn(work(task, redlock.clone(), way, begin, ends.clone()));
        working = Some((ends.clone(), (0..tasks).map(work).collect()));
    }
}

/// Processes that work. They are killed on drop.
pub(super) struct Processes {
    all: processes::Processes,
    /// Those that have begun.
    at_work: Vec<usize>,
}

impl Processes {
    /// Starts so many, and waits until they are connected.
    pub(super) fn start(masters: &Masters, count: usize) -> Self {
        let all = processes::Processes::start(PROCESS, masters, count);
        Self { all, at_work: Vec::new() }
    }

    /// Lets one begin.
    pub(super) fn begin(&mut self, process: usize, way: Way, tasks: usize, at: u128) {
        self.all.tell(process, &format!("{way:?} {tasks} {at}"));
        self.at_work.push(process);
    }

    /// Returns the next section.
    pub(super) fn had(&self) -> Had {
        let (process, words) = self.all.next();
        let numbers: Vec<u128> = words.split(' ').filter_map(|word| word.parse().ok()).collect();
        let [task, asked, from, until] = numbers[..] else { panic!("{process}: {words}") };
        Had { process, task: task.try_into().unwrap(), asked, from, until }
    }

    /// Ends the work of all. What they have had since the last one that was read is not counted: a task may
    /// then have been without others.
    pub(super) fn end(&mut self) {
        let mut left = std::mem::take(&mut self.at_work);
        left.iter().for_each(|process| self.all.tell(*process, "end"));
        while !left.is_empty() {
            let (process, words) = self.all.next();
            left.retain(|other| *other != process || words != "over");
        }
    }

    /// Sends one a signal that stops or ends it. On return none of its threads executes anything: on a
    /// busy machine that takes longer than a hand-over.
    pub(super) fn signal(&self, process: usize, signal: Signal) {
        let child = &self.all.children[process];
        kill_process(Pid::from_child(child), signal).unwrap();
        let threads = format!("/proc/{}/task", child.id());
        // The state follows the command name, which is in parentheses.
        let rests = |stat: String| {
            let state = stat.rsplit(')').next().map(str::trim_start);
            state.is_some_and(|state| state.starts_with(['T', 'Z']))
        };
        eventually_blocking("the process executes nothing", 10 * SECOND, || {
            let Ok(threads) = std::fs::read_dir(&threads) else { return true };
            let mut stats = threads.flatten().map(|thread| thread.path().join("stat"));
            stats.all(|stat| std::fs::read_to_string(stat).is_ok_and(rests))
        });
    }
}

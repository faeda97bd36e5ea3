//! How processes share the permits of a semaphore: several of them, each with many tasks, at work at
//! the same time on one set of masters.
//! On a real clock: they are processes.

use crate::processes::{self, Processes, say};
use crate::support::docker::tell;
use crate::support::prelude::*;
use quorumlock::Semaphore;
use std::io::stdin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::{Duration, Instant, SystemTime};

const PROCESSES: usize = 4;
const TASKS: usize = 16;
const PERMITS: usize = 10;
/// The time for which a task has each of its permits.
const WORKS: Duration = Duration::from_millis(20);

const PROCESS: &str = "semaphore_processes::a_process_that_a_test_has_started";

/// A permit that a task had: its number, how long the task had waited, and from when to when it had
/// it, in nanoseconds of the clock that all processes share.
struct Had {
    process: usize,
    task: usize,
    waited: Duration,
    from: u128,
    until: u128,
}

impl Had {
    fn parse(process: usize, words: &str) -> Option<Self> {
        let numbers: Vec<u128> = words.split(' ').filter_map(|word| word.parse().ok()).collect();
        let [task, waited, from, until] = numbers[..] else { return None };
        let (task, waited) = (task.try_into().ok()?, waited.try_into().ok()?);
        Some(Self { process, task, waited: Duration::from_nanos(waited), from, until })
    }
}

fn now() -> u128 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_nanos()
}

/// Takes permits, one after the other, and says so, until it is to end.
async fn work(task: usize, semaphore: Semaphore, ends: Arc<AtomicBool>) {
    while !ends.load(SeqCst) {
        let asked = Instant::now();
        let permit = semaphore.acquire().timeout(Duration::MAX).await.unwrap();
        let (waited, from) = (asked.elapsed().as_nanos(), now());
        tokio::time::sleep(WORKS).await;
        assert!(permit.is_valid());
        let until = now();
        drop(permit);
        say(&format!("{task} {waited} {from} {until}"));
    }
}

/// Not a test: a process whose tasks share permits with others, from its first line of input to the end
/// of its input. The tasks are on other threads.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a test of this file starts it as a process"]
async fn a_process_that_a_test_has_started() {
    let Some(masters) = processes::masters() else { return };
    let redlock = builder().nodes(masters).operation_timeout(900 * MS).connect();
    let semaphore = redlock.await.unwrap().semaphore("import", PERMITS);
    say("connected");
    let mut lines = stdin().lines();
    assert!(lines.next().is_some_and(|line| line.is_ok()), "the test lets it begin");
    let ends = Arc::new(AtomicBool::new(false));
    let tasks = (0..TASKS).map(|task| tokio::spawn(work(task, semaphore.clone(), ends.clone())));
    let tasks: Vec<_> = tasks.collect();
    assert!(lines.next().is_none(), "nothing follows");
    ends.store(true, SeqCst);
    futures::future::try_join_all(tasks).await.unwrap();
    say("over");
}

/// Lets them share until they have had so many permits, and returns these.
fn share(mut processes: Processes, permits: usize) -> (Vec<Had>, Duration) {
    (0..PROCESSES).for_each(|process| processes.tell(process, "begin"));
    let began = Instant::now();
    let mut all = Vec::with_capacity(permits);
    while all.len() < permits {
        let (process, words) = processes.next();
        all.push(Had::parse(process, &words).unwrap_or_else(|| panic!("{process}: {words}")));
    }
    let took = began.elapsed();
    processes.children.iter_mut().for_each(|child| drop(child.stdin.take()));
    let mut over = 0;
    while over < PROCESSES {
        // What comes after the end is not counted: a task may then be without others.
        over += usize::from(processes.next().1 == "over");
    }
    for child in &mut processes.children {
        assert!(child.wait().unwrap().success());
    }
    (all, took)
}

/// Returns the greatest number of permits at a time.
fn most_at_a_time(all: &[Had]) -> usize {
    let begins = all.iter().map(|had| (had.from, true));
    let mut ends: Vec<_> = begins.chain(all.iter().map(|had| (had.until, false))).collect();
    // Of the same moment, an end comes first.
    ends.sort_unstable();
    let count = |held: &mut usize, (_, begins): (u128, bool)| {
        *held = if begins { *held + 1 } else { *held - 1 };
        Some(*held)
    };
    ends.into_iter().scan(0, count).max().unwrap_or(0)
}

/// Lets all of them share so many permits a task, and returns the fewest of a task as a part of the
/// most, the longest wait as a multiple of the mean, and the throughput as a part of the ideal.
fn shared(masters: &Masters, each: usize) -> (f64, f64, f64) {
    let (all, took) =
        share(Processes::start(PROCESS, masters, PROCESSES), each * TASKS * PROCESSES);
    let most = most_at_a_time(&all);
    assert!(most <= PERMITS, "{most} hold one of {PERMITS}");
    let mut counts = [[0_usize; TASKS]; PROCESSES];
    all.iter().for_each(|had| counts[had.process][had.task] += 1);
    let counts = counts.as_flattened();
    let (fewest, greatest) = (counts.iter().min().unwrap(), counts.iter().max().unwrap());
    let share = *fewest as f64 / *greatest as f64;
    let waits = all.iter().map(|had| had.waited.as_secs_f64());
    let mean = waits.clone().sum::<f64>() / all.len() as f64;
    let longest = waits.fold(0.0, f64::max) / mean;
    let ideal = WORKS.as_secs_f64() * all.len() as f64 / PERMITS as f64;
    let rate = ideal / took.as_secs_f64();
    tell(&format!(
        "{PROCESSES} processes of {TASKS} tasks on {PERMITS} permits, {WORKS:?} with each, {most} at a \
         time: {share:.2} fewest/most, longest wait {longest:.1} times the mean of {mean:.2} s, \
         {rate:.2} of the ideal throughput",
    ));
    (share, longest, rate)
}

#[test]
fn processes_share_permits_and_never_have_more_than_there_are() {
    let masters = Masters::start(3);
    let (share, longest, _) = shared(&masters, 8);
    assert!(share > 0.0, "a task had none");
    assert!(longest < 30.0, "{longest:.1} times the mean");
}

/// The figures that were asked for. Takes half a minute, and needs a machine that does nothing else.
#[test]
#[ignore = "measures"]
fn four_processes_of_sixteen_tasks_share_ten_permits() {
    let masters = Masters::start(5);
    let (share, longest, rate) = shared(&masters, 100);
    assert!(share >= 0.5 && longest < 10.0 && rate > 0.5, "{share:.2} {longest:.1} {rate:.2}");
}

//! One future, dropped after a number of polls, and the outcome.

use super::moments::Moments;
use super::operations::{Begun, Dropped, Operation, Role, Waiting};
use super::stage::{Fault, Stage};
use super::wire::Loses;
use crate::Redlock;
use crate::driver::tests::{KEY, tasks};
use futures::poll;
use std::fmt;
use std::rc::Rc;
use std::time::Duration;
use tokio::task::{JoinHandle, yield_now};
use tokio::time::{sleep, timeout};

/// Time within which everything is undone, and connections are made again.
const SOON: Duration = Duration::from_secs(6);
const LOOK: Duration = Duration::from_millis(50);

/// Time to serve a waiter when all masters are up.
pub(super) const PROMPT: Duration = Duration::from_millis(100);

/// The waiter for the lock behind the dropped operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Rival {
    /// In the same process.
    Here,
    /// In another one.
    There,
}

/// Parameters of a sweep.
#[derive(Clone, Copy)]
pub(super) struct Case<'a> {
    pub(super) operation: &'a Operation,
    pub(super) fault: Fault,
    pub(super) rival: Rival,
    pub(super) loses: Loses,
    /// The future is leaked, not dropped: it never reports that it no longer waits.
    pub(super) leaks: bool,
}

impl fmt::Display for Case<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { operation, fault, rival, .. } = self;
        write!(f, "{}, {}, {fault:?}, rival {rival:?}", operation.future, operation.what)
    }
}

/// Number of polls between which other tasks get a turn and nothing else happens.
const TURNS: usize = 18;

/// Number of polls after which all timeouts and waits are over; a future that is not ready by then
/// only watches.
pub(super) const LONGEST: usize = 62;

/// Does what happens after the poll of this number: at first another task has its turn; then time
/// passes, slowly at first.
async fn pace(polls: usize) {
    let ms = match polls {
        ..TURNS => return yield_now().await,
        TURNS..34 => 1,
        34..50 => 17,
        _ => 211,
    };
    sleep(Duration::from_millis(ms)).await;
}

/// Drops the future after no poll, after one, and so on until it is ready, at those of these moments that were chosen.
/// Returns their number, and everything that was wrong.
pub(super) fn sweep(case: Case<'_>, moments: &Moments) -> (usize, Vec<String>) {
    step_by_step(async {
        let (mut wrong, mut clean, mut count) = (Vec::new(), None, 0);
        for polls in moments.of(case) {
            count += 1;
            let stage = match clean.take() {
                Some(stage) => stage,
                None => Rc::new(Stage::new(case.loses).await),
            };
            let (ready, found) = dropped_after(case, &stage, polls).await;
            // Damage by one moment must not be blamed on the next. A master that has lost its
            // memory has no vote for a while.
            clean = (found.is_empty() && case.fault != Fault::OneKilled).then_some(stage);
            wrong.extend(found.into_iter().map(|found| format!("{case}, {polls} polls: {found}")));
            if ready {
                break;
            }
        }
        (count, wrong)
    })
}

/// Runs a test so that between two of its polls one other task gets one turn, and no more.
pub(super) fn step_by_step<T>(test: impl Future<Output = T>) -> T {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_all().start_paused(true).event_interval(1).build();
    runtime.unwrap().block_on(test)
}

async fn dropped_after(case: Case<'_>, stage: &Rc<Stage>, polls: usize) -> (bool, Vec<String>) {
    let Case { operation, fault, rival, .. } = case;
    let before = tasks();
    let Begun { future, kept, behind } = (operation.begin)(stage.clone()).await;
    let holder = stage.strike(fault, operation.role == Role::Wants).await;
    let waiting = (operation.role != Role::Neither).then(|| match behind {
        Some(waiting) if rival == Rival::Here => waiting,
        _ if rival == Rival::Here => wait_behind(&stage.redlock),
        _ => wait_behind(&stage.other),
    });
    let waits = if operation.passes_nothing_on() { Rival::There } else { rival };
    let (ready, waiting) = poll_and_drop(case, stage, polls, future, waiting).await;
    drop(kept);

    let mut wrong = Vec::new();
    if fault.blocks() {
        stage.mend(fault);
        drop(holder);
        served(&mut wrong, waiting, fault.patience(waits)).await;
    } else {
        served(&mut wrong, waiting, fault.patience(waits)).await;
        stage.mend(fault);
    }
    if fault == Fault::AnswersLost {
        // Connections that still wait for late answers are given up by then.
        sleep(SOON).await;
    }
    let _ = undone(stage, before).await;
    for (prefix, redlock) in [("", &stage.redlock), ("another process's ", &stage.other)] {
        stage.wanted_again().await;
        match timeout(PROMPT, redlock.acquire(KEY)).await {
            Ok(Ok(guard)) => drop(guard.release().await),
            Ok(Err(error)) => wrong.push(format!("{prefix}next acquire: {error}")),
            Err(_) => wrong.push(format!("{prefix}next acquire is not served")),
        }
    }
    wrong.extend(undone(stage, before).await);
    (ready, wrong)
}

/// Waits until nothing is left on the masters, in both processes and on the runtime. Returns what
/// is left at the end.
async fn undone(stage: &Stage, before: usize) -> Vec<String> {
    let mut left = Vec::new();
    for _ in 0..SOON.as_millis() / LOOK.as_millis() {
        sleep(LOOK).await;
        left.clear();
        let (keys, remembered, after) = (stage.keys(), stage.remembered(), tasks());
        if !keys.is_empty() {
            left.push(format!("orphans: {keys:?}"));
        }
        if remembered != [0, 0] {
            left.push(format!("remembered, here and there: {remembered:?}"));
        }
        if after != before {
            left.push(format!("{before} tasks before, {after} after"));
        }
        if left.is_empty() {
            break;
        }
    }
    left
}

/// Polls the future this many times, then drops it. The waiter behind it arrives in the meantime.
async fn poll_and_drop(
    case: Case<'_>,
    stage: &Stage,
    polls: usize,
    mut future: Dropped,
    mut waiting: Option<Waiting>,
) -> (bool, Option<JoinHandle<()>>) {
    // A holder of the lock is there before its rival. An operation that wants the lock is first in
    // the queue, too. A rival in another process comes once all masters have been asked, so that no
    // vote is split.
    let rival_comes = match (case.operation.role, case.rival) {
        (Role::Wants, Rival::Here) => 1,
        (Role::Wants, Rival::There) => TURNS,
        _ => 0,
    };
    let (mut ready, mut rival) = (false, None);
    for step in 0..=polls {
        if step == rival_comes.min(polls) {
            rival = waiting.take().map(tokio::spawn);
        }
        if case.fault.midway() == Some(step) {
            stage.strike_midway();
        }
        if step == polls || ready {
            break;
        }
        ready = poll!(&mut future).is_ready();
        if !ready {
            pace(step).await;
        }
    }
    if case.leaks {
        std::mem::forget(future);
    }
    (ready, rival)
}

fn wait_behind(redlock: &Redlock) -> Waiting {
    let acquire = redlock.acquire(KEY).timeout(Duration::MAX);
    Box::pin(async move { drop(acquire.await.unwrap().release().await) })
}

async fn served(wrong: &mut Vec<String>, rival: Option<JoinHandle<()>>, within: Duration) {
    let Some(mut rival) = rival else { return };
    match timeout(within, &mut rival).await {
        Ok(ended) => ended.unwrap(),
        Err(_) => {
            wrong.push(format!("who waits is not served within {within:?}"));
            rival.abort();
        }
    }
}

//! Work that is done at most once within a period: over schedulers that crash and masters that come
//! back empty. What is not promised happens, too, and is shown.

use super::prelude::*;
use quorumlock::{FencingWindow, OnceError, Ran, Redlock, RedlockBuilder, RestartGuard};
use std::time::Duration;

/// The period.
const LEAST: Duration = Duration::from_millis(1_800);
const TTL: Duration = Duration::from_secs(1);
const MAX_TTL: Duration = Duration::from_secs(2);

fn guarded(masters: &Masters) -> RedlockBuilder {
    let window = FencingWindow { back: 500 * MS, ahead: 500 * MS };
    let builder = masters.builder().restart_guard(RestartGuard::On);
    builder.ttl(TTL).max_ttl(MAX_TTL).fencing_window(window)
}

fn unguarded(masters: &Masters) -> RedlockBuilder {
    guarded(masters).restart_guard(RestartGuard::Off)
}

/// The end of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Ending {
    Well,
    Error,
    /// Its process sends nothing any more.
    Crash,
}

/// A run, between the call and the moment at which its body began.
#[derive(Clone, Copy, Debug)]
struct Run {
    called: Instant,
    began: Instant,
    ending: Ending,
}

/// Runs the work on a client, if it is open; `None` if it is closed or too few masters can vote.
async fn run(redlock: &Redlock, ending: Ending) -> Option<Run> {
    let (called, mut began) = (Instant::now(), None);
    let once = redlock.once("job", LEAST).run(async |_| {
        began = Some(Instant::now());
        match ending {
            Ending::Well => Ok(()),
            Ending::Error => Err("planned"),
            Ending::Crash => {
                redlock.shutdown().await.unwrap();
                Ok(())
            }
        }
    });
    match once.await {
        Ok(Ran::Skipped) => assert_eq!(began, None),
        Ok(Ran::Done(())) => assert_eq!(ending, Ending::Well),
        Err(OnceError::Failed("planned")) => assert_eq!(ending, Ending::Error),
        Err(OnceError::NotAcquired(error)) => assert!(error.is_no_quorum(), "{error}"),
        Err(OnceError::Lost { lost, .. }) => assert_eq!(ending, Ending::Crash, "{lost}"),
        Err(other) => panic!("{other}"),
    }
    Some(Run { called, began: began?, ending })
}

/// Runs the work on each client in turn, until it is open for one.
async fn next_run(clients: &[Redlock]) -> Run {
    loop {
        for client in clients {
            if let Some(run) = run(client, Ending::Well).await {
                return run;
            }
        }
        tokio::time::sleep(20 * MS).await;
    }
}

/// The work runs and ends; then a quorum of masters comes back empty. Returns the time to the next
/// start.
async fn restarts_after(ending: Ending, client: fn(&Masters) -> RedlockBuilder) -> Duration {
    let masters = Masters::start(3);
    let connect = async || client(&masters).connect().await.unwrap();
    let (first, before) = (connect().await, connect().await);
    before.wait_until_ready(LONG).await.unwrap();
    first.wait_until_ready(LONG).await.unwrap();
    let run = run(&first, ending).await.expect("it is open");
    masters[..2].iter().for_each(Master::restart);
    let next = next_run(&[before, connect().await]).await;
    next.began - run.called
}

#[tokio::test(start_paused = true)]
async fn masters_that_forget_start_no_second_run_within_the_period() {
    let (well, crash) =
        tokio::join!(restarts_after(Ending::Well, guarded), restarts_after(Ending::Crash, guarded));
    assert!(well >= LEAST && crash >= LEAST, "{well:?} and {crash:?}");
}

/// This is not promised, and the reason for the restart guard.
#[tokio::test(start_paused = true)]
async fn without_the_restart_guard_they_do() {
    let next = restarts_after(Ending::Well, unguarded).await;
    assert!(next < LEAST, "{next:?}: the test shows nothing");
}

/// Four schedulers want the work all the time.
#[tokio::test(start_paused = true)]
async fn schedulers_that_crash_start_no_second_run_within_the_period() {
    let masters = Masters::start(3);
    let mut clients = Vec::new();
    for _ in 0..4 {
        clients.push(unguarded(&masters).connect().await.unwrap());
    }
    let endings = [Ending::Crash, Ending::Error, Ending::Well, Ending::Error, Ending::Crash];
    let mut runs: Vec<Run> = Vec::new();
    while runs.len() < endings.len() {
        tokio::time::sleep(50 * MS).await;
        for client in &mut clients {
            let Some(ending) = endings.get(runs.len()) else { break };
            let Some(run) = run(client, *ending).await else { continue };
            runs.push(run);
            if run.ending == Ending::Crash {
                *client = unguarded(&masters).connect().await.unwrap();
            }
        }
    }
    for two in runs.windows(2) {
        let apart = two[1].began - two[0].called;
        match two[0].ending {
            Ending::Well | Ending::Crash => assert!(apart >= LEAST, "{apart:?} after {two:?}"),
            // Another one tries again.
            Ending::Error => assert!(apart < LEAST, "{apart:?} after {two:?}"),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn an_operator_may_open_it_earlier() {
    let (masters, redlock) = three().await;
    let run = || redlock.once("job", LONG).run(async |_| Ok::<_, ()>(()));
    assert_eq!(run().await, Ok(Ran::Done(())));
    assert_eq!(run().await, Ok(Ran::Skipped));
    let inspection = redlock.inspect("job").await.unwrap();
    redlock.force_release(&inspection).await.unwrap();
    assert_eq!(run().await, Ok(Ran::Done(())));
    for master in masters.iter() {
        let left = witness::pttl(master, "job").await;
        assert!(left.is_some_and(|left| left <= LONG + SECOND), "{left:?}");
    }
}

/// The release is owed to a master that is stopped, and takes the time that is then left.
#[tokio::test(start_paused = true)]
async fn a_master_that_was_stopped_keeps_the_key_for_as_long() {
    let (masters, redlock) = three().await;
    let guard = redlock.acquire("job").min_hold(LONG).ttl(TTL).keep_alive().await.unwrap();
    everywhere(&masters, "job").await;
    masters[0].stop();
    guard.release().await.unwrap();
    masters[0].cont();
    let shortened = async || {
        let left = witness::pttl(&masters[0], "job").await;
        left.is_some_and(|left| left < LONG + 200 * MS && left > LONG / 2)
    };
    eventually("its life is what is left", SOON, shortened).await;
    redlock.shutdown().await.unwrap();
    assert_eq!(witness::holders(&masters, "job").await.len(), 3);
}

//! Client processes compete for locks on masters in containers, while both suffer faults chosen by
//! seed, and a checker judges the history. The short form runs here, and minutes of it with `make
//! chaos`, where `proof/judge` judges it, too.
//!
//! Other tests show that it would find something: without rollback, and with two of five masters as
//! a quorum, the same chaos reports violations.
//!
//! | file | |
//! |---|---|
//! | `run.rs` | one run, from the containers to the verdict |
//! | `plan.rs` | the faults and their times, by the seed alone |
//! | `trouble.rs`, `people.rs` | inflict them on the masters and on the client processes |
//! | `client/` | a client process: acquires, holds, extends, writes, releases |
//! | `store.rs` | what the locks protect; refuses old fencing tokens |
//! | `usage.rs` | memory and open files over time |
//! | `clocks.rs` | clocks of their own, if they are asked for |
//! | `watch.rs` | looks at the masters' keys in the meantime |
//! | `history.rs`, `line.rs`, `journal.rs`, `clock.rs` | what happened, line by line, by one clock |
//! | `story.rs`, `check/` | the history put in order, and what it must show |
//! | `report.rs`, `picture.rs` | the figures, and the picture |

pub(crate) mod check;
pub(crate) mod client;
pub(crate) mod clock;
pub(crate) mod clocks;
#[path = "../support/edn.rs"]
pub(crate) mod edn;
pub(crate) mod history;
pub(crate) mod journal;
mod line;
pub(crate) mod people;
pub(crate) mod picture;
pub(crate) mod plan;
pub(crate) mod report;
pub(crate) mod run;
pub(crate) mod store;
pub(crate) mod story;
#[path = "../support/timeline/mod.rs"]
mod timeline;
pub(crate) mod trouble;
pub(crate) mod usage;
pub(crate) mod watch;

use crate::helper::{self, Helper};
use crate::support::docker::tell;
use crate::support::poll::eventually_blocking;
use crate::support::port::ReservedPort;
use crate::support::seed::Seed;
use check::Kind;
use client::{Orders, Party, Spoiled};
use journal::Journal;
use people::People;
use plan::{Clocks, Deed};
use run::{Outcome, Run};
use std::sync::Arc;
use std::time::Duration;

const SEED: &str = "QUORUMLOCK_CHAOS_SEED";
/// Duration of the main run.
const SECONDS: &str = "QUORUMLOCK_CHAOS_SECONDS";
/// Safeguard to remove from the main run: set by hand, to see it fail.
const WITHOUT: &str = "QUORUMLOCK_CHAOS_WITHOUT";
/// Set if clients have different settings in the main run.
const ODDS: &str = "QUORUMLOCK_CHAOS_ODDS";
/// How the clocks go in the main run, if processes have their own: `plan/clocks.rs`.
const CLOCKS: &str = "QUORUMLOCK_CHAOS_CLOCKS";
/// Path of a history to judge again: set by hand, when a check has changed.
const HISTORY: &str = "QUORUMLOCK_CHAOS_HISTORY";

/// Number of violations that are shown one by one.
const SHOWN: usize = 12;

fn from_environment<T>(name: &str, parse: impl Fn(&str) -> Option<T>) -> Option<T> {
    let text = std::env::var(name).ok()?;
    Some(parse(&text).unwrap_or_else(|| panic!("{name}={text} is none")))
}

async fn play_with(
    spoiled: Spoiled,
    lasts: Duration,
    at_odds: bool,
    clocks: Clocks,
) -> Option<Outcome> {
    let run = Run::new(Seed::from_env(SEED), lasts, spoiled, at_odds, clocks);
    let outcome = run.play().await?;
    tell(&report(&outcome));
    Some(outcome)
}

fn report(outcome: &Outcome) -> String {
    let of = |kind| outcome.count(kind);
    let mut lines = vec![
        outcome.title.clone(),
        outcome.figures.to_string(),
        outcome.usage.clone(),
        format!(
            "  VIOLATIONS: {} overlaps, {} of the order of tokens, {} stale writes accepted, {} \
             holders refused by the store, {} orphans, {} outages not cured, {} lost, {} odd",
            of(Kind::Overlap),
            of(Kind::FenceOrder),
            of(Kind::Accepted),
            of(Kind::Refused),
            of(Kind::Orphan),
            of(Kind::Unavailable),
            of(Kind::Lost),
            of(Kind::Odd),
        ),
    ];
    let shown = outcome.violations.iter().take(SHOWN);
    lines.extend(shown.map(|found| format!("    {} {:?}: {}", found.at, found.kind, found.text)));
    let rest = outcome.violations.len().saturating_sub(SHOWN);
    lines.extend((rest > 0).then(|| format!("    and {rest} more, in the picture")));
    lines.push(format!("  picture: {}", outcome.picture.display()));
    lines.push(format!("  history: {}", outcome.history.display()));
    lines.push(format!("  the same choices again: {}", outcome.again));
    lines.join("\n")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn in_chaos_a_lock_never_has_two_holders_and_nothing_is_left() {
    let seconds = from_environment(SECONDS, |text| text.parse().ok()).unwrap_or(12);
    let spoiled = from_environment(WITHOUT, Spoiled::parse).unwrap_or(Spoiled::Nothing);
    let at_odds = from_environment(ODDS, |text| Some(text == "1")).unwrap_or(false);
    let clocks = from_environment(CLOCKS, Clocks::parse).unwrap_or(Clocks::Shared);
    let lasts = Duration::from_secs(seconds);
    let Some(outcome) = play_with(spoiled, lasts, at_odds, clocks).await else { return };
    assert!(outcome.violations.is_empty(), "{} violations", outcome.violations.len());
    let figures = &outcome.figures;
    assert!(figures.acquired as u64 > seconds && figures.accepted > 10, "no load");
    let faults: usize = figures.faults.values().sum();
    assert!(faults >= 4 && figures.stopped + figures.killed >= 2, "no trouble");
    let hand_overs = &figures.hand_overs;
    let warm = hand_overs.reused.len() + hand_overs.anew.len();
    // With clocks of their own a master that is away is beside a minority that is astray, and few count.
    assert!(warm > 0 || clocks != Clocks::Shared, "no lock was kept warm");
    // At odds, most wait until others have given way.
    assert!(at_odds || figures.crowd.won as u64 > seconds, "no crowd");
    let many = if clocks == Clocks::Shared { 1_000 } else { 100 };
    assert!(figures.bursts.served > many && figures.bursts.kept > 0, "no bursts");
    assert_eq!(outcome.growth, None);
    // A short run may have none of these.
    let is_long = seconds >= 60;
    assert!(
        figures.set.iter().all(|set| *set > 0) || !is_long || clocks != Clocks::Apart,
        "no step"
    );
    let asked_for = hand_overs.elsewhere.len() > 0 && hand_overs.reused.len() > 0;
    assert!(asked_for || !is_long, "no other process has asked for a warm lock");
}

/// Two of the three kinds of clients are stopped for longer than their settings remain at the
/// masters, and another kind takes their place. (Without the agreement they overlap, by chance:
/// WITHOUT=agreement, for a minute.)
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clients_at_odds_exclude_each_other_after_stops_of_any_length() {
    let lasts = Duration::from_secs(40);
    // Whether the others come in time depends on how busy the machine is.
    for _ in 0..3 {
        let Some(outcome) = play_with(Spoiled::Nothing, lasts, true, Clocks::Shared).await else {
            return;
        };
        assert!(outcome.violations.is_empty(), "{} violations", outcome.violations.len());
        if outcome.figures.by_party.iter().filter(|won| **won > 20).count() >= 2 {
            return;
        }
    }
    panic!("three times, no kind of clients took the place of another");
}

/// The most runs without a safeguard: by chance, or on a slow machine, a short run may find nothing.
const MOST_RUNS: usize = 8;

/// Plays the same chaos without a safeguard, or with such clocks, until it has found enough. Returns what was played.
async fn find(
    spoiled: Spoiled,
    clocks: Clocks,
    is_enough: impl Fn(&[Outcome]) -> bool,
) -> Vec<Outcome> {
    let mut played = Vec::new();
    for _ in 0..MOST_RUNS {
        let lasts = Duration::from_secs(if clocks == Clocks::Shared { 6 } else { 12 });
        let Some(outcome) = play_with(spoiled, lasts, false, clocks).await else { return played };
        played.push(outcome);
        if is_enough(&played) {
            return played;
        }
    }
    panic!("not found in {MOST_RUNS} runs");
}

fn found(played: &[Outcome], kind: Kind) -> usize {
    played.iter().map(|outcome| outcome.count(kind)).sum()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_rollback_the_same_chaos_finds_orphans() {
    find(Spoiled::Rollback, Clocks::Shared, |played| found(played, Kind::Orphan) > 5).await;
}

/// Two quorums may share no master, and then neither learns of the other's fencing tokens.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_quorum_of_two_in_five_masters_overlaps_in_the_same_chaos() {
    find(Spoiled::Quorum, Clocks::Shared, |played| {
        let of_the_store = found(played, Kind::Accepted) + found(played, Kind::Refused);
        found(played, Kind::Overlap) > 5 && found(played, Kind::FenceOrder) + of_the_store > 0
    })
    .await;
}

// What SAFETY.md says of clocks, in `When a master's clock is set`.

/// Hours apart, at any speed that A2 allows, and those of a minority set forward and back.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clocks_as_a2_allows_them_cost_neither_exclusion_nor_order() {
    let lasts = Duration::from_secs(30);
    let Some(outcome) = play_with(Spoiled::Nothing, lasts, false, Clocks::Apart).await else {
        return;
    };
    assert!(outcome.violations.is_empty(), "{} violations", outcome.violations.len());
    let figures = &outcome.figures;
    assert!(figures.acquired > 30 && figures.accepted > 10, "no load");
    assert!(figures.set.iter().any(|set| *set > 0), "no step");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_quorum_set_forward_lets_two_hold_and_the_store_refuses_the_first() {
    let played = find(Spoiled::Nothing, Clocks::Forward, |played| {
        found(played, Kind::Overlap) > 0 && found(played, Kind::Refused) > 0
    })
    .await;
    // The second has the greater token.
    assert_eq!((found(&played, Kind::Accepted), found(&played, Kind::FenceOrder)), (0, 0));
}

/// Locks that a dead holder has left stay closed for long; so outages count for nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_quorum_set_back_lets_no_two_hold() {
    let lasts = Duration::from_secs(12);
    let Some(outcome) = play_with(Spoiled::Nothing, lasts, false, Clocks::Back).await else {
        return;
    };
    assert_eq!((outcome.count(Kind::Overlap), outcome.count(Kind::Accepted)), (0, 0));
    assert!(outcome.figures.set[0] > 0 && outcome.figures.acquired > 12, "no step, or no load");
}

/// A lock with a bare quorum, since other masters were down when it was won.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_master_set_forward_is_enough_for_two_holders() {
    find(Spoiled::Nothing, Clocks::One, |played| found(played, Kind::Overlap) > 0).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clocks_beyond_the_drift_let_two_hold() {
    find(Spoiled::Nothing, Clocks::Fast, |played| found(played, Kind::Overlap) > 0).await;
}

#[test]
#[ignore = "not a test: judges a history once more, and draws it"]
fn a_history_is_judged() {
    let Some(history) = from_environment(HISTORY, |path| Some(path.into())) else { return };
    let outcome = Outcome::of(history, "a history".to_owned(), String::new());
    tell(&report(&outcome));
    assert!(outcome.violations.is_empty());
}

#[test]
#[ignore = "not a test: a client process that a run starts"]
fn a_client_process() {
    client::run_if_ordered();
}

/// Checks whether a process no longer exists, or is only waiting to be reaped.
fn has_ended(id: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_none_or(|(_, rest)| rest.starts_with(['Z', 'X']))
}

#[test]
fn a_killed_run_leaves_no_client_not_even_a_stopped_one() {
    let mut helper = Helper::start("chaos::a_run_that_is_to_be_killed", "clients=");
    let clients: Vec<u32> = helper.announced.split(' ').map(|id| id.parse().unwrap()).collect();
    assert!(clients.len() == 2 && !clients.iter().any(|id| has_ended(*id)), "{clients:?}");
    helper.process.kill().unwrap();
    helper.process.wait().unwrap();
    let all_have = || clients.iter().all(|id| has_ended(*id));
    eventually_blocking("the clients have ended", Duration::from_secs(10), all_have);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "not a test: the process that the test above starts and kills"]
async fn a_run_that_is_to_be_killed() {
    if !helper::is_started() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let history = folder.path().join("history");
    let journal = Arc::new(Journal::open(&history));
    let unused = ReservedPort::new();
    let orders = Orders {
        name: String::new(),
        party: Party::Good,
        at_odds: false,
        seed: 0,
        tasks: 1,
        crowd: 0,
        nodes: vec![unused.address()],
        store: store::serve(journal.clone()).await,
        durable: false,
        spoiled: Spoiled::Nothing,
        ppm: None,
        history: history.clone(),
    };
    let mut people = People::hire(orders, 2, Seed(1).rng(), journal, None);
    // They are running, and no master answers.
    let asked = || {
        let lines = std::fs::read_to_string(&history).unwrap();
        ["c1.", "c2."].iter().all(|client| lines.contains(client))
    };
    eventually_blocking("both have asked", Duration::from_secs(60), || {
        tokio::task::block_in_place(asked)
    });
    people.deal(0, Deed::Stop(Duration::from_secs(3600)));
    let ids: Vec<String> = people.ids().iter().map(u32::to_string).collect();
    tell(&format!("clients={}", ids.join(" ")));
    std::thread::sleep(Duration::from_secs(60));
}

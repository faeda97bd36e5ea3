//! Worlds by the thousand in every test run, by the million with `make simulate`.

use super::crossing::Crossings;
use super::flaw::{FLAWS, Flaw};
use super::matched::{Counts, formulas};
use super::picture;
use super::play::{draw, draw_unmatched, play, play_plan};
use super::report::{draw_picture, report};
use super::seed::Seed;
use super::setup::Setup;
use super::shrink::shrink;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};
use std::{env, thread};

fn number(variable: &str) -> Option<u64> {
    let text = env::var(variable).ok()?;
    let number = Seed::parse(&text).unwrap_or_else(|| panic!("{variable}={text} is no number"));
    Some(number.0)
}

fn share(count: u64, all: u64) -> f64 {
    count as f64 * 100.0 / all.max(1) as f64
}

/// The number of worlds that a test run plays, unless `QUORUMLOCK_SEEDS` is set.
const WORLDS: u64 = 2_000;

/// Plays `worlds` worlds from `first` on, on all cores, for at most so many minutes. The first
/// failure ends the run, and is reported with its picture.
fn play_all(first: Seed, worlds: u64, minutes: Option<u64>) {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let (next, played, wins) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
    let [adoptions, downgrades, fair] = [const { AtomicU64::new(0) }; 3];
    let [passed_on, taken, fenced, asks] = [const { AtomicU64::new(0) }; 4];
    let failed = AtomicBool::new(false);
    let matched = Mutex::new(Counts::default());
    let titles = Mutex::new(BTreeMap::<String, u64>::new());
    let crossings = Mutex::new(Crossings::default());
    let began = Instant::now();
    let is_over = || {
        let late = |minutes| began.elapsed() >= Duration::from_secs(minutes * 60);
        failed.load(Relaxed) || minutes.is_some_and(late)
    };
    let progress = || {
        let (played, wins) = (played.load(Relaxed), wins.load(Relaxed));
        let pace = played as f64 * 60.0 / began.elapsed().as_secs_f64();
        let adoptions = adoptions.load(Relaxed);
        eprintln!(
            "{played} of {worlds} worlds, {wins} locks, {adoptions} adopted, {pace:.0} worlds a minute"
        );
    };
    thread::scope(|scope| {
        let work = || {
            while !is_over() {
                let offset = next.fetch_add(1, Relaxed);
                if offset >= worlds {
                    return;
                }
                let seed = Seed(first.0.wrapping_add(offset));
                let (setup, plan) = draw(seed, None);
                let world = play_plan(seed, &setup, &plan, false);
                played.fetch_add(1, Relaxed);
                wins.fetch_add(world.wins, Relaxed);
                adoptions.fetch_add(world.adoptions, Relaxed);
                downgrades.fetch_add(world.downgrades, Relaxed);
                fair.fetch_add(world.fair, Relaxed);
                passed_on.fetch_add(world.passed_on, Relaxed);
                taken.fetch_add(world.taken, Relaxed);
                fenced.fetch_add(world.passed_on_fenced, Relaxed);
                asks.fetch_add(world.asks, Relaxed);
                *titles
                    .lock()
                    .expect("no thread panics with it")
                    .entry(world.setup.title())
                    .or_default() += 1;
                matched.lock().expect("no thread panics with it").add(&world.matched.counts());
                let acts = plan.iter().map(|(_, act)| act);
                crossings.lock().expect("no thread panics with it").add(&setup, acts);
                if worlds == 1 {
                    let html = picture::timeline(seed, &world).to_html();
                    eprintln!("{}", draw_picture(seed, &html));
                }
                if let Some(violation) = world.violation
                    && !failed.swap(true, Relaxed)
                {
                    eprintln!("{}", report(seed, None, &violation));
                }
            }
        };
        let workers: Vec<_> = (0..cores).map(|_| scope.spawn(work)).collect();
        let mut last_report = Instant::now();
        while workers.iter().any(|worker| !worker.is_finished()) {
            thread::sleep(Duration::from_millis(20));
            if last_report.elapsed() >= Duration::from_secs(5) {
                last_report = Instant::now();
                progress();
            }
        }
    });
    progress();
    for (story, count) in titles.into_inner().expect("no thread panicked with it") {
        eprintln!("{story:>20} {count:>7} worlds, {:.2} %", share(count, played.load(Relaxed)));
    }
    eprintln!("{}", Setup::bounds_shown());
    eprintln!("{}", crossings.into_inner().expect("no thread panicked with it").shown());
    assert!(!failed.load(Relaxed), "a world is not as it should be: see above");
    let (played, wins) = (played.into_inner(), wins.into_inner());
    assert!(played < 50 || wins > played, "{wins} locks in {played} worlds: too little happens");
    let adoptions = adoptions.into_inner();
    assert!(adoptions >= played / 50, "{adoptions} adoptions in {played} worlds: too few");
    let downgrades = downgrades.into_inner();
    assert!(downgrades >= played / 50, "{downgrades} downgrades in {played} worlds: too few");
    let [fair, passed_on, taken, fenced, asks] =
        [fair, passed_on, taken, fenced, asks].map(AtomicU64::into_inner);
    eprintln!("{fair} won in order, {asks} guards asked to give way");
    eprintln!(
        "{passed_on} passed on warm, {taken} of them without the machine, and {fenced} fenced"
    );
    assert!(passed_on >= played / 10, "{passed_on} passed on in {played} worlds: too few");
    assert!(taken >= played / 50, "{taken} taken without the machine in {played} worlds: too few");
    assert!(fenced >= played / 50, "{fenced} fenced passed on in {played} worlds: too few");
    assert!(asks >= played / 50, "{asks} guards asked in {played} worlds: too few");
    let matched = matched.into_inner().expect("no thread panicked with it");
    eprintln!("{}", matched.shown());
    let worlds = played / formulas::every();
    assert!(worlds < 500 || matched.is_whole(worlds), "an action was never matched");
    assert!(played < 500 || fair >= played / 20, "{fair} won in order in {played} worlds: too few");
}

/// `QUORUMLOCK_SEED` is the first world.
#[test]
fn any_world_has_one_holder_at_a_time_and_leaves_nothing_behind() {
    let worlds = number("QUORUMLOCK_SEEDS").unwrap_or(WORLDS);
    play_all(Seed::from_env("QUORUMLOCK_SEED"), worlds, None);
}

/// The most worlds with a flaw that are played until it is found.
const MOST: u64 = 4_000;

/// Plays worlds with a flaw until it is found. The seeds are always the same.
fn find(flaw: Flaw, expected: &str) {
    let found = (0..MOST).find_map(|seed| {
        let violation = play(Seed(seed), Some(flaw)).violation?;
        violation.contains(expected).then_some((seed, violation))
    });
    let (seed, violation) = found.unwrap_or_else(|| panic!("{flaw:?} was not found out"));
    eprintln!("{flaw:?} after {} worlds: {violation}", seed + 1);
}

#[test]
fn a_world_with_a_flaw_is_found_out() {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(|| {
                while let Some((flaw, expected)) = FLAWS.get(next.fetch_add(1, Relaxed)) {
                    find(*flaw, expected);
                }
            });
        }
    });
}

#[test]
fn the_same_seed_is_the_same_world() {
    for seed in (0..4).map(Seed) {
        let (setup, plan) = draw(seed, None);
        let logs = [(); 2].map(|()| play_plan(seed, &setup, &plan, true).log().to_vec());
        assert!(logs[0].len() > 50, "{} lines", logs[0].len());
        assert_eq!(logs[0], logs[1]);
    }
}

#[test]
fn a_violation_is_shrunk_and_reported_with_a_replay_command() {
    let flaw = Some(Flaw::KeepsWhatIsReleased);
    let found = (0..MOST).map(Seed).find_map(|seed| Some((seed, play(seed, flaw).violation?)));
    let (seed, violation) = found.expect("a world that fails");
    let (setup, plan) = draw(seed, flaw);
    let few = shrink(seed, &setup, plan.clone(), &violation);
    assert!(few.len() < 6 && few.len() < plan.len(), "{} of {} acts", few.len(), plan.len());
    let world = play_plan(seed, &setup, &few, true);
    assert!(world.violation.is_some(), "what is left fails still");
    assert!(world.log().iter().any(|line| line.contains("SET")), "{:?}", world.log());
    let command = super::report::command(seed);
    assert!(command.starts_with(&format!("QUORUMLOCK_SEED={seed} ")), "{command}");
    let html = picture::timeline(seed, &world).to_html();
    assert!(html.contains(&violation) || html.contains("is left"), "the picture says why");
}

/// `make simulate`: as many worlds as `QUORUMLOCK_SEEDS` says, for at most `QUORUMLOCK_MINUTES`.
#[test]
#[ignore = "runs for as long as it is asked to: make simulate"]
fn worlds_without_end() {
    let worlds = number("QUORUMLOCK_SEEDS").unwrap_or(1_000_000);
    play_all(Seed::from_env("QUORUMLOCK_SEED"), worlds, number("QUORUMLOCK_MINUTES"));
}

#[test]
#[ignore = "for scripts/same-bytes, which compares what worlds send with what they sent at another commit"]
fn a_sum_of_what_each_of_a_thousand_worlds_sends() {
    for seed in 0..1_000 {
        // Another commit may have no proof to compare with, or another one.
        let (setup, plan) = draw_unmatched(Seed(seed), None);
        eprintln!("sent {:016x}", play_plan(Seed(seed), &setup, &plan, false).sum);
    }
}

/// `scripts/planted`: plays the jams among two thousand worlds of code that was changed, and prints after how many worlds
/// one is not as it should be, why, and of how many jams that is true.
#[test]
#[ignore = "for scripts/planted, which changes the code"]
fn a_planted_change_is_found_in_a_jam() {
    let worlds = number("QUORUMLOCK_SEEDS").unwrap_or(WORLDS);
    let drawn = (0..worlds).map(Seed).map(|seed| (seed, draw_unmatched(seed, None)));
    let jams = drawn.filter(|(_, (setup, _))| setup.jam.is_some());
    let played = jams.map(|(seed, (setup, plan))| {
        let violation = play_plan(seed, &setup, &plan, false).violation;
        violation.map(|why| (seed.0, setup.jam.map(|jam| jam.way), why))
    });
    let played: Vec<_> = played.collect();
    let found: Vec<_> = played.iter().flatten().collect();
    found.iter().for_each(|(seed, way, why)| eprintln!("{seed}, {way:?}: {why}"));
    let (seed, _, why) = found.first().expect("a world that is not as it should be");
    let (all, jams) = (found.len(), played.len());
    eprintln!("REFUSED {} {why} ({all} of {jams} jams)", seed + 1);
}

/// `scripts/planted`: plays worlds of code that was changed, of all kinds and with all judges but the proof, and prints
/// after how many one is not as it should be, and why.
#[test]
#[ignore = "for scripts/planted, which changes the code"]
fn a_planted_change_is_found_in_a_world() {
    let worlds = number("QUORUMLOCK_SEEDS").unwrap_or(WORLDS);
    let found = (0..worlds).map(Seed).find_map(|seed| {
        let (setup, plan) = draw_unmatched(seed, None);
        Some((seed.0, play_plan(seed, &setup, &plan, false).violation?))
    });
    let (seed, why) = found.expect("a world that is not as it should be");
    eprintln!("REFUSED {} {why}", seed + 1);
}

//! Explores every run and prints its result; a run with an unexpected result is an error.
//!
//! `--quick`: a part of the runs, in about a minute. `--write`: the results go into
//! `results.md`. Any other argument is a part of the name of the runs to explore.

use model::report::{self, Explored, thousands};
use model::run::{self, AnyRun, Kind};
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use std::{fs, thread};

/// The number of threads. Each holds the states of one run in memory.
const THREADS: usize = 2;

/// What the last whole form has found. A run with more states than this there is too long for the quick form.
const RESULTS: &str = include_str!("../results.md");
const QUICK: usize = 500_000;

fn main() -> io::Result<ExitCode> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let has = |flag: &str| words.iter().any(|word| word == flag);
    let (quick, write) = (has("--quick"), has("--write"));
    let wanted: Vec<&String> = words.iter().filter(|word| !word.starts_with("--")).collect();
    let mut runs = run::all();
    runs.retain(|run| {
        let is_wanted = wanted.iter().all(|word| run.full_name().contains(word.as_str()));
        is_wanted && (!quick || (run.is_quick() && !is_long(&run.row())))
    });
    if runs.is_empty() || (write && (quick || !wanted.is_empty())) {
        eprintln!("no run has that in its name, or only a part is to be written");
        return Ok(ExitCode::FAILURE);
    }
    let began = Instant::now();
    let results = explore_all(&runs);
    let wrong = results.iter().filter(|result| !result.is_expected()).count();
    let count = |kind| results.iter().filter(|result| result.kind == kind).count();
    let states: usize = results.iter().map(|result| result.states).sum();
    println!(
        "{} runs hold, {} mutants are caught, {} are margin, {} limits are shown: {} states in {}",
        count(Kind::Holds),
        count(Kind::Mutant),
        count(Kind::Margin),
        count(Kind::Limit),
        thousands(states),
        report::seconds(began.elapsed()),
    );
    if wrong > 0 {
        println!("but {wrong} of them are not as expected");
        return Ok(ExitCode::FAILURE);
    }
    if write {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("results.md");
        fs::write(&path, report::markdown(&results))?;
        println!("written to {}", path.display());
    }
    Ok(ExitCode::SUCCESS)
}

fn is_long(row: &str) -> bool {
    let states = |cell: &str| cell.trim().replace(',', "").parse().unwrap_or(0_usize);
    let mut rows = RESULTS.lines().filter_map(|line| line.strip_prefix(row));
    rows.any(|cells| cells.split('|').map(states).any(|states| states > QUICK))
}

/// The progress of the runs, for display.
#[derive(Default)]
struct Progress {
    done: AtomicUsize,
    states: [AtomicUsize; THREADS],
}

fn explore_all(runs: &[Box<dyn AnyRun>]) -> Vec<Explored> {
    let next = AtomicUsize::new(0);
    let progress = Progress::default();
    let results = Mutex::new(vec![None; runs.len()]);
    thread::scope(|scope| {
        for states in &progress.states {
            let (next, progress, results) = (&next, &progress, &results);
            scope.spawn(move || {
                loop {
                    let place = next.fetch_add(1, Ordering::Relaxed);
                    let Some(run) = runs.get(place) else { break };
                    let result = run.explored(&mut |count| states.store(count, Ordering::Relaxed));
                    clear_line();
                    println!("{}", result.printed());
                    results.lock().expect("a thread has panicked")[place] = Some(result);
                    states.store(0, Ordering::Relaxed);
                    progress.done.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        scope.spawn(|| watch(&progress, runs.len()));
    });
    results.into_inner().expect("a thread has panicked").into_iter().flatten().collect()
}

/// Shows a line that is overwritten, if stderr is a terminal.
fn watch(progress: &Progress, runs: usize) {
    while progress.done.load(Ordering::Relaxed) < runs {
        thread::sleep(Duration::from_millis(200));
        if io::stderr().is_terminal() {
            let done = progress.done.load(Ordering::Relaxed);
            let states = progress.states.iter().map(|states| states.load(Ordering::Relaxed));
            let states: Vec<String> = states.map(thousands).collect();
            eprint!(
                "\r\x1b[K{done} of {runs} runs done; under way: {} states",
                states.join(" and ")
            );
            let _ = io::stderr().flush();
        }
    }
    clear_line();
}

fn clear_line() {
    if io::stderr().is_terminal() {
        eprint!("\r\x1b[K");
    }
}

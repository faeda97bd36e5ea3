//! `share`: how the sections of one lock are divided between many clients of this crate and a few of other
//! libraries, which wait by polling. A change to how our clients wait may cost neither side its share.
//!
//! Builds of an older revision take turns with this one, on the same masters.

mod options;

use crate::field::{self, Field, Kind};
use crate::referee::Referee;
use crate::round::order;
use crate::scene::NODES;
use crate::sheet::Sheet;
use crate::statistics::median;
use crate::support::server::Server;
use crate::worker::{Crowded, Failed, Worker};
use options::{Options, POTTERY};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// The argument that begins it.
pub(crate) const ARGUMENT: &str = "share";

const OURS: &str = "quorumlock";

/// What is measured of each library, in each round.
const METRICS: [&str; 3] = ["share %", "sections/s", "longest wait s"];

/// pottery puts this before the name of each lock.
const RESOURCE: &str = "redlock:bench:share";

/// Time for all to connect, and for waiters to have had the lock once more.
const ASIDE: Duration = Duration::from_secs(3);

pub(crate) fn run(args: impl Iterator<Item = String>) -> Result<(), String> {
    let mut options = Options::from_args(args)?;
    if !python().exists() && options.leave_out(POTTERY) {
        eprintln!("NOT MEASURED: {POTTERY}: there is no target/python (scripts/install python)");
    }
    let kind = &Kind::all()[0];
    let field = Field::start(kind);
    let this = std::env::current_exe().map_err(|why| why.to_string())?;
    let builds: Vec<PathBuf> = [this].into_iter().chain(options.older.clone()).collect();
    let turns = u32::try_from(options.rounds * builds.len()).unwrap_or(u32::MAX);
    let expected = ASIDE + options.warm_up() + options.span;
    // It marks turns that others disturb. A turn is too long to be played again.
    let mut referee = Referee::new(Duration::ZERO, turns * expected);
    let mut sheets: Vec<_> = builds.iter().map(|build| sheet(&options, build, kind)).collect();
    let mut shares = vec![Vec::new(); builds.len()];
    for round in 0..options.rounds {
        for place in order(builds.len(), round) {
            eprintln!(
                "share round {} of {}: {}",
                round + 1,
                options.rounds,
                builds[place].display()
            );
            let turn = || play(&options, &builds[place], field.clear(NODES));
            let (figures, disturbed) = referee.play(expected, turn);
            if let Ok(figures) = &figures {
                shares[place].push(figures[0]);
            }
            for library in 0..=options.theirs.len() {
                let figures = figures.as_ref().map_err(|&failed| failed);
                let of_library =
                    |all: &Vec<f64>| all[library * METRICS.len()..][..METRICS.len()].to_vec();
                sheets[place].note(library, round, figures.map(of_library), disturbed);
            }
        }
    }
    sheets.iter().for_each(|sheet| println!("{sheet}"));
    if let [new, older] = shares.as_slice() {
        let (new, older) = (median(new), median(older));
        println!("median share of ours: {new:.1} % now, {older:.1} % before: {:.2}", new / older);
    }
    Ok(())
}

fn sheet(options: &Options, build: &Path, kind: &Kind) -> Sheet {
    let about = format!(
        "{} clients of ours, {} of each of the others, one resource, 2 ms of work, no pause; {:?} in each \
         round; {NODES} masters, {}; {}",
        options.ours,
        options.of_each(),
        options.span,
        kind.name,
        build.display()
    );
    let names = [OURS].into_iter().chain(options.theirs.iter().copied()).collect();
    Sheet::new(ARGUMENT.to_owned(), about, &METRICS, names)
}

/// Plays a turn; returns the figures of each library, ours first.
fn play(options: &Options, build: &Path, masters: &[Server]) -> Result<Vec<f64>, Failed> {
    let mut ours = Worker::start_from(build, OURS, masters)?;
    ours.gather(options.ours)?;
    let mut libraries = vec![vec![ours]];
    for library in &options.theirs {
        let workers = (0..options.of_each()).map(|_| {
            let mut worker = match *library {
                POTTERY => Worker::spawn(pottery(masters)),
                _ => Worker::start(library, masters),
            }?;
            worker.gather(1).map(|()| worker)
        });
        libraries.push(workers.collect::<Result<_, _>>()?);
    }
    let (warm_up, span) = (options.warm_up(), options.span);
    for worker in libraries.iter_mut().flatten() {
        worker.order_crowd(RESOURCE, warm_up, span);
    }
    let mut had = Vec::new();
    for worker in libraries.iter_mut().flatten() {
        had.push(worker.crowded(warm_up + span));
    }
    let had: Vec<Crowded> = had.into_iter().collect::<Result<_, _>>()?;
    let sizes: Vec<usize> = libraries.iter().map(Vec::len).collect();
    libraries.into_iter().flatten().try_for_each(Worker::end)?;
    // What some of them leave behind would keep out the next.
    field::empty(masters);
    Ok(figures(&had, &sizes, span))
}

/// Returns the figures of libraries that have had so many workers each.
fn figures(had: &[Crowded], workers: &[usize], span: Duration) -> Vec<f64> {
    let sum = |some: &[Crowded]| some.iter().flat_map(|had| &had.sections).sum::<f64>();
    let all = sum(had);
    let mut rest = had;
    let mut figures = Vec::new();
    for &count in workers {
        let (library, others) = rest.split_at(count);
        rest = others;
        let longest = library.iter().map(|worker| worker.longest).fold(0.0, f64::max);
        let sections = sum(library);
        figures.extend([100.0 * sections / all, sections / span.as_secs_f64(), longest]);
    }
    figures
}

fn python() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/python/bin/python")
}

fn pottery(masters: &[Server]) -> Command {
    let mut command = Command::new(python());
    command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/contenders/pottery_worker.py"));
    command.args(field::addresses(masters).iter().map(|address| format!("redis://{address}")));
    command
}

#[cfg(test)]
mod tests {
    use super::options::LIBRARIES;
    use super::*;

    #[test]
    fn each_library_has_a_worker() {
        let others = LIBRARIES.into_iter().filter(|library| *library != POTTERY);
        for library in others.chain([OURS]) {
            let workers = crate::contenders::apart();
            assert!(workers.iter().any(|worker| worker.name() == library), "{library}");
        }
    }

    #[test]
    fn a_share_is_of_the_sections_of_all() {
        let had = |longest, sections: &[f64]| Crowded { longest, sections: sections.to_vec() };
        let all = [had(0.5, &[30.0, 30.0]), had(2.0, &[10.0]), had(3.0, &[10.0])];
        let figures = figures(&all, &[1, 2], Duration::from_secs(2));
        assert_eq!(figures, [75.0, 30.0, 0.5, 25.0, 10.0, 3.0]);
    }
}

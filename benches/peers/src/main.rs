//! Compares quorumlock with bare sockets (the physical limit) and with other ways to do the same,
//! on real masters that it starts. `make bench-quick`, `make bench`, `scripts/bench share`.
//!
//! The machine is shared with the masters and with whatever else runs. So contenders take turns in
//! every round, in an order that changes, and are compared only within a round: a ratio is the
//! median of the rounds' ratios. A cell that other processes disturbed is played again.
//!
//! A new contender is a file in `contenders/`, and a new workload is one in `workloads/`, each with
//! a line in its list. `scene.rs` defines what a workload is played on.

mod cell;
mod contenders;
mod cpu;
mod delay;
mod field;
mod heap;
mod meter;
mod monitor;
mod plan;
mod referee;
mod report;
mod round;
mod scene;
mod share;
mod sheet;
mod statistics;
mod support;
mod trial;
mod watch;
mod worker;
mod workloads;

use cell::Cell;
use contenders::Release;
use delay::Delay;
use field::{Field, Kind};
use heap::Heap;
use plan::Plan;
use referee::Referee;
use report::Summary;
use round::Round;
use scene::{NODES, Scene};
use sheet::Sheet;
use support::server::Server;
use trial::Trial;

/// Counts for W8 only.
#[global_allocator]
static HEAP: Heap = Heap::new();

fn main() {
    // All tasks of a cell may panic for the same reason: one line is enough for each.
    std::panic::set_hook(Box::new(|panic| eprintln!("{panic}")));
    let mut args = std::env::args().skip(1).peekable();
    if args.next_if_eq(worker::ARGUMENT).is_some() {
        return be_a_worker(args);
    }
    if args.next_if_eq(delay::ARGUMENT).is_some() {
        return delay::serve(args);
    }
    if args.next_if_eq(share::ARGUMENT).is_some() {
        return share::run(args).unwrap_or_else(|why| leave(&why));
    }
    let plan = Plan::from_args(args).unwrap_or_else(|usage| leave(&usage));
    if plan.only_drawn {
        return report::draw().unwrap_or_else(|why| leave(&why));
    }
    let kinds = Kind::all();
    let scenes = Scene::all().into_iter().filter(|&scene| plan.includes_scene(scene));
    let scenes: Vec<_> = scenes.filter(|&scene| is_there(&kinds, scene)).collect();
    let trials: Vec<_> =
        Trial::ALL.into_iter().filter(|&trial| plan.includes_trial(trial)).collect();
    let expected = plan.expected_in_all(&scenes, &trials);
    eprintln!("planned: {} s, {} at most", expected.as_secs(), plan.limit.as_secs());
    if plan.only_printed {
        return print_plan(&plan, &scenes, &trials);
    }
    let mut referee = Referee::new(plan.limit, expected);
    let mut summaries = Vec::new();
    for kind in &kinds {
        let field = Field::start(kind);
        for scene in scenes.iter().filter(|scene| scene.release == kind.release) {
            summaries.extend(play(*scene, kind, &field, &plan, &mut referee));
        }
    }
    // Scenes that are compared with a floor come first: they have the first claim on the time for
    // replays.
    if !trials.is_empty() {
        let field = Field::start(&kinds[0]);
        summaries.extend(play_trials(&trials, &field, &plan, &mut referee));
    }
    println!("{referee}");
    if plan.writes() {
        report::write(&summaries, &format!("{plan} {} {referee}", played_on(&kinds)));
    }
}

fn leave(why: &str) -> ! {
    eprintln!("{why}");
    std::process::exit(2);
}

/// Checks whether there are servers for the scene. A scene that is left out is reported.
fn is_there(kinds: &[Kind], scene: Scene) -> bool {
    let is_there = kinds.iter().any(|kind| kind.release == scene.release);
    if !is_there {
        let what = match scene.release {
            Release::DelIfEq => "Valkey 9",
            Release::DelEx => "Redis 8.4",
            Release::Full | Release::Hash => "Redis",
        };
        eprintln!(
            "NOT MEASURED: {}: there is no {what} (scripts/servers fetches it)",
            scene.name()
        );
    }
    is_there
}

fn played_on(kinds: &[Kind]) -> String {
    let servers: Vec<_> = kinds.iter().map(|kind| kind.name.as_str()).collect();
    let servers = format!("On {}.", servers.join(" and "));
    let lacks = |release| !kinds.iter().any(|kind| kind.release == release);
    let missing = [
        (Release::DelIfEq, " Valkey 9 was not to be had: nothing here is about DELIFEQ."),
        (Release::DelEx, " Redis 8.4 was not to be had: nothing here is about DELEX."),
    ];
    let missing = missing.into_iter().filter_map(|(release, line)| lacks(release).then_some(line));
    missing.fold(servers, |all, line| all + line)
}

fn print_plan(plan: &Plan, scenes: &[Scene], trials: &[Trial]) {
    for scene in scenes {
        println!("{:24} {:5} s", scene.name(), plan.expected_in_all(&[*scene], &[]).as_secs());
    }
    for trial in trials {
        println!("{:24} {:5} s", trial.name(), plan.expected_in_all(&[], &[*trial]).as_secs());
    }
}

fn play(
    scene: Scene,
    kind: &Kind,
    field: &Field,
    plan: &Plan,
    referee: &mut Referee,
) -> Option<Summary> {
    let contenders = scene.contenders().into_iter();
    let contenders: Vec<_> =
        contenders.filter(|contender| plan.includes(contender.name())).collect();
    if contenders.is_empty() {
        return None;
    }
    let names = contenders.iter().map(|contender| contender.name()).collect();
    let mut sheet = Sheet::new(scene.name(), scene.about(kind), scene.workload.metrics(), names);
    let masters = field.clear(scene.masters);
    let near = field::addresses(masters);
    let delay = (!scene.round_trip.is_zero()).then(|| Delay::start(&near, scene.round_trip));
    let addresses = delay.as_ref().map_or(&near, |delay| &delay.addresses);
    let cell = Cell {
        workload: scene.workload,
        masters: addresses.clone(),
        processes: masters.iter().map(Server::pid).collect(),
        tasks: scene.tasks,
        warm_up: plan.warm_up,
        span: plan.span_of(scene),
    };
    let round = Round { masters, cell, expected: plan.expected(scene) };
    for number in 0..plan.rounds(scene) {
        eprintln!("{} round {} of {}", scene.name(), number + 1, plan.rounds(scene));
        round.play(&contenders, number, referee, &mut sheet);
    }
    println!("{sheet}");
    Some(sheet.summary())
}

fn play_trials(
    trials: &[Trial],
    field: &Field,
    plan: &Plan,
    referee: &mut Referee,
) -> Vec<Summary> {
    let mut summaries = Vec::new();
    for trial in trials {
        let takes_part = |name: &str| plan.includes(name) && trial.suits(name);
        let apart: Vec<_> = contenders::apart()
            .into_iter()
            .filter(|contender| takes_part(contender.name()))
            .collect();
        if apart.is_empty() {
            continue;
        }
        let sheet = trial.play(field.clear(NODES), &apart, plan, referee);
        println!("{sheet}");
        summaries.push(sheet.summary());
    }
    summaries
}

fn be_a_worker(mut args: impl Iterator<Item = String>) {
    let name = args.next().expect("the name of a contender");
    let masters: Vec<_> = args.map(|arg| arg.parse().expect("an address")).collect();
    let contender = contenders::apart().into_iter().find(|contender| contender.name() == name);
    contender.expect("a contender of this name").serve(&masters);
}

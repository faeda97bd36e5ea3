//! quorumlock beside bare sockets (what is physically possible) and beside other ways to do the
//! same, on real masters that it starts. `make bench-quick`, `make bench`.
//!
//! The machine is shared with the masters and with whatever else runs, so contenders take turns in
//! every round, in an order that changes, and are compared only within a round: a ratio is the median
//! of the rounds' ratios.
//!
//! A new contender is a file in `contenders/`, a new workload one in `workloads/`, each with a line
//! in its list; on what a workload is played is in `scene.rs`.

mod cell;
mod contenders;
mod cpu;
mod field;
mod heap;
mod meter;
mod monitor;
mod plan;
mod report;
mod round;
mod scene;
mod sheet;
mod support;
mod table;
mod trial;
mod worker;
mod workloads;

use field::{Field, Kind};
use heap::Heap;
use plan::Plan;
use report::Summary;
use scene::{NODES, Scene};
use table::Table;
use trial::Trial;

/// Counts for W8 only.
#[global_allocator]
static HEAP: Heap = Heap::new();

fn main() {
    let mut args = std::env::args().skip(1).peekable();
    if args.next_if_eq(worker::ARGUMENT).is_some() {
        return be_a_worker(args);
    }
    let plan = Plan::from_args(args).unwrap_or_else(|usage| {
        eprintln!("{usage}");
        std::process::exit(2);
    });
    let kinds = Kind::all();
    let mut summaries = Vec::new();
    for native in [false, true] {
        let all = Scene::all().into_iter();
        let mut scenes =
            all.filter(|one| one.native == native && plan.includes_scene(*one)).peekable();
        let Some(kind) = kinds.iter().find(|kind| kind.native == native) else {
            if scenes.peek().is_some() {
                let what = if native { "Valkey 9" } else { "Redis" };
                eprintln!("NOT MEASURED: there is no {what} (QUORUMLOCK_SERVERS)");
            }
            continue;
        };
        let field = Field::start(kind);
        summaries.extend(scenes.filter_map(|scene| play(scene, kind, &field, &plan)));
        if *kind == kinds[0] {
            summaries.extend(play_trials(&field, &plan));
        }
    }
    if plan.writes() {
        report::write(&summaries, &plan.to_string());
    }
}

fn play(scene: Scene, kind: &Kind, field: &Field, plan: &Plan) -> Option<Summary> {
    let contenders = scene.contenders().into_iter();
    let contenders: Vec<_> = contenders.filter(|one| plan.includes(one.name())).collect();
    if contenders.is_empty() {
        return None;
    }
    let names = contenders.iter().map(|one| one.name()).collect();
    let mut table = Table::new(scene.name(), scene.about(kind), scene.workload.metrics(), names);
    let masters = field.clear(scene.masters);
    for number in 0..plan.rounds(scene) {
        eprintln!("{} round {} of {}", scene.name(), number + 1, plan.rounds(scene));
        round::play(masters, scene, &contenders, plan, number, &mut table);
    }
    println!("{table}");
    Some(table.summary())
}

fn play_trials(field: &Field, plan: &Plan) -> Vec<Summary> {
    let mut summaries = Vec::new();
    for trial in Trial::ALL.into_iter().filter(|one| plan.includes_trial(*one)) {
        let takes_part = |name: &str| plan.includes(name) && trial.suits(name);
        let apart: Vec<_> =
            contenders::apart().into_iter().filter(|one| takes_part(one.name())).collect();
        if apart.is_empty() {
            continue;
        }
        let sheet = trial.play(field.clear(NODES), &apart, plan);
        println!("{sheet}");
        summaries.push(sheet.summary());
    }
    summaries
}

fn be_a_worker(mut args: impl Iterator<Item = String>) {
    let name = args.next().expect("the name of a contender");
    let masters: Vec<_> = args.map(|arg| arg.parse().expect("an address")).collect();
    let contender = contenders::apart().into_iter().find(|one| one.name() == name);
    contender.expect("a contender of this name").serve(&masters);
}

//! quorumlock beside bare sockets (what is physically possible) and beside other ways to do the
//! same, on five real masters that it starts. `make bench-quick`, `make bench`.
//!
//! The machine is shared with the masters and with whatever else runs, so contenders take turns in
//! every round, in rotated order, and are compared only within a round: a ratio is the median of
//! the rounds' ratios.
//!
//! A new contender is a file in `contenders/`, a new workload one in `workloads/`, each with a line
//! in its list.

mod contenders;
mod cpu;
mod heap;
mod monitor;
mod plan;
mod report;
mod round;
mod sheet;
mod support;
mod table;
mod trial;
mod worker;
mod workloads;

use heap::Heap;
use plan::Plan;
use support::masters::Masters;
use table::Table;
use trial::Trial;
use workloads::Workload;

/// Five survive the loss of two: the usual number.
const NODES: usize = 5;

const QUORUM: usize = NODES / 2 + 1;

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
    let masters = Masters::start(NODES);
    let mut summaries = Vec::new();
    for workload in Workload::ALL.into_iter().filter(|one| plan.includes_workload(*one)) {
        let contenders = contenders::of(workload).into_iter();
        let contenders: Vec<_> = contenders.filter(|one| plan.includes(one.name())).collect();
        if contenders.is_empty() {
            continue;
        }
        let mut table = Table::new(workload, contenders.iter().map(|one| one.name()));
        for number in 0..plan.rounds {
            eprintln!("{} round {} of {}", workload.name(), number + 1, plan.rounds);
            round::play(&masters, workload, &contenders, &plan, number, &mut table);
        }
        println!("{table}");
        summaries.push(table.summary());
    }
    for trial in Trial::ALL.into_iter().filter(|one| plan.includes_trial(*one)) {
        let takes_part = |name: &str| plan.includes(name) && trial.suits(name);
        let apart: Vec<_> =
            contenders::apart().into_iter().filter(|one| takes_part(one.name())).collect();
        if apart.is_empty() {
            continue;
        }
        let sheet = trial.play(&masters, &apart, &plan);
        println!("{sheet}");
        summaries.push(sheet.summary());
    }
    if plan.writes() {
        report::write(&summaries, &plan.to_string());
    }
}

fn be_a_worker(mut args: impl Iterator<Item = String>) {
    let name = args.next().expect("the name of a contender");
    let masters: Vec<_> = args.map(|arg| arg.parse().expect("an address")).collect();
    let contender = contenders::apart().into_iter().find(|one| one.name() == name);
    contender.expect("a contender of this name").serve(&masters);
}

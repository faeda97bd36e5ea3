//! One round: every contender has its turn, and the masters testify.

use crate::contenders::Contender;
use crate::plan::Plan;
use crate::support::masters::Masters;
use crate::support::server::Server;
use crate::support::witness;
use crate::table::Table;
use crate::workloads::Workload;
use crate::{QUORUM, contenders};
use std::time::Duration;

pub(crate) fn play(
    masters: &Masters,
    workload: Workload,
    contenders: &[Box<dyn Contender>],
    plan: &Plan,
    number: usize,
    table: &mut Table,
) {
    let addresses: Vec<_> = masters.iter().map(Server::addr).collect();
    for turn in 0..contenders.len() {
        // Who goes first changes from round to round.
        let place = (turn + number) % contenders.len();
        let before = Testimony::of(masters);
        let contender = &contenders[place];
        let measured = contender.run(workload, &addresses, plan.warm_up, plan.span);
        let after = Testimony::of(masters);
        after.confirms(contender.name(), measured.cycles, &before);
        let mut figures = measured.figures;
        if workload == Workload::Fenced {
            figures.push(after.micros_per_cycle(&before));
        }
        table.note(place, number, figures);
    }
}

/// What the masters themselves say has happened, through the witness's own connections.
#[derive(Default)]
struct Testimony {
    sets: u64,
    deletions: u64,
    /// Microseconds that plain SETs and those within scripts took, and all else that takes a lock or
    /// gives it back.
    set_micros: u64,
    other_micros: u64,
}

impl Testimony {
    /// Panics if a key is left, but for fences and what clients agree on: those stay for a while.
    fn of(masters: &Masters) -> Self {
        contenders::one_thread().block_on(async {
            let is_lock = |key: &str| !key.starts_with("quorumlock:");
            witness::eventually_none(masters, is_lock, Duration::ZERO).await;
            let mut all = Self::default();
            for server in masters.iter() {
                let calls = witness::calls(server).await;
                all.sets += calls.get("set").copied().unwrap_or(0);
                all.deletions += witness::deletions(&calls);
                let times = witness::info(server, "commandstats").await;
                let micros = |name: &str| {
                    let stats = times.get(&format!("cmdstat_{name}"));
                    stats.map_or(0, |stats| number(stats, "usec="))
                };
                all.set_micros += micros("set");
                let others = ["eval", "evalsha", "delifeq"];
                all.other_micros += others.into_iter().map(micros).sum::<u64>();
            }
            all
        })
    }

    /// Where locks are taken by scripts, they set more than one key for each, and the scripts' times have
    /// those in them.
    fn micros_per_cycle(&self, before: &Self) -> f64 {
        let (sets, cycles) = (self.sets - before.sets, self.deletions - before.deletions);
        let others = self.other_micros - before.other_micros;
        let plain = if sets < cycles * 3 / 2 { self.set_micros - before.set_micros } else { 0 };
        (plain + others) as f64 / cycles as f64
    }

    fn confirms(&self, name: &str, cycles: u64, before: &Self) {
        let (sets, deletions) = (self.sets - before.sets, self.deletions - before.deletions);
        let needed = cycles * QUORUM as u64;
        assert!(sets >= needed, "{name}: {sets} SETs are too few for {cycles} cycles");
        assert!(deletions >= needed, "{name}: {deletions} DELs are too few for {cycles} cycles");
    }
}

/// The number behind `field` in a line of `INFO commandstats`.
fn number(stats: &str, field: &str) -> u64 {
    let told = stats.split(',').find_map(|one| one.strip_prefix(field)?.parse().ok());
    told.unwrap_or(0)
}

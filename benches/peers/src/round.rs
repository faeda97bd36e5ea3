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
            figures.push(after.micros_per_acquire(&before));
        }
        table.note(place, number, figures);
    }
}

/// What the masters themselves say has happened, through the witness's own connections.
#[derive(Default)]
struct Testimony {
    sets: u64,
    deletions: u64,
    /// What takes a lock: calls, and microseconds that they took.
    set: [u64; 2],
    evalsha: [u64; 2],
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
                all.deletions += calls.get("del").copied().unwrap_or(0);
                let times = witness::info(server, "commandstats").await;
                for (name, sum) in [("set", &mut all.set), ("evalsha", &mut all.evalsha)] {
                    let stats = times.get(&format!("cmdstat_{name}")).map(String::as_str);
                    let told = ["calls=", "usec="].map(|field| number(stats.unwrap_or(""), field));
                    *sum = [sum[0] + told[0], sum[1] + told[1]];
                }
            }
            all
        })
    }

    /// A script's acquire is an `EVALSHA`; any other is a `SET`.
    fn micros_per_acquire(&self, before: &Self) -> f64 {
        let since = |now: [u64; 2], then: [u64; 2]| [now[0] - then[0], now[1] - then[1]];
        let (set, evalsha) = (since(self.set, before.set), since(self.evalsha, before.evalsha));
        let [calls, micros] = if evalsha[0] > 0 { evalsha } else { set };
        micros as f64 / calls as f64
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

//! One round: every contender has its turn, and the masters testify.

use crate::contenders::Contender;
use crate::plan::Plan;
use crate::support::masters::Masters;
use crate::support::server::Server;
use crate::support::witness;
use crate::table::Table;
use crate::workloads::Workload;
use crate::{QUORUM, contenders};

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
        table.note(place, number, measured.figures);
    }
}

/// What the masters themselves say has happened, through the witness's own connections.
struct Testimony {
    sets: u64,
    deletions: u64,
}

impl Testimony {
    /// Panics if a key is left.
    fn of(masters: &Masters) -> Self {
        contenders::one_thread().block_on(async {
            witness::assert_no_keys_now(masters).await;
            let mut all = Self { sets: 0, deletions: 0 };
            for server in masters.iter() {
                let calls = witness::calls(server).await;
                all.sets += calls.get("set").copied().unwrap_or(0);
                all.deletions += calls.get("del").copied().unwrap_or(0);
            }
            all
        })
    }

    fn confirms(&self, name: &str, cycles: u64, before: &Self) {
        let (sets, deletions) = (self.sets - before.sets, self.deletions - before.deletions);
        let needed = cycles * QUORUM as u64;
        assert!(sets >= needed, "{name}: {sets} SETs are too few for {cycles} cycles");
        assert!(deletions >= needed, "{name}: {deletions} DELs are too few for {cycles} cycles");
    }
}

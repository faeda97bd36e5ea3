//! One round of a scene: every contender has its turn, and the masters' statistics confirm it.

use crate::cell::Cell;
use crate::contenders::{self, Contender};
use crate::field;
use crate::referee::Referee;
use crate::sheet::Sheet;
use crate::support::server::Server;
use crate::support::witness;
use crate::worker::Failed;
use crate::workloads::Workload;
use std::panic::{self, AssertUnwindSafe};
use std::time::Duration;

pub(crate) struct Round<'a> {
    pub(crate) masters: &'a [Server],
    pub(crate) cell: Cell,
    /// Expected time of each turn.
    pub(crate) expected: Duration,
}

impl Round<'_> {
    pub(crate) fn play(
        &self,
        contenders: &[Box<dyn Contender>],
        number: usize,
        referee: &mut Referee,
        sheet: &mut Sheet,
    ) {
        for place in order(contenders.len(), number) {
            let turn = || turn(self.masters, contenders[place].as_ref(), &self.cell);
            let (figures, disturbed) = referee.play(self.expected, turn);
            sheet.note(place, number, figures, disturbed);
        }
    }
}

/// Returns the order of a round. It changes from round to round, but neighbours stay neighbours, so
/// that contenders that are compared most are compared within seconds.
pub(crate) fn order(contenders: usize, round: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..contenders).map(|turn| (turn + round) % contenders).collect();
    if round % 2 == 1 {
        order.reverse();
    }
    order
}

/// Plays a turn. On a machine that others keep busy, a lock that no other client wants may not be
/// won in time. That ends the turn, and not a run of an hour.
fn turn(masters: &[Server], contender: &dyn Contender, cell: &Cell) -> Result<Vec<f64>, Failed> {
    let measured = AssertUnwindSafe(|| measure(masters, contender, cell));
    panic::catch_unwind(measured).map_err(|_reported_already| {
        field::empty(masters);
        Failed::Dies
    })
}

fn measure(masters: &[Server], contender: &dyn Contender, cell: &Cell) -> Vec<f64> {
    let before = Testimony::of(masters);
    let measured = contender.run(cell);
    let after = Testimony::of(masters);
    let mut figures = measured.figures;
    match cell.workload {
        Workload::Warm => figures.push(after.commands_per_cycle(&before, measured.cycles)),
        _ => after.confirms(contender.name(), measured.cycles, cell.quorum(), &before),
    }
    if cell.workload == Workload::Fenced {
        figures.push(after.micros_per_cycle(&before));
    }
    figures
}

/// Statistics that the masters themselves report, through the witness's own connections.
#[derive(Default)]
struct Testimony {
    sets: u64,
    deletions: u64,
    /// Microseconds of plain SETs and of those inside scripts; the next field has those of all
    /// other commands that acquire or release a lock.
    set_micros: u64,
    other_micros: u64,
}

impl Testimony {
    /// Reads the statistics. Panics if a key is left, except fences and the agreement of clients,
    /// which remain for a while.
    fn of(masters: &[Server]) -> Self {
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
                let others = ["eval", "evalsha", "delifeq", "delex"];
                all.other_micros += others.into_iter().map(micros).sum::<u64>();
            }
            all
        })
    }

    /// Returns the masters' time per cycle. Scripts that acquire locks set more than one key for
    /// each, and the scripts' times include those SETs.
    fn micros_per_cycle(&self, before: &Self) -> f64 {
        let (sets, cycles) = (self.sets - before.sets, self.deletions - before.deletions);
        let others = self.other_micros - before.other_micros;
        let plain = if sets < cycles * 3 / 2 { self.set_micros - before.set_micros } else { 0 };
        (plain + others) as f64 / cycles as f64
    }

    /// Returns how often keys were set and deleted, for each cycle, its warm-up included.
    fn commands_per_cycle(&self, before: &Self, cycles: u64) -> f64 {
        let (sets, deletions) = (self.sets - before.sets, self.deletions - before.deletions);
        (sets + deletions) as f64 / cycles as f64
    }

    fn confirms(&self, name: &str, cycles: u64, quorum: usize, before: &Self) {
        let (sets, deletions) = (self.sets - before.sets, self.deletions - before.deletions);
        let needed = cycles * quorum as u64;
        assert!(sets >= needed, "{name}: {sets} SETs are too few for {cycles} cycles");
        assert!(deletions >= needed, "{name}: {deletions} DELs are too few for {cycles} cycles");
    }
}

/// Returns the number after `field` in a line of `INFO commandstats`.
fn number(stats: &str, field: &str) -> u64 {
    let value = stats.split(',').find_map(|pair| pair.strip_prefix(field)?.parse().ok());
    value.unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_contender_has_a_turn_in_each_round() {
        for round in 0..12 {
            let mut order = order(5, round);
            order.sort_unstable();
            assert_eq!(order, [0, 1, 2, 3, 4]);
        }
    }

    #[test]
    fn the_order_changes_and_neighbours_stay_neighbours() {
        assert_eq!(order(5, 0), [0, 1, 2, 3, 4]);
        assert_eq!(order(5, 1), [0, 4, 3, 2, 1]);
        assert_eq!(order(5, 2), [2, 3, 4, 0, 1]);
        assert_eq!(order(1, 3), [0]);
    }
}

//! Every public future, dropped at every await point, under each fault: no key stays, no waiter is
//! stuck in a queue or sleeps through its wake-up, and no task is left. `SWEEP=all` drops them at every moment; any other
//! value is the seed of a tenth.
//!
//! Five masters in memory, two processes, virtual time. The moment of a drop is counted in polls.
//! Between the first polls, one other task gets one turn; between the later ones, time passes.

mod moments;
mod operations;
mod parked;
mod planted;
mod sources;
mod stage;
mod sweep;
mod wire;

use moments::Moments;
use operations::{ALL, Operation, Role};
use stage::Fault;
use sweep::{Case, Rival, sweep};
use wire::Loses;

/// Sweeps all operations, with a waiter in the same process. Operations on the lock that others
/// wait for are also swept with a waiter in another process.
fn everything_under(fault: Fault) {
    let here = ALL.iter().map(|operation| (operation, Rival::Here));
    let there = |operation: &&Operation| {
        operation.role != Role::Neither && !operation.future.starts_with("reentrant::")
    };
    let there = ALL.iter().filter(there).map(|operation| (operation, Rival::There));
    let (chosen, mut moments, mut wrong) = (Moments::chosen(), 0, Vec::new());
    for (operation, rival) in here.chain(there) {
        let case = Case { operation, fault, rival, loses: Loses::Nothing, leaks: false };
        let (count, found) = sweep(case, &chosen);
        moments += count;
        wrong.extend(found);
    }
    eprintln!("{fault:?}: dropped at {moments} moments, {chosen:?}");
    let least = if chosen == Moments::All { 500 } else { ALL.len() };
    assert!(moments > least, "only {moments} moments");
    assert!(wrong.is_empty(), "{} of {moments}:\n{}", wrong.len(), wrong.join("\n"));
}

macro_rules! under {
    ($($name:ident: $fault:ident,)+) => {
        $(
            #[test]
            fn $name() {
                everything_under(Fault::$fault);
            }
        )+
    };
}

under! {
    nothing_is_left_where_all_is_well: Healthy,
    nothing_is_left_while_a_master_is_stopped: OneStopped,
    nothing_is_left_while_a_master_is_dead: OneKilled,
    nothing_is_left_by_what_a_majority_was_stopped_under: MajorityStopped,
    nothing_is_left_by_what_was_done_and_not_answered: AnswersLost,
    nothing_is_left_behind_a_connection_that_is_cut_midway: CutMidway,
    nothing_is_left_while_another_process_holds_the_lock: HeldElsewhere,
    nothing_is_left_while_a_neighbour_holds_the_lock: HeldHere,
    nothing_is_left_where_scripts_were_just_forgotten: ScriptsForgotten,
}

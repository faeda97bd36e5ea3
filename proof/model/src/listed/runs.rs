//! The runs that are explored, and their expected results.

use super::Listed;
use super::config::Config;
use super::mutants::Mutant;
use super::protocol::{PASSED, SERVED};
use super::state::{CLIENTS, FAR};
use crate::run::Kind;

pub type Run = crate::run::Run<Listed>;

/// Returns all runs, in the order of the report.
pub fn all() -> Vec<Run> {
    let of = Config::new;
    let holds = [
        of("three wait", 3).unaware(),
        of("one that is called stops", 4).stops(1).within(FAR),
        of("one that is called ends", 4).ends(1).within(FAR),
        of("one that is called ends, and the one that watches", 4).ends(2).by_place(),
        of("one stops, and holders may not know of the list", 4).stops(1).unaware().within(FAR),
        of("a waiter that is called gives up", 4).cancels(1).within(FAR),
        of("a key is stuck at the first node", 3).stuck().by_place(),
        of("the master of the list restarts", 4).restarts(2).unaware(),
        of("messages get lost", 4).lossy().unaware().by_place(),
        of("first nodes differ, and a hold lacks its own", 4).cut().unaware().within(FAR),
        of("a clock is set back", 4).steps_back(1),
        of("a holder dies, and the first that waits has ended", 4).dies(1).ends(1).within(FAR),
        of("two permits", 4).slots(2),
        of("two permits, and one that is called stops", 4).slots(2).stops(1),
        of("two permits, and one that is called ends", 4).slots(2).ends(1),
        of("two permits, and a waiter that is called gives up", 4).slots(2).cancels(1),
        of("two permits, and the master of the list restarts", 4).slots(2).restarts(1),
        of("two permits, and a slot is stuck at the first node", 4)
            .slots(2)
            .stuck()
            .within(FAR + 1),
        of("two permits for four, and messages get lost", 4).slots(2).lossy().within(FAR),
        of("all of it", 4).stops(1).ends(1).restarts(1).lossy().cut().unaware().by_place(),
    ];
    let broken = [
        (
            Mutant::OverdueStay,
            of("a key is stuck, and a waiter ends", 3).stuck().ends(1).by_place(),
        ),
        (
            Mutant::OverdueStay,
            of("a key is stuck, and a waiter stops", 3).stuck().stops(1).by_place(),
        ),
        (Mutant::ClockDecides, of("a clock is set back", 3).steps_back(1).by_place()),
        (
            Mutant::PauseOutlastsKey,
            of("a holder dies, and the first that waits has ended", 4).dies(1).ends(1),
        ),
        (Mutant::NoWatch, of("one that is called stops", 4).stops(1)),
        (Mutant::CallForGood, of("one that is called stops", 4).stops(1)),
        (Mutant::NoWatch, of("two permits, and one that is called stops", 4).slots(2).stops(1)),
        (Mutant::NoPolls, of("messages get lost", 4).lossy().within(FAR)),
        (Mutant::ListDecides, of("a key is stuck at the first node", 3).stuck().by_place()),
    ];
    let margin = [
        (Mutant::OwnCallCounts, of("a waiter that is called gives up", 3).cancels(1).within(FAR)),
        (Mutant::GoneIsCalled, of("two wait for one that ends", 3).ends(1)),
        (Mutant::RefusedStands, of("two permits", 4).slots(2)),
        (Mutant::NoneIsPublished, of("two permits", 4).slots(2)),
        (Mutant::NoneListens, of("three wait", 3).unaware()),
        (Mutant::NoneAsks, of("three wait", 3)),
        (Mutant::LateAsksAreLost, of("three wait", 3)),
    ];
    let margin = margin.into_iter().map(|(mutant, config)| Run::margin(config.mutant(mutant)));
    let holds = holds.into_iter().map(|config| {
        let is_small = config.clients < CLIENTS || config.slots > 1 || config.cut && !config.lossy;
        if is_small { Run::holds(config).quick() } else { Run::holds(config) }
    });
    let broken = broken.into_iter().map(|(mutant, config)| {
        let property = if mutant == Mutant::ClockDecides { PASSED } else { SERVED };
        Run::violates(Kind::Mutant, property, config.mutant(mutant))
    });
    let pairs = Config::pairs(3).map(|config| Run::holds(config).quick());
    holds.chain(pairs).chain(broken).chain(margin).collect()
}

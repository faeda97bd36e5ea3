//! Rules broken on purpose, and limits.

use super::{Run, scenes};
use crate::run::Kind;
use crate::turns::config::Config;
use crate::turns::mutants::Mutant;
use crate::turns::properties::{EXCLUSION, HANDOVER, ORDER, PRESENCE, PROGRESS, TICKET};

fn caught(mutant: Mutant, property: &'static str, config: Config) -> Run {
    Run::violates(Kind::Mutant, property, config.mutant(mutant))
}

/// Creates a run whose mutant no property finds.
fn margin(mutant: Mutant, config: Config) -> Run {
    Run::margin(config.mutant(mutant))
}

/// Creates a run of the rules as they are, which shows what is not promised.
fn limit(property: &'static str, config: Config) -> Run {
    Run::violates(Kind::Limit, property, config)
}

pub(super) fn runs() -> Vec<Run> {
    vec![
        caught(Mutant::TryAtEachLook, PRESENCE, scenes::restart()),
        caught(Mutant::TryWhenLivesEnd, PRESENCE, scenes::restart()),
        caught(Mutant::KeptIsTaken, PRESENCE, scenes::plain_holder()),
        caught(Mutant::TopUpIsSet, PRESENCE, scenes::plain_holder()),
        caught(Mutant::WithdrawalTells, PRESENCE, scenes::given_up()),
        caught(Mutant::RollbackDrops, ORDER, scenes::plain()),
        caught(Mutant::CalledGivesWay, HANDOVER, scenes::two()),
        caught(Mutant::Silent, HANDOVER, scenes::waiter()),
        caught(Mutant::NeverWithdraws, PROGRESS, scenes::barred()),
        caught(Mutant::SilenceIsInability, TICKET, scenes::silent()),
        caught(Mutant::WinnersStay, PROGRESS, scenes::left()),
        caught(Mutant::LeastStamp, ORDER, scenes::lost()),
        caught(Mutant::ClockAlone, ORDER, scenes::two()),
        caught(Mutant::NoTicket, PROGRESS, scenes::crosswise()),
        caught(Mutant::KeptShort, ORDER, scenes::first_dies()),
        caught(Mutant::NothingKept, ORDER, scenes::plain()),
        caught(Mutant::EntriesStay, PROGRESS, scenes::dead()),
        caught(Mutant::FrontStays, PROGRESS, scenes::far_back_all_dead()),
        caught(Mutant::FrontNotNotified, PROGRESS, scenes::far_back_dead()),
        caught(Mutant::VacantStays, PROGRESS, scenes::far_back_vacant()),
        caught(Mutant::KeptGrants, EXCLUSION, scenes::plain()),
        caught(Mutant::HeadTakesHeld, EXCLUSION, scenes::waiter()),
        caught(Mutant::ReleaseUncompared, EXCLUSION, scenes::two()),
        caught(Mutant::NoGuard, EXCLUSION, scenes::emptied()),
        caught(Mutant::OneIsEnough, EXCLUSION, scenes::two()),
        limit(ORDER, scenes::first_dies_and_the_next_is_late()),
        limit(ORDER, scenes::first_dies_and_the_next_is_unheard()),
        limit(PROGRESS, scenes::far_back_forsaken()),
        margin(Mutant::NoFirst, scenes::two()),
        margin(Mutant::NoFirst, scenes::dead()),
        margin(Mutant::NoFirst, scenes::plain()),
        margin(Mutant::NoFirst, scenes::emptied()),
        margin(Mutant::LookSaysFree, scenes::two()),
        margin(Mutant::RaiseOnly, scenes::two()),
        margin(Mutant::RaiseOnly, scenes::crosswise()),
    ]
}

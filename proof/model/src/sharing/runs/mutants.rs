//! Rules broken on purpose.

use super::Run;
use crate::named::Named;
use crate::run::Kind;
use crate::sharing::config::Config;
use crate::sharing::mutants::Mutant;
use crate::sharing::properties::Property;

const EXCLUSION: &[Property; 1] = &[Property::Exclusion];
const TIGHT: &[Property; 1] = &[Property::MarkIsTight];
const FREE: &[Property; 1] = &[Property::FreeAtOnce];

/// Creates a run that checks only the property that it violates, so that the trace ends there.
fn caught(mutant: Mutant, property: &'static [Property; 1], config: Config) -> Run {
    let config = config.mutant(mutant).properties(property);
    Run::violates(Kind::Mutant, property[0].words(), config)
}

/// Creates a run whose mutant no property finds.
fn margin(mutant: Mutant, config: Config) -> Run {
    Run::margin(config.mutant(mutant).properties(Property::ALWAYS))
}

pub(super) fn runs() -> Vec<Run> {
    let of = |name, letters| Config::new(name, 3, letters);
    let single = |name, letters| Config::new(name, 1, letters);
    vec![
        caught(Mutant::ReleaseDeletesKey, EXCLUSION, of("two readers", "WRR")),
        caught(
            Mutant::MarkLivesAsLast,
            EXCLUSION,
            of("lives of 2, 3 and 1", "WRR").ttl(&[2, 3, 1]),
        ),
        caught(
            Mutant::MarkLivesAsLeast,
            EXCLUSION,
            single("one node, three readers", "WRRR").ttl(&[2, 3, 1, 2]),
        ),
        caught(Mutant::MarkNotTightened, TIGHT, of("two readers", "RR").ttl(&[2, 1])),
        caught(Mutant::WriterBlind, EXCLUSION, of("a reader", "WR")),
        caught(Mutant::ReaderBlind, EXCLUSION, of("a writer", "WR")),
        caught(Mutant::ReadersCounted, EXCLUSION, of("one was refused", "WRR")),
        caught(
            Mutant::ReadersCounted,
            EXCLUSION,
            of("a release comes twice", "RRW").in_order(&[0, 1, 2]).duplicates(2),
        ),
        caught(Mutant::OneNodeForReader, EXCLUSION, of("a writer", "WR")),
        caught(Mutant::OneNodeForWriter, EXCLUSION, of("a reader", "WR")),
        caught(Mutant::NoRestartGuard, EXCLUSION, of("a restart", "WR").restarts(1)),
        caught(Mutant::RestartGuardOneShort, EXCLUSION, of("a restart", "WR").restarts(1)),
        caught(Mutant::WriterExtendsMark, EXCLUSION, of("a round", "WR").rounds(&[1, 0])),
        caught(
            Mutant::TopUpCounts,
            EXCLUSION,
            of("two rounds that ask for more", "RW").rounds(&[2, 0]).asks(&[3, 2]),
        ),
        caught(
            Mutant::WarmingHeldCounts,
            EXCLUSION,
            of("two rounds, a restart", "RW").rounds(&[2, 0]).restarts(1),
        ),
        caught(Mutant::ReleasedAsWriter, FREE, of("in order", "D").in_order(&[0])),
        caught(Mutant::ReleaseLeavesToken, FREE, of("in order", "D").in_order(&[0])),
        caught(Mutant::IrrevocableTooEarly, &[Property::NothingDone], of("errors", "D").errors(3)),
        caught(Mutant::ReturnedTooEasily, EXCLUSION, of("a reader", "DR")),
        caught(
            Mutant::ReturnedBesideARound,
            EXCLUSION,
            of("errors, an extension", "DR").errors(3).rounds(&[1, 0]),
        ),
        caught(Mutant::ErrorOfASecondCopy, EXCLUSION, of("errors", "DR").errors(3).duplicates(1)),
        caught(
            Mutant::ConvertedShortens,
            EXCLUSION,
            of("a downgrade that asks for less", "DW").ttl(&[3, 3]).asks(&[1, 3]),
        ),
        margin(Mutant::TopUpCounts, of("two rounds", "RW").rounds(&[2, 0])),
        margin(Mutant::GrantKeepsLife, of("a reader that extends", "WR").rounds(&[0, 2])),
        margin(Mutant::RoundsStayOpen, of("a round, a downgrade", "DW").rounds(&[1, 0])),
        margin(Mutant::VacantConverts, of("a downgrade", "DW")),
    ]
}

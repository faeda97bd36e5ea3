//! Rules broken on purpose.

use super::Run;
use crate::run::Kind;
use crate::waiting::config::Config;
use crate::waiting::mutants::Mutant;
use crate::waiting::properties::{READERS, WRITERS};

fn caught(mutant: Mutant, property: &'static str, config: Config) -> Run {
    Run::violates(Kind::Mutant, property, config.mutant(mutant))
}

pub(super) fn runs() -> Vec<Run> {
    let of = |name, letters| Config::new(name, 3, letters);
    let single = |name, letters| Config::new(name, 1, letters);
    vec![
        caught(Mutant::HintNeverSet, WRITERS, of("two readers", "WRR")),
        caught(
            Mutant::HintSetOnce,
            WRITERS,
            of("a reader that reads for longer", "WRR").ttl(&[1, 4, 4]).within(4, 1),
        ),
        caught(Mutant::HintNeverExpires, READERS, of("crashes", "WR").crashes().within(2, 3)),
        caught(Mutant::HintLeftOnWin, READERS, of("a reader", "WR")),
        caught(Mutant::HintLeftWhenGivenUp, READERS, of("a reader", "GR")),
        caught(
            Mutant::HintDeletedWhenGivenUp,
            WRITERS,
            single("one node, a writer beside it, a reader", "WGR").within(10, 1),
        ),
        caught(
            Mutant::RestTooShort,
            WRITERS,
            single("one node, a writer beside it, a reader", "WGR").within(10, 1),
        ),
        caught(Mutant::HintIgnoredByOne, WRITERS, of("two readers", "WRR")),
        caught(Mutant::HintReadAtOne, WRITERS, of("two readers", "WRR")),
        caught(
            Mutant::SilentDowngrade,
            READERS,
            of("a reader sleeps", "DR").ttl(&[6, 2]).sleeps().within(6, 1),
        ),
        caught(
            Mutant::QueuedWriterSetsNoHint,
            WRITERS,
            single("one node, behind a plain acquire, two readers", "PWRR")
                .together(2)
                .within(3, 1),
        ),
        Run::margin(
            single("one node, a writer beside one that gives up", "WGRR")
                .within(3, 1)
                .mutant(Mutant::HintDeletedUncompared),
        ),
    ]
}

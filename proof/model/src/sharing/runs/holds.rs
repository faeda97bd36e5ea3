//! Readers and writers as they ship.

use super::Run;
use crate::sharing::config::Config;

pub(super) fn runs() -> Vec<Run> {
    let quick = few().into_iter().map(|config| Run::holds(config).quick());
    quick.chain(many().into_iter().map(Run::holds)).collect()
}

fn of(name: &'static str, letters: &str) -> Config {
    Config::new(name, 3, letters)
}

/// Runs of few states.
fn few() -> Vec<Config> {
    let (old, new) = (0b0_0111, 0b1_1100);
    vec![
        of("a writer, a reader", "WR"),
        of("two writers, a reader", "WWR"),
        of("a writer, two readers", "WRR"),
        of("lives of 2, 3 and 1", "WRR").ttl(&[2, 3, 1]),
        of("a writer, a reader, an extension each", "WR").rounds(&[1, 1]),
        of("a writer, a reader, a restart", "WR").restarts(1),
        of("a writer, a reader, two restarts", "WR").restarts(2),
        of("a writer that downgrades, a writer", "DW"),
        of("two that downgrade", "DD"),
        of("a downgrade, a writer, a restart", "DW").restarts(1),
        of("a downgrade with errors, a reader", "DR").errors(3),
        of("a downgrade that asks for less, a writer", "DW").ttl(&[3, 3]).asks(&[1, 3]),
        of("in order: a writer, two readers", "WRR").in_order(&[0, 1, 2]),
        of("in order: a writer, a reader, an extension each", "WR")
            .in_order(&[0, 1])
            .rounds(&[1, 1]),
        of("in order: a reader then a writer, a reader", "RWR").in_order(&[0, 0, 1]),
        of("in order: a writer then a reader, a writer", "WRW").in_order(&[0, 0, 1]),
        of("in order: a downgrade, a reader", "DR").in_order(&[0, 1]),
        of("in order: a downgrade then a writer, a reader", "DWR").in_order(&[0, 0, 1]),
        of("in order: a downgrade with errors, a reader", "DR").in_order(&[0, 1]).errors(3),
        of("in order: crashes, a downgrade, a writer", "DW").in_order(&[0, 1]).crashes(),
        Config::new("five nodes, a writer, a reader", 5, "WR"),
        Config::new("five nodes, a writer, a reader, a restart", 5, "WR").restarts(1),
        Config::new("a joint list of a reader beside an old one", 5, "RW")
            .lists(&[[old, new], [old, old]]),
        Config::new("a joint list of a writer beside a reader's old one", 5, "WR")
            .lists(&[[old, new], [old, old]]),
    ]
}

fn many() -> Vec<Config> {
    let (old, new) = (0b0_0111, 0b1_1100);
    vec![
        of("two writers, two readers", "WWRR"),
        of("a writer, a reader, two extensions each", "WR").rounds(&[2, 2]),
        of("a writer, two readers, an extension each", "WRR").rounds(&[1, 1, 1]),
        of("a writer, two readers, a restart", "WRR").restarts(1),
        of("two writers, a reader, two restarts", "WWR").restarts(2),
        of("a writer, a reader, an extension each, a restart", "WR").rounds(&[1, 1]).restarts(1),
        of("a writer, a reader that extends twice, a restart", "WR").rounds(&[0, 2]).restarts(1),
        of("a writer, a reader, extensions that ask for more, a restart", "WR")
            .rounds(&[1, 1])
            .asks(&[3, 3])
            .restarts(1),
        of("a writer that downgrades, a reader, a writer", "DRW"),
        of("a downgrade between extensions, a writer", "DW").rounds(&[2, 0]),
        of("a downgrade, an extension, a reader, a writer", "DRW").rounds(&[1, 0, 0]),
        of("a downgrade with errors, an extension, a reader", "DR").errors(3).rounds(&[1, 0]),
        of("a downgrade with errors, a restart, a reader", "DR").errors(3).restarts(1),
        of("a downgrade, an extension, a restart, a reader", "DR").rounds(&[1, 0]).restarts(1),
        of("a downgrade that asks for more, a writer", "DW").asks(&[3, 2]).rounds(&[1, 0]),
        of("in order: a downgrade, an extension, a reader", "DR").in_order(&[0, 1]).rounds(&[1, 0]),
        of("in order: a downgrade, an extension, a restart, a reader", "DR")
            .in_order(&[0, 1])
            .rounds(&[1, 0])
            .restarts(1),
        of("in order: crashes, a writer, two readers", "WRR").in_order(&[0, 1, 2]).crashes(),
        Config::new("five nodes, a writer, two readers", 5, "WRR"),
        Config::new("five nodes, a downgrade, a reader", 5, "DR"),
        Config::new("a joint list beside an old one and a new one", 5, "WRR").lists(&[
            [old, new],
            [old, old],
            [new, new],
        ]),
        Config::new("a downgrade by a joint list beside an old one", 5, "DR")
            .lists(&[[old, new], [old, old]]),
        Config::new("one node, four, lives of 2, 3, 1 and 2", 1, "WRRR")
            .ttl(&[2, 3, 1, 2])
            .rounds(&[1, 1, 1, 1]),
        Config::new("one node, a downgrade, lives of 2, 3 and 1", 1, "DRW")
            .ttl(&[2, 3, 1])
            .rounds(&[2, 2, 2]),
    ]
}

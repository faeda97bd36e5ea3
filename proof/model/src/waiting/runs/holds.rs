//! Waiting as it ships.

use super::Run;
use crate::waiting::config::Config;

pub(super) fn runs() -> Vec<Run> {
    let of = |name, letters| Config::new(name, 3, letters);
    let single = |name, letters| Config::new(name, 1, letters);
    let runs = [
        of("a writer waits for a reader", "WR"),
        of("a writer waits for two readers", "WRR"),
        of("a writer waits for readers that hold longer than a hint", "WRR")
            .ttl(&[1, 4, 4])
            .within(4, 1),
        of("a writer waits, a node down", "WRR").down(0b100),
        of("a writer waits, a node without hints", "WRR").deaf(0b100),
        of("a writer waits, a restart", "WR").restarts(1).within(2, 1),
        of("two writers wait for a reader", "WWR").within(3, 1),
        of("a writer that gives up, a reader", "GR"),
        of("a writer that gives up, two readers", "GRR"),
        of("a writer beside one that gives up, a reader", "WGR").within(3, 1),
        single("one node, a writer beside one that gives up, two readers", "WGRR").within(3, 1),
        single("one node, a writer beside two that give up, a reader", "WGGR").within(3, 1),
        of("a writer behind a plain acquire, a reader", "PWR").together(2).within(3, 1),
        single("one node, a writer behind a plain acquire, two readers", "PWRR")
            .together(2)
            .within(3, 1),
        single("one node, writers behind a plain acquire, one gives up, a reader", "PGWR")
            .together(3)
            .within(3, 1),
        single("one node, a writer behind one that writes, two readers", "WWRR")
            .together(2)
            .within(3, 1),
        of("a writer that crashes, a reader", "WR").crashes().within(2, 3),
        of("a writer that crashes, two readers", "WRR").crashes().within(2, 3),
        of("two writers that crash, a reader", "WWR").crashes().within(5, 3),
        of("a reader sleeps, a writer that gives up", "GR").sleeps().within(2, 1),
        of("a reader sleeps, a writer that downgrades", "DR").ttl(&[6, 2]).sleeps().within(6, 1),
        of("two readers sleep, a writer that downgrades", "DRR")
            .ttl(&[6, 2, 2])
            .sleeps()
            .within(6, 1),
    ];
    let many = ["two writers", "a writer beside one", "two readers sleep"];
    let quick = |config: &Config| !many.iter().any(|name| config.name.starts_with(name));
    let run = |config| match quick(&config) {
        true => Run::holds(config).quick(),
        false => Run::holds(config),
    };
    runs.into_iter().map(run).collect()
}

//! Which mechanisms have crossed: what is acquired, what goes wrong, and how clients are set, in how many worlds.
//!
//! What fell lay where two mechanisms cross, so a pair that no world has is a gap.

use super::plan::{Act, Asked, Fault, Mode};
use super::setup::Setup;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Write};

const KINDS: [&str; 16] = [
    "plain",
    "fenced",
    "several",
    "writer",
    "reader",
    "fair",
    "permit",
    "kept alive",
    "warm",
    "min_hold",
    "lock_delay",
    "handed over",
    "downgraded",
    "forced",
    "cancelled",
    "extended",
];

const FAULTS: [&str; 18] = [
    "PausesClient",
    "KillsClient",
    "EndsClient",
    "SetsWallClock",
    "Cuts",
    "Slows",
    "Drops",
    "Resets",
    "Strays",
    "Stops",
    "Kills",
    "KillsAll",
    "FlushesScripts",
    "Denies",
    "MakesReplica",
    "StepsBack",
    "StepsForward",
    "Sticks",
];

const SETTINGS: [&str; 10] = [
    "3 masters",
    "5 masters",
    "other masters",
    "no wake-ups",
    "no lists",
    "at odds",
    "denied",
    "forgetful",
    "drifts most",
    "young",
];

/// The number of worlds in which two have crossed.
#[derive(Default)]
pub(super) struct Crossings(BTreeMap<[&'static str; 2], u64>);

fn kinds(asked: &Asked) -> impl Iterator<Item = &'static str> {
    let is_set = |span: std::time::Duration| !span.is_zero();
    let mode = match asked.mode {
        _ if asked.is_permit => "permit",
        Mode::Alone => "plain",
        Mode::Write => "writer",
        Mode::Read => "reader",
        Mode::Fair => "fair",
    };
    let more = [
        (asked.is_permit && asked.mode == Mode::Fair, "fair"),
        (asked.fenced, "fenced"),
        (asked.keys.len() > 1 && !asked.is_permit, "several"),
        (asked.keep_alive.is_some(), "kept alive"),
        (is_set(asked.warm), "warm"),
        (is_set(asked.at_least), "min_hold"),
        (is_set(asked.lock_delay), "lock_delay"),
    ];
    more.into_iter().filter_map(|(is, kind)| is.then_some(kind)).chain([mode])
}

fn fault(fault: &Fault) -> &'static str {
    let shown = format!("{fault:?}");
    let name = shown.split(' ').next().unwrap_or_default();
    FAULTS
        .into_iter()
        .find(|known| *known == name)
        .unwrap_or_else(|| panic!("no fault has the name {name}"))
}

impl Crossings {
    /// Counts a world, by how it was set and what was to be done in it.
    pub(super) fn add<'a>(&mut self, setup: &Setup, acts: impl Iterator<Item = &'a Act>) {
        let (mut had, mut met) = (BTreeSet::new(), BTreeSet::new());
        for act in acts {
            match act {
                Act::Acquire { asked, .. } => had.extend(kinds(asked)),
                Act::Fault(what) => _ = met.insert(fault(what)),
                Act::Detach { .. } => _ = had.insert("handed over"),
                Act::Downgrade { .. } => _ = had.insert("downgraded"),
                Act::ForceRelease { .. } => _ = had.insert("forced"),
                Act::Cancel { .. } => _ = had.insert("cancelled"),
                Act::Extend { .. } => _ = had.insert("extended"),
                _ => {}
            }
        }
        let set: BTreeSet<_> = setup.mechanisms().into_iter().collect();
        for (rows, columns) in [(&met, &had), (&set, &had), (&met, &set)] {
            for row in rows {
                columns.iter().for_each(|column| *self.0.entry([row, column]).or_default() += 1);
            }
        }
    }

    fn table(
        &self,
        out: &mut String,
        rows: &[&'static str],
        columns: &[&'static str],
    ) -> fmt::Result {
        write!(out, "\n{:>16}", "")?;
        columns.iter().try_for_each(|column| write!(out, " {column:>13}"))?;
        for row in rows {
            write!(out, "\n{row:>16}")?;
            for column in columns {
                let count = self.0.get(&[*row, *column]).copied().unwrap_or_default();
                write!(out, " {count:>13}")?;
            }
        }
        writeln!(out)
    }

    /// Returns the pairs that no world has.
    fn missing(&self) -> Vec<String> {
        let pairs = |rows: &'static [&'static str], columns: &'static [&'static str]| {
            rows.iter().flat_map(|row| columns.iter().map(|column| [*row, *column]))
        };
        let all =
            pairs(&FAULTS, &KINDS).chain(pairs(&SETTINGS, &KINDS)).chain(pairs(&FAULTS, &SETTINGS));
        all.filter(|pair| !self.0.contains_key(pair))
            .map(|[row, column]| format!("{row} x {column}"))
            .collect()
    }

    /// Returns the three tables, and the pairs that are missing.
    pub(super) fn shown(&self) -> String {
        let mut out = String::from("worlds in which these have crossed:");
        let tables: [(&[_], &[_]); 3] =
            [(&FAULTS, &KINDS), (&SETTINGS, &KINDS), (&FAULTS, &SETTINGS)];
        for (rows, columns) in tables {
            self.table(&mut out, rows, columns).expect("a String takes any text");
        }
        let missing = self.missing();
        write!(out, "{} pairs in no world: {}", missing.len(), missing.join(", "))
            .expect("the same");
        out
    }
}

//! How processes share a fair lock, beside a plain acquire in the same run.

use super::processes::{Had, Processes, Way};
use super::{nanos, span};
use crate::support::docker::tell;
use crate::support::prelude::*;
use crate::support::samples::Samples;
use futures::future::join_all;
use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

/// What processes have had, and at what cost.
struct Shared {
    /// By process; the last one hammers, if one does.
    sections: Vec<usize>,
    /// The fewest sections of a process, or of a task, as a part of the most.
    share: f64,
    waits: Samples,
    /// The longest time between two sections.
    gap: Duration,
    /// The number of such times above half a second.
    stalls: usize,
    /// Sections in a second.
    rate: f64,
    /// Commands for each section, on all masters, with those that scripts call.
    commands: f64,
}

impl fmt::Display for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { sections, share, waits, gap, stalls, rate, commands } = self;
        write!(
            f,
            "{share:.3} fewest/most, {waits}, {stalls} stalls, {gap:.1?} at most, {rate:.0}/s, {commands:.0} commands, {sections:?}"
        )
    }
}

/// Returns the times between one section and the next.
fn gaps(all: &[Had]) -> Samples {
    let mut all = all.to_vec();
    all.sort_unstable_by_key(|had| had.from);
    for two in all.windows(2) {
        assert!(two[0].until <= two[1].from, "two at a time: {two:?}");
    }
    all.windows(2).map(|two| span(two[0].until, two[1].from)).collect()
}

async fn commands(masters: &Masters) -> u64 {
    join_all(masters.iter().map(witness::command_count)).await.into_iter().sum()
}

/// Lets these processes work at the same time, until those that wait had `each` sections on average.
fn share(
    masters: &Masters,
    processes: &mut Processes,
    ways: &[(Way, usize)],
    each: usize,
) -> Shared {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let before = runtime.block_on(commands(masters));
    let begin = nanos() + 1_000_000_000;
    for (process, (way, tasks)) in ways.iter().enumerate() {
        processes.begin(process, *way, *tasks, begin);
    }
    let waits_of = |had: &Had| ways[had.process].0 != Way::Hammers;
    let waiting: usize = ways.iter().filter(|way| way.0 != Way::Hammers).map(|way| way.1).sum();
    let (mut all, mut counted) = (Vec::new(), 0);
    while counted < each * waiting {
        let had = processes.had();
        counted += usize::from(waits_of(&had));
        all.push(had);
    }
    let spent = runtime.block_on(commands(masters)) - before;
    let took = span(begin, nanos());
    processes.end();
    let gaps = gaps(&all);
    let stalls = gaps.all().iter().filter(|gap| **gap > SECOND / 2).count();
    let mut sections = vec![0; ways.len()];
    let mut by_task: Vec<Vec<usize>> = ways.iter().map(|way| vec![0; way.1]).collect();
    // Before all had asked, others had more.
    let mut asked = BTreeMap::new();
    for had in all.iter().rev() {
        asked.insert((had.process, had.task), had.asked);
    }
    let all_ask = asked.into_values().max().unwrap_or_default();
    for had in &all {
        sections[had.process] += 1;
        by_task[had.process][had.task] += usize::from(had.from >= all_ask);
    }
    let counts = by_task.iter().zip(ways).filter(|(_, way)| way.0 != Way::Hammers);
    let counts: Vec<usize> = counts.flat_map(|(counts, _)| counts.clone()).collect();
    let share = *counts.iter().min().unwrap() as f64 / *counts.iter().max().unwrap() as f64;
    let waits =
        all.iter().filter(|had| waits_of(had)).map(|had| span(had.asked, had.from)).collect();
    let rate = all.len() as f64 / took.as_secs_f64();
    let commands = spent as f64 / all.len() as f64;
    Shared { sections, share, waits, gap: gaps.max(), stalls, rate, commands }
}

#[test]
fn fair_processes_have_equal_shares() {
    const PROCESSES: usize = 8;
    let masters = Masters::start(5);
    let mut processes = Processes::start(&masters, PROCESSES + 1);
    let plain = share(&masters, &mut processes, &[(Way::Plain, 1); PROCESSES], 20);
    let fair = share(&masters, &mut processes, &[(Way::Fair, 1); PROCESSES], 20);
    let mut ways = vec![(Way::Fair, 1); PROCESSES];
    ways.push((Way::Hammers, 1));
    let beside = share(&masters, &mut processes, &ways, 20);
    tell(&format!("plain: {plain}\nfair: {fair}\nbeside one that hammers: {beside}"));
    assert!(fair.share >= 0.85, "{fair}");
    assert!(beside.share >= 0.6, "{beside}");
    // A hand-over takes no second.
    assert!(fair.waits.p50() < SECOND && beside.waits.p50() < SECOND, "{fair}; {beside}");
    assert!(fair.rate > plain.rate / 2.0, "{fair}; {plain}");
}

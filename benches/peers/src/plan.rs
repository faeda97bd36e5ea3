//! How long, how often, and who takes part.

use crate::contenders;
use crate::trial::Trial;
use crate::workloads::Workload;
use std::fmt;
use std::time::Duration;

pub(crate) struct Plan {
    pub(crate) rounds: usize,
    /// How long each contender is measured in each round.
    pub(crate) span: Duration,
    /// How long it runs before that.
    pub(crate) warm_up: Duration,
    /// Rounds of each workload that is measured from outside.
    pub(crate) trial_rounds: usize,
    /// For how many sections each task is measured where tasks wait for each other, on average.
    sections_per_task: f64,
    /// And for how long at most.
    longest: Duration,
    quick: bool,
    write: bool,
    only: Vec<String>,
}

const USAGE: &str =
    "usage: peers [--quick] [--rounds N] [--millis N] [--longest N] [--write] [NAME]...
  --quick     under two minutes in all: fewer workloads, unless NAME asks for others
  --rounds N  rounds of each workload
  --millis N  how long each contender is measured in each round
  --longest N seconds at most, where tasks are measured until they have had their sections (W5)
  --write     write results.md and results.svg, as is done without --quick and NAME
  NAME        only this workload (w1, w5, w5-8) or contenders whose name contains it";

impl Plan {
    pub(crate) fn from_args(args: impl Iterator<Item = String>) -> Result<Self, String> {
        let (quick, others): (Vec<_>, Vec<_>) = args.partition(|arg| arg == "--quick");
        let mut plan = if quick.is_empty() { Self::full() } else { Self::quick() };
        let mut args = others.into_iter();
        while let Some(arg) = args.next() {
            let mut number = || args.next()?.parse::<u32>().ok().filter(|&number| number > 0);
            match arg.as_str() {
                "--rounds" => {
                    plan.rounds = number().ok_or(USAGE)? as usize;
                    plan.trial_rounds = plan.rounds;
                }
                "--millis" => plan.measure_for(millis(number().ok_or(USAGE)?)),
                "--longest" => plan.longest = Duration::from_secs(number().ok_or(USAGE)?.into()),
                "--write" => plan.write = true,
                "--bench" => {}
                name if name.starts_with('-') => return Err(USAGE.to_owned()),
                name => plan.only.push(known(name)?),
            }
        }
        Ok(plan)
    }

    const fn full() -> Self {
        Self {
            rounds: 9,
            span: Duration::from_millis(2000),
            warm_up: Duration::from_millis(300),
            trial_rounds: 5,
            sections_per_task: 200.0,
            longest: Duration::from_secs(8),
            quick: false,
            write: false,
            only: Vec::new(),
        }
    }

    const fn quick() -> Self {
        Self {
            rounds: 5,
            span: Duration::from_millis(400),
            warm_up: Duration::from_millis(100),
            trial_rounds: 5,
            sections_per_task: 40.0,
            longest: Duration::from_secs(5),
            quick: true,
            write: false,
            only: Vec::new(),
        }
    }

    fn measure_for(&mut self, span: Duration) {
        (self.span, self.warm_up) = (span, span / 6);
    }

    /// Whether the results are kept: those of a part would hide the rest.
    pub(crate) fn writes(&self) -> bool {
        self.write || (!self.quick && self.only.is_empty())
    }

    /// Enough for all tasks at so many sections per second in all.
    pub(crate) fn contended_span(&self, tasks: usize, per_second: f64) -> Duration {
        // A fifth more: rates are not quite steady.
        let enough = 1.2 * self.sections_per_task * tasks as f64 / per_second;
        Duration::from_secs_f64(enough.min(self.longest.as_secs_f64())).max(self.span)
    }

    /// Names that fit no contender pick workloads only, and the other way round.
    pub(crate) fn includes(&self, contender: &str) -> bool {
        let mut picked = self.only.iter().filter(|name| !is_workload(name)).peekable();
        picked.peek().is_none() || picked.any(|name| contender.contains(name.as_str()))
    }

    pub(crate) fn includes_workload(&self, workload: Workload) -> bool {
        self.picks(workload.name(), workload != Workload::Fenced)
    }

    pub(crate) fn includes_trial(&self, trial: Trial) -> bool {
        self.picks(&trial.name(), trial.is_quick())
    }

    /// Without names: all, or those that are quick.
    fn picks(&self, workload: &str, is_quick: bool) -> bool {
        let mut picked = self.only.iter().filter(|name| is_workload(name)).peekable();
        match picked.peek() {
            None => is_quick || !self.quick,
            Some(_) => picked.any(|name| names(name, workload)),
        }
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rounds, trial_rounds, span, sections_per_task, longest, .. } = self;
        let run = if self.quick { "A quick run" } else { "A full run" };
        write!(
            f,
            "{run}: {rounds} rounds of the workloads within one process (W1, W2, W7), {trial_rounds} of \
             the others; each contender for {span:?} in each, as W5 until its tasks have had \
             {sections_per_task} sections on average, or {longest:?}."
        )
    }
}

/// Whether it is `workload` that is meant: `w5` means all of `W5-8`, `W5-32` and so on.
fn names(name: &str, workload: &str) -> bool {
    let workload = workload.to_lowercase();
    workload == name || workload.split('-').next() == Some(name)
}

/// A name that picks nothing would pass for a run without results.
fn known(name: &str) -> Result<String, String> {
    let name = name.to_lowercase();
    if is_workload(&name) || contenders::names().iter().any(|one| one.contains(&name)) {
        Ok(name)
    } else {
        Err(format!("no workload or contender is called {name}\n{USAGE}"))
    }
}

fn is_workload(name: &str) -> bool {
    Workload::ALL.iter().any(|one| names(name, one.name()))
        || Trial::ALL.iter().any(|one| names(name, &one.name()))
}

fn millis(number: u32) -> Duration {
    Duration::from_millis(number.into())
}

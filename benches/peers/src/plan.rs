//! How long, how often, and who takes part.

use crate::workloads::Workload;
use std::time::Duration;

pub(crate) struct Plan {
    pub(crate) rounds: usize,
    /// How long each contender is measured in each round.
    pub(crate) span: Duration,
    /// How long it runs before that.
    pub(crate) warm_up: Duration,
    only: Vec<String>,
}

const USAGE: &str = "usage: peers [--quick] [--rounds N] [--millis N] [NAME]...
  --quick     under two minutes in all
  --rounds N  rounds of each workload
  --millis N  how long each contender is measured in each round
  NAME        only workloads and contenders whose name contains one of these";

impl Plan {
    pub(crate) fn from_args(args: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut plan = Self::new(9, Duration::from_millis(2000));
        let mut args = args;
        while let Some(arg) = args.next() {
            let mut number = || args.next()?.parse::<u32>().ok().filter(|&number| number > 0);
            match arg.as_str() {
                "--quick" => plan = Self::new(7, Duration::from_millis(600)),
                "--rounds" => plan.rounds = number().ok_or(USAGE)? as usize,
                "--millis" => plan = Self::new(plan.rounds, millis(number().ok_or(USAGE)?)),
                "--bench" => {}
                name if !name.starts_with('-') => plan.only.push(name.to_owned()),
                _ => return Err(USAGE.to_owned()),
            }
        }
        Ok(plan)
    }

    fn new(rounds: usize, span: Duration) -> Self {
        Self { rounds, span, warm_up: span / 6, only: Vec::new() }
    }

    /// Names that fit no contender pick workloads only, and the other way round.
    pub(crate) fn includes(&self, contender: &str) -> bool {
        let picks = |name: &&String| !Workload::ALL.iter().any(|one| one.name() == name.as_str());
        let mut picked = self.only.iter().filter(picks).peekable();
        picked.peek().is_none() || picked.any(|name| contender.contains(name.as_str()))
    }

    pub(crate) fn includes_workload(&self, workload: Workload) -> bool {
        let picks = |name: &&String| Workload::ALL.iter().any(|one| one.name() == name.as_str());
        let mut picked = self.only.iter().filter(picks).peekable();
        picked.peek().is_none() || picked.any(|name| workload.name() == name)
    }
}

fn millis(number: u32) -> Duration {
    Duration::from_millis(number.into())
}

//! Durations, repetitions, and participants.

use crate::contenders;
use crate::scene::Scene;
use crate::trial::Trial;
use crate::workloads::{Workload, kept};
use std::fmt;
use std::time::Duration;

/// Time that a cell takes in addition to warm-up and span: connecting, settling, and the masters'
/// statistics.
const ASIDE: Duration = Duration::from_millis(250);

pub(crate) struct Plan {
    /// Rounds of the scenes with the most comparisons.
    rounds: usize,
    /// Rounds of the other scenes.
    few_rounds: usize,
    /// Time for which each contender is measured in each round.
    pub(crate) span: Duration,
    /// Time for which it runs before the measurement.
    pub(crate) warm_up: Duration,
    /// Rounds of each workload that is measured from outside.
    pub(crate) trial_rounds: usize,
    /// Mean number of sections for which each task is measured, if tasks wait for each other.
    sections_per_task: f64,
    /// Longest span of such a measurement.
    longest: Duration,
    /// Time limit for everything, including cells that are played again.
    pub(crate) limit: Duration,
    /// Only prints the plan and plays nothing.
    pub(crate) only_printed: bool,
    /// Only draws the results of the last run again.
    pub(crate) only_drawn: bool,
    quick: bool,
    long: bool,
    write: bool,
    only: Vec<String>,
}

const USAGE: &str = "usage: peers [--quick | --long] [--rounds N] [--millis N] [--longest N]
             [--minutes N] [--plan] [--draw] [--write] [NAME]...
  --quick     under two minutes in all: fewer scenes, no other crates, unless NAME asks for them
  --long      with the sweeps on Valkey 9, the crowds of W11, the idle clients of W12 and the many
              locks of W13, too: half an hour more
  --rounds N  rounds of each scene
  --millis N  how long each contender is measured in each round
  --longest N seconds at most, where tasks are measured until they have had their sections (W5)
  --minutes N disturbed cells are played again for as long as all of it ends within that: 60
  --plan      print what would be played and how long that takes
  --draw      write the words and pictures again around the figures in results.md; measure nothing
  --write     write results.md and its pictures, as is done without --quick and NAME
  NAME        only this scene (w2-valkey), all of this workload (w1, w5) or contenders whose name
              contains it";

impl Plan {
    pub(crate) fn from_args(args: impl Iterator<Item = String>) -> Result<Self, String> {
        let args: Vec<String> = args.collect();
        let is_quick = args.iter().any(|arg| arg == "--quick");
        let mut plan = if is_quick { Self::quick() } else { Self::full() };
        let mut args = args.into_iter();
        while let Some(arg) = args.next() {
            let mut number = || args.next()?.parse::<u32>().ok().filter(|&number| number > 0);
            match arg.as_str() {
                "--rounds" => {
                    plan.rounds = number().ok_or(USAGE)? as usize;
                    (plan.few_rounds, plan.trial_rounds) = (plan.rounds, plan.rounds);
                }
                "--millis" => plan.measure_for(millis(number().ok_or(USAGE)?)),
                "--longest" => plan.longest = Duration::from_secs(number().ok_or(USAGE)?.into()),
                "--write" => plan.write = true,
                "--minutes" => plan.limit = 60 * Duration::from_secs(number().ok_or(USAGE)?.into()),
                "--plan" => plan.only_printed = true,
                "--draw" => plan.only_drawn = true,
                "--long" => plan.long = true,
                "--bench" | "--quick" => {}
                name if name.starts_with('-') => return Err(USAGE.to_owned()),
                name => plan.only.push(known(name)?),
            }
        }
        Ok(plan)
    }

    const fn full() -> Self {
        Self {
            rounds: 9,
            few_rounds: 5,
            span: Duration::from_millis(2000),
            warm_up: Duration::from_millis(300),
            trial_rounds: 3,
            sections_per_task: 200.0,
            longest: Duration::from_secs(8),
            limit: Duration::from_secs(60 * 60),
            only_printed: false,
            only_drawn: false,
            quick: false,
            long: false,
            write: false,
            only: Vec::new(),
        }
    }

    fn quick() -> Self {
        Self {
            rounds: 5,
            few_rounds: 3,
            span: Duration::from_millis(300),
            warm_up: Duration::from_millis(75),
            trial_rounds: 3,
            sections_per_task: 40.0,
            longest: Duration::from_secs(5),
            limit: Duration::from_secs(115),
            quick: true,
            ..Self::full()
        }
    }

    fn measure_for(&mut self, span: Duration) {
        (self.span, self.warm_up) = (span, span / 6);
    }

    /// Returns whether the results are stored: those of a partial run would replace the rest.
    pub(crate) fn writes(&self) -> bool {
        self.write || (!self.quick && self.only.is_empty())
    }

    /// Returns a span that is enough for all tasks at this total number of sections per second.
    pub(crate) fn contended_span(&self, tasks: usize, per_second: f64) -> Duration {
        // A fifth more, because rates are not quite steady.
        let enough = 1.2 * self.sections_per_task * tasks as f64 / per_second;
        Duration::from_secs_f64(enough.min(self.longest.as_secs_f64())).max(self.span)
    }

    pub(crate) fn rounds(&self, scene: Scene) -> usize {
        match scene.workload {
            // What differs there differs by a factor of a hundred.
            Workload::Warm => self.trial_rounds,
            _ if scene.is_usual() && scene.workload.is_compared() => self.rounds,
            _ => self.few_rounds,
        }
    }

    /// Returns how long a cell of this scene takes.
    pub(crate) fn expected(&self, scene: Scene) -> Duration {
        let more = if scene.workload == Workload::Kept { kept::ASIDE } else { ASIDE };
        self.warm_up + self.span_of(scene) + more
    }

    /// Returns how long a contender is measured in each round.
    pub(crate) fn span_of(&self, scene: Scene) -> Duration {
        match scene.workload {
            // Storms of extensions come once a second.
            Workload::Kept => 3 * self.span,
            Workload::Warm => self.span / 4,
            _ => self.span,
        }
    }

    /// Returns how long all of this takes if nothing is disturbed.
    pub(crate) fn expected_in_all(&self, scenes: &[Scene], trials: &[Trial]) -> Duration {
        let many = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        let scenes = scenes.iter().map(|&scene| {
            let all = scene.contenders();
            let contenders = all.iter().filter(|contender| self.includes(contender.name())).count();
            many(self.rounds(scene) * contenders) * self.expected(scene)
        });
        let trials = trials.iter().map(|&trial| {
            let all = contenders::apart();
            let takes_part = |name: &str| self.includes(name) && trial.suits(name);
            let contenders = all.iter().filter(|contender| takes_part(contender.name())).count();
            many(self.trial_rounds * contenders) * trial.expected(self)
        });
        scenes.chain(trials).sum()
    }

    /// Checks whether the contender takes part. Names that match no contender select scenes only,
    /// and vice versa.
    pub(crate) fn includes(&self, contender: &str) -> bool {
        let mut picked = self.only.iter().filter(|name| !is_scene(name)).peekable();
        match picked.peek() {
            None => !self.quick || contenders::is_quick(contender),
            Some(_) => picked.any(|name| contender.to_lowercase().contains(name.as_str())),
        }
    }

    pub(crate) fn includes_scene(&self, scene: Scene) -> bool {
        self.picks(&scene.name(), scene.is_quick(), scene.is_long())
    }

    pub(crate) fn includes_trial(&self, trial: Trial) -> bool {
        let is_named = self.only.iter().any(|name| names(name, &trial.name()));
        self.picks(&trial.name(), trial.is_quick(), trial.is_long() && !is_named)
    }

    /// Checks whether a scene is played. Without names: all but the long ones, or the quick ones. A
    /// long one is played if it is named in full.
    fn picks(&self, scene: &str, is_quick: bool, is_long: bool) -> bool {
        let mut picked = self.only.iter().filter(|name| is_scene(name)).peekable();
        match picked.peek() {
            None if self.quick => is_quick,
            None => self.long || !is_long,
            Some(_) if is_long && !self.long => picked.any(|name| scene.to_lowercase() == *name),
            Some(_) => picked.any(|name| names(name, scene)),
        }
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rounds, few_rounds, trial_rounds, span, sections_per_task, longest, .. } = self;
        let run = if self.quick { "A quick run" } else { "A full run" };
        write!(
            f,
            "{run}: {rounds} rounds of W1 and W2 as usual, {few_rounds} of W7 and W9 and where one thing differs, \
             {trial_rounds} of what is measured from outside (W3 to W6, W8, W11 to W13); each contender for \
             {span:?} in each, as W5 until its tasks have had {sections_per_task} sections on average, \
             or {longest:?}."
        )
    }
}

/// Checks whether the name means `scene`: `w5` means all of `W5-8`, `W5-32` and so on.
fn names(name: &str, scene: &str) -> bool {
    let scene = scene.to_lowercase();
    scene == name || scene.split('-').next() == Some(name)
}

/// Checks a name: one that selects nothing would pass for a run without results.
fn known(name: &str) -> Result<String, String> {
    let name = name.to_lowercase();
    if is_scene(&name)
        || contenders::names().iter().any(|contender| contender.to_lowercase().contains(&name))
    {
        Ok(name)
    } else {
        Err(format!("no scene or contender is called {name}\n{USAGE}"))
    }
}

fn is_scene(name: &str) -> bool {
    Scene::all().iter().any(|scene| names(name, &scene.name()))
        || Trial::ALL.iter().any(|trial| names(name, &trial.name()))
}

fn millis(number: u32) -> Duration {
    Duration::from_millis(number.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(line: &str) -> Plan {
        Plan::from_args(line.split_whitespace().map(str::to_owned)).expect("a plan")
    }

    fn scenes(plan: &Plan) -> Vec<String> {
        let all = Scene::all().into_iter().filter(|scene| plan.includes_scene(*scene));
        all.map(Scene::name).collect()
    }

    #[test]
    fn a_workload_means_all_of_its_scenes_and_a_scene_itself() {
        let of_w1 = scenes(&plan("w1"));
        assert!(of_w1.contains(&"W1".to_owned()) && of_w1.contains(&"W1-valkey".to_owned()));
        assert!(of_w1.iter().all(|name| name.starts_with("W1")));
        assert_eq!(scenes(&plan("w2-512-tasks")), ["W2-512-tasks"]);
    }

    #[test]
    fn what_is_long_is_asked_for() {
        let long = "W2-512-tasks-valkey".to_owned();
        assert!(!scenes(&plan("")).contains(&long));
        assert!(!scenes(&plan("w2")).contains(&long));
        assert!(scenes(&plan("--long")).contains(&long));
        assert_eq!(scenes(&plan("w2-512-tasks-valkey")), [long]);
    }

    #[test]
    fn a_crowd_is_asked_for() {
        let crowds = |line: &str| {
            let plan = plan(line);
            let all = Trial::ALL.into_iter().filter(|trial| plan.includes_trial(*trial));
            all.map(Trial::name).filter(|name| name.starts_with("W11")).collect::<Vec<_>>()
        };
        for line in ["", "--quick", "rslock", "w5"] {
            assert_eq!(crowds(line), [""; 0], "{line}");
        }
        assert_eq!(crowds("w11-100"), ["W11-100"]);
        assert_eq!(crowds("w11"), crowds("--long"));
        assert_eq!(crowds("w11").len(), 3);
    }

    #[test]
    fn a_quick_run_has_no_other_crates_but_those_that_are_named() {
        assert!(!plan("--quick").includes("rslock"));
        assert!(plan("--quick").includes("bare sockets"));
        assert!(plan("--quick rslock").includes("rslock"));
        assert!(plan("").includes("rslock"));
    }

    #[test]
    fn numbers_go_with_their_flags_wherever_quick_stands() {
        let plan = plan("--rounds 2 --quick --millis 60 w2");
        assert_eq!((plan.rounds, plan.trial_rounds), (2, 2));
        assert_eq!((plan.span, plan.warm_up), (millis(60), millis(10)));
        assert!(!plan.writes());
    }

    #[test]
    fn a_run_keeps_a_quarter_of_its_time_for_repeated_cells() {
        for line in ["", "--quick"] {
            let plan = plan(line);
            let scenes = Scene::all().into_iter().filter(|scene| plan.includes_scene(*scene));
            let trials = Trial::ALL.into_iter().filter(|trial| plan.includes_trial(*trial));
            let expected =
                plan.expected_in_all(&scenes.collect::<Vec<_>>(), &trials.collect::<Vec<_>>());
            assert!(expected <= plan.limit * 3 / 4, "{line}: {expected:?} of {:?}", plan.limit);
        }
    }

    #[test]
    fn unknown_arguments_are_refused() {
        for line in ["w99", "--nonsense", "--rounds", "--rounds 0"] {
            let words = line.split_whitespace().map(str::to_owned);
            assert!(Plan::from_args(words).is_err(), "{line}");
        }
    }
}

//! Scenes that are played within this process: a workload and its conditions.

use crate::contenders::{self, Contender, Release};
use crate::field::Kind;
use crate::workloads::{Workload, alone, fenced, kept};
use std::time::Duration;

/// Five survive the loss of two: the usual number.
pub(crate) const NODES: usize = 5;

/// Number of tasks if the workload has many.
const TASKS: usize = 64;

/// Added round trips: within a rack, and within a region.
const ROUND_TRIPS: [Duration; 2] = [Duration::from_micros(500), Duration::from_millis(5)];

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Scene {
    pub(crate) workload: Workload,
    /// On servers that compare and delete by themselves.
    pub(crate) release: Release,
    pub(crate) masters: usize,
    pub(crate) tasks: usize,
    /// Round trip that a proxy adds; zero without one.
    pub(crate) round_trip: Duration,
}

impl Scene {
    const fn usual(workload: Workload, release: Release) -> Self {
        Self { workload, release, masters: NODES, tasks: TASKS, round_trip: Duration::ZERO }
    }

    /// Returns all scenes in the order in which they are played.
    pub(crate) fn all() -> Vec<Self> {
        let mut all = Vec::new();
        for release in [Release::Hash, Release::DelIfEq] {
            let alone = Self::usual(Workload::Alone, release);
            let crowd = Self::usual(Workload::Crowd, release);
            all.extend([alone, crowd]);
            all.extend([1, 8, 512].map(|tasks| Self { tasks, ..crowd }));
            all.extend([3, 7].map(|masters| Self { masters, ..crowd }));
            for round_trip in ROUND_TRIPS {
                all.extend([alone, crowd].map(|scene| Self { round_trip, ..scene }));
            }
        }
        all.push(Self::usual(Workload::Crowd, Release::DelEx));
        all.push(Self::usual(Workload::Fenced, Release::Hash));
        all.push(Self::usual(Workload::Kept, Release::Hash));
        let warm = Self::usual(Workload::Warm, Release::Hash);
        for round_trip in [Duration::ZERO, ROUND_TRIPS[0]] {
            all.extend([1, TASKS].map(|tasks| Self { tasks, round_trip, ..warm }));
        }
        all
    }

    /// Returns a name like `W2`, `W2-valkey`, `W2-redis-8.4`, `W2-512-tasks`, `W2-3-masters-valkey`, `W1-0.5ms`.
    pub(crate) fn name(self) -> String {
        let Self { workload, release, masters, tasks, round_trip } = self;
        let mut name = workload.name().to_owned();
        if tasks != TASKS {
            name += &format!("-{tasks}-task{}", if tasks == 1 { "" } else { "s" });
        }
        if masters != NODES {
            name += &format!("-{masters}-masters");
        }
        if !round_trip.is_zero() {
            name += &format!("-{}ms", millis(round_trip));
        }
        match release {
            Release::Full | Release::Hash => {}
            Release::DelIfEq => name += "-valkey",
            Release::DelEx => name += "-redis-8.4",
        }
        name
    }

    pub(crate) fn about(self, kind: &Kind) -> String {
        let tasks = self.tasks;
        let about = match self.workload {
            Workload::Alone => alone::ABOUT.to_owned(),
            Workload::Crowd if tasks == 1 => "1 task, 1 resource: acquire, release".to_owned(),
            Workload::Crowd => format!("{tasks} tasks, {tasks} resources: acquire, release"),
            Workload::Fenced => fenced::ABOUT.to_owned(),
            Workload::Kept => kept::ABOUT.to_owned(),
            Workload::Warm if tasks == 1 => "1 task that wants 1 lock again and again".to_owned(),
            Workload::Warm => format!("{tasks} tasks that each want a lock again and again"),
        };
        let far = match self.round_trip {
            Duration::ZERO => String::new(),
            round_trip => format!(", a round trip of {} ms by a proxy", millis(round_trip)),
        };
        format!("{about}; {} masters, {}{far}", self.masters, kind.name)
    }

    /// Returns whether it is played with `--quick` alone.
    pub(crate) fn is_quick(self) -> bool {
        let is_crowd = self.workload == Workload::Crowd && self.release != Release::DelEx;
        self.is_usual() && (is_crowd || self == Self::all()[0])
    }

    /// Returns whether it is played only on request.
    pub(crate) fn is_long(self) -> bool {
        self.release != Release::Hash && !self.is_usual()
    }

    /// Returns whether it has five masters on this machine and the usual number of tasks.
    pub(crate) fn is_usual(self) -> bool {
        self.masters == NODES && self.tasks == TASKS && self.round_trip.is_zero()
    }

    pub(crate) fn contenders(self) -> Vec<Box<dyn Contender>> {
        match self.workload {
            Workload::Fenced => contenders::fenced(),
            Workload::Kept => contenders::kept(),
            Workload::Warm => contenders::warm(),
            _ if !self.is_usual() => contenders::few(self.release),
            Workload::Alone => contenders::alone(self.release),
            Workload::Crowd => contenders::crowd(self.release),
        }
    }
}

fn millis(span: Duration) -> f64 {
    span.as_secs_f64() * 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn no_two_scenes_have_the_same_name() {
        let all = Scene::all();
        let names: BTreeSet<_> = all.iter().map(|scene| scene.name()).collect();
        assert_eq!(names.len(), all.len());
        for name in [
            "W1",
            "W2-valkey",
            "W2-redis-8.4",
            "W2-1-task",
            "W2-512-tasks-valkey",
            "W2-7-masters",
            "W1-0.5ms",
            "W2-5ms",
            "W7",
            "W9",
            "W10",
            "W10-1-task",
            "W10-0.5ms",
            "W10-1-task-0.5ms",
        ] {
            assert!(names.contains(name), "{name} is none of {names:?}");
        }
    }

    #[test]
    fn what_is_quick_is_not_long() {
        assert!(!Scene::all().into_iter().any(|scene| scene.is_quick() && scene.is_long()));
    }
}

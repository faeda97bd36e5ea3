//! How often each action of a page was matched.

use super::formulas;
use super::scope::Scope;
use super::steps::Steps;
use std::collections::BTreeMap;

/// The actions that no world has: no simulated master is out of memory, and no world ends a joint phase.
const IN_NO_WORLD: [&str; 2] = ["min_hold shorten_in_part", "joint old_ends"];

/// Those that few worlds have: so many do not have to be without them.
const IN_FEW_WORLDS: [&str; 3] =
    ["min_hold release_late", "readers become_reader_uncounted", "readers downgrade_undone"];
const MANY: u64 = 50_000;

/// How often each action of a page was matched, in many worlds.
#[derive(Clone, Default, Debug)]
pub(crate) struct Counts {
    pub(crate) actions: BTreeMap<String, u64>,
    pub(crate) stutters: u64,
    pub(crate) worlds: BTreeMap<Scope, u64>,
}

impl Counts {
    pub(crate) fn add(&mut self, other: &Self) {
        for (action, count) in &other.actions {
            *self.actions.entry(action.clone()).or_default() += count;
        }
        for (scope, count) in &other.worlds {
            *self.worlds.entry(*scope).or_default() += count;
        }
        self.stutters += other.stutters;
    }

    /// Adds what was matched with a state of a page.
    pub(super) fn add_steps(&mut self, steps: &Steps) {
        for (action, matched) in steps.page().actions.iter().zip(&steps.matched) {
            let name = format!("{} {}", steps.page().name, action.name);
            *self.actions.entry(name).or_default() += matched;
        }
        self.stutters += steps.stutters;
    }

    /// Returns whether each action was matched that so many worlds have.
    pub(crate) fn is_whole(&self, worlds: u64) -> bool {
        let is_rare = |name: &str| {
            IN_NO_WORLD.contains(&name) || worlds < MANY && IN_FEW_WORLDS.contains(&name)
        };
        let is_missing = |(name, count): (&String, &u64)| *count == 0 && !is_rare(name);
        !self.actions.is_empty() && !self.actions.iter().any(is_missing)
    }

    /// Returns the counts as a run prints them.
    pub(crate) fn shown(&self) -> String {
        let worlds = self.worlds.iter().map(|(scope, count)| format!("{scope:?} {count}"));
        let actions = self.actions.iter().map(|(action, count)| format!("{action} {count}"));
        let (worlds, actions) = (worlds.collect::<Vec<_>>(), actions.collect::<Vec<_>>());
        let judged = match formulas::every() {
            1 => "each world is".to_owned(),
            every => format!("one of {every} worlds is"),
        };
        format!(
            "{judged} matched with the proof. Steps: {}; stutters {}. Worlds: {}",
            actions.join(", "),
            self.stutters,
            worlds.join(", ")
        )
    }
}

//! The ways in which states are visited: a search, random walks, one way, and scenes.

use super::properties::{GOES_ON, STOPS};
use super::protocol::{Action, Agreement};
use super::runs::scenes::Scene;
use crate::checker::{Began, Bounds, Model, Outcome, Violation, explore};
use crate::report::thousands;
use crate::run::Searched;

/// The way in which states are visited.
#[derive(Clone, Copy, Default, Debug)]
pub enum Search {
    /// All of them, breadth first.
    #[default]
    All,
    /// So many random steps, from a seed that is always the same.
    Walks(usize),
    /// Along one way that was written down, as it is too long for the other two.
    Written(&'static [Action]),
    /// Each step must be possible.
    Scene(fn() -> Scene),
}

impl Search {
    pub(super) fn searched(
        &self,
        agreement: &Agreement,
        states: usize,
        progress: &mut dyn FnMut(usize),
    ) -> Searched<Action> {
        let outcome = match self {
            Self::All => explore(agreement, Bounds { states }, progress),
            Self::Walks(steps) => agreement.walk(*steps, progress),
            Self::Written(way) => agreement.along(way),
            Self::Scene(scene) => agreement.played(&scene()),
        };
        let extent = match self {
            Self::All => outcome.extent(),
            Self::Walks(_) => format!("{} steps at random", thousands(outcome.states)),
            Self::Written(_) => "one way".to_owned(),
            Self::Scene(_) => format!("a scene of {} steps", outcome.depth),
        };
        let written = matches!(self, Self::Written(_) | Self::Scene(_));
        let states = if matches!(self, Self::All) { outcome.states } else { 0 };
        Searched { outcome, extent, written, states }
    }
}

impl Agreement {
    fn along(&self, script: &[Action]) -> Outcome<Action> {
        let began = Began::now();
        let property = self.outcome_of(script);
        let violation =
            property.map(|property| Violation { property, trace: script.to_vec(), again: None });
        let depth = script.len();
        Outcome { states: depth, depth, complete: false, violation, took: began.took() }
    }

    /// Plays a scene. Reports a step that is not possible, or one that is and must not be.
    pub fn played(&self, scene: &Scene) -> Outcome<Action> {
        let began = Began::now();
        let (mut state, mut trace, mut property) = (self.initial(), Vec::new(), None);
        for action in &scene.way {
            match self.step(&state, *action) {
                Some(next) => state = next,
                None if matches!(action, Action::Ask { .. }) => continue,
                None => {
                    property = Some(GOES_ON);
                    break;
                }
            }
            trace.push(*action);
            property = property.or(self.violated(&state));
        }
        let possible = |action: &&Action| self.step(&state, **action).is_some();
        if let Some(action) = scene.refused.iter().find(possible).filter(|_| property.is_none()) {
            trace.push(*action);
            property = Some(STOPS);
        }
        let depth = trace.len();
        let violation = property.map(|property| Violation { property, trace, again: None });
        Outcome { states: depth, depth, complete: false, violation, took: began.took() }
    }
}

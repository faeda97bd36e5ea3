//! Shrinks a plan that fails. Whatever can be left out while the plan still fails the same way is
//! left out, halves first and then single acts.

use super::clock::Time;
use super::plan::Act;
use super::play::play_plan;
use super::seed::Seed;
use super::setup::Setup;

/// The most trials of a shrink.
const MOST_TRIALS: usize = 250;

/// Returns the kind of a violation, for any client: its words without names and numbers.
pub(super) fn kind(violation: &str) -> String {
    let is_word = |word: &&str| word.chars().all(|letter| letter.is_ascii_lowercase());
    violation.split_whitespace().filter(is_word).collect::<Vec<_>>().join(" ")
}

pub(super) fn shrink(
    seed: Seed,
    setup: &Setup,
    plan: Vec<(Time, Act)>,
    violation: &str,
) -> Vec<(Time, Act)> {
    let (mut plan, kind_of) = (plan, kind(violation));
    let mut trials = 0;
    let mut chunk = plan.len().div_ceil(2);
    while chunk > 0 && trials < MOST_TRIALS {
        let mut at = 0;
        let mut shorter = false;
        while at < plan.len() && trials < MOST_TRIALS {
            let mut rest = plan.clone();
            rest.drain(at..(at + chunk).min(plan.len()));
            trials += 1;
            let found = play_plan(seed, setup, &rest, false).violation;
            if found.is_some_and(|found| kind(&found) == kind_of) {
                plan = rest;
                shorter = true;
            } else {
                at += chunk;
            }
        }
        if chunk == 1 && !shorter {
            break;
        }
        chunk = (chunk / 2).max(1);
    }
    plan
}

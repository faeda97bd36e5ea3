//! One seed, one world: drawn, and played.

use super::clock::Time;
use super::flaw::Flaw;
use super::matched::formulas;
use super::plan::{self, Act};
use super::seed::Seed;
use super::setup::Setup;
use super::world::World;

/// Draws what is played: the setup, and the plan.
pub(super) fn draw(seed: Seed, flaw: Option<Flaw>) -> (Setup, Vec<(Time, Act)>) {
    let (mut setup, plan) = draw_unmatched(seed, flaw);
    setup.proof = formulas::of(seed).filter(|_| flaw.is_none());
    (setup, plan)
}

/// The same without the proof, which such a world is not compared with.
pub(super) fn draw_unmatched(seed: Seed, flaw: Option<Flaw>) -> (Setup, Vec<(Time, Act)>) {
    let mut rng = seed.rng();
    let setup = Setup::draw(&mut rng, flaw);
    let plan = plan::draw(&setup, &mut rng);
    (setup, plan)
}

/// Plays a plan, whole or in part, in the world of a seed.
pub(super) fn play_plan(seed: Seed, setup: &Setup, plan: &[(Time, Act)], loud: bool) -> World {
    let rng = Seed(seed.0 ^ 0x6a09_e667_f3bc_c908).rng();
    let mut world = World::new(setup.clone(), rng, plan, loud);
    world.settle();
    world
}

pub(super) fn play(seed: Seed, flaw: Option<Flaw>) -> World {
    let (setup, plan) = draw(seed, flaw);
    play_plan(seed, &setup, &plan, false)
}

/// Plays a world in which nothing is judged but whether its steps are those of the proof.
pub(super) fn play_matched(seed: Seed, proof: &formulas::Proof) -> World {
    let (mut setup, plan) = draw_unmatched(seed, None);
    (setup.proof, setup.only_matches) = (Some(proof.clone()), true);
    play_plan(seed, &setup, &plan, false)
}

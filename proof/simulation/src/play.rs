//! One seed, one world: drawn, and played.

use super::clock::Time;
use super::flaw::Flaw;
use super::plan::{self, Act};
use super::seed::Seed;
use super::setup::Setup;
use super::world::World;

/// Draws what is played: the setup, and the plan.
pub(super) fn draw(seed: Seed, flaw: Option<Flaw>) -> (Setup, Vec<(Time, Act)>) {
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

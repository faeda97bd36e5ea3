//! Schedules that nobody thought of: one machine or two against masters that execute what they are
//! sent, with connections that break, servers that restart without their memory, clocks that
//! differ, and commands that arrive after all.

mod aftermath;
mod client;
mod events;
mod invariants;
mod master;
mod scripts;
mod setup;
mod world;

use scripts::Defect;
use setup::{Flaw, Setup};
use std::hash::{BuildHasher, RandomState};
use world::World;

/// `SplitMix64`: the same numbers from the same seed.
struct Rng(u64);

impl Rng {
    const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    const fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }
}

/// Prints what to run again, and what happened, if the schedule fails.
struct Telltale<'a> {
    seed: u64,
    world: &'a mut World,
    loud: bool,
}

impl Drop for Telltale<'_> {
    fn drop(&mut self) {
        let violated = self.loud && self.world.violation.is_some();
        if violated || std::thread::panicking() {
            eprintln!("QUORUMLOCK_SEED={:#x} runs it again:", self.seed);
            self.world.log.iter().for_each(|line| eprintln!("  {line}"));
        }
    }
}

/// One schedule; what must not be and was, if something was.
fn play(seed: u64, flaw: Option<Flaw>) -> Result<(), String> {
    let mut rng = Rng(seed);
    let setup = Setup::by_chance(&mut rng, flaw);
    let mut world = World::new(setup, &mut rng);
    let steps = 40 + rng.below(500);
    let told = Telltale { seed, world: &mut world, loud: flaw.is_none() };
    if rng.below(5) != 0 {
        (0..4).for_each(|_| told.world.heal());
    }
    for _ in 0..steps {
        told.world.step(&mut rng);
        if let Some(violation) = &told.world.violation {
            return Err(violation.clone());
        }
    }
    told.world.settle(&mut rng);
    told.world.violation.take().map_or(Ok(()), Err)
}

/// A number from the environment, decimal or hex.
fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    let number = match text.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16),
        None if text == "random" => Ok(RandomState::new().hash_one("seed")),
        None => text.parse(),
    };
    Some(number.unwrap_or_else(|_| panic!("{variable}={text} is no number")))
}

/// `QUORUMLOCK_SEED` is the first schedule; `QUORUMLOCK_SCHEDULES` is how many are played, 100
/// unless told (a few seconds of processor time): `=10000` after a change.
#[test]
fn any_schedule_has_one_holder_at_a_time_and_leaves_nothing_behind() {
    let first = number("QUORUMLOCK_SEED").unwrap_or(0x5eed);
    let schedules = number("QUORUMLOCK_SCHEDULES").unwrap_or(100);
    eprintln!("QUORUMLOCK_SEED={first:#x}");
    for schedule in 0..schedules {
        let told = play(first.wrapping_add(schedule), None);
        assert_eq!(told, Ok(()));
    }
}

/// What must not be is seen where it can be. The seeds are always the same.
#[test]
fn a_world_with_a_flaw_is_found_out() {
    let flaws = [
        (Flaw::NoGuard, "both hold"),
        (Flaw::ListsApart, "both hold"),
        (Flaw::NoDelay, "closed for"),
        (Flaw::Master(Defect::ForgetsFences), "not above"),
        (Flaw::Master(Defect::KillsNobody), "keeps"),
    ];
    for (flaw, expected) in flaws {
        let told = |seed| play(seed, Some(flaw)).err();
        let found = (0..400).filter_map(told).any(|violation| violation.contains(expected));
        assert!(found, "{flaw:?} was not found out");
    }
}

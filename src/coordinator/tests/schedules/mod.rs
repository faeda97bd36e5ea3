//! Schedules that nobody thought of: the machine against masters that execute what they are sent,
//! with connections that break, servers that restart, and commands that arrive after all.

mod aftermath;
mod events;
mod master;
mod world;

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
}

impl Drop for Telltale<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("QUORUMLOCK_SEED={:#x} runs it again:", self.seed);
            self.world.log.iter().for_each(|line| eprintln!("  {line}"));
        }
    }
}

fn play(seed: u64) {
    let mut rng = Rng(seed);
    let mut world = World::new([1, 2, 3, 3, 3, 4, 5][rng.below(7)]);
    let steps = 40 + rng.below(300);
    let told = Telltale { seed, world: &mut world };
    if rng.below(5) != 0 {
        (0..4).for_each(|_| told.world.heal());
    }
    for _ in 0..steps {
        told.world.step(&mut rng);
    }
    told.world.settle(&mut rng);
}

/// A number from the environment, decimal or hex.
fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    let number = match text.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16),
        None => text.parse(),
    };
    Some(number.unwrap_or_else(|_| panic!("{variable}={text} is no number")))
}

/// `QUORUMLOCK_SEED` is the first schedule, else chance picks it; `QUORUMLOCK_SCHEDULES` is how
/// many are played, 300 unless told (about a second of processor time): `=10000` after a change.
#[test]
fn any_schedule_has_one_holder_at_a_time_and_leaves_nothing_behind() {
    let first = number("QUORUMLOCK_SEED").unwrap_or_else(|| RandomState::new().hash_one("seed"));
    let schedules = number("QUORUMLOCK_SCHEDULES").unwrap_or(300);
    eprintln!("QUORUMLOCK_SEED={first:#x}");
    (0..schedules).for_each(|schedule| play(first.wrapping_add(schedule)));
}

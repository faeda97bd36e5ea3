//! Random tests that can be repeated: one printed seed, one small generator.

use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::ops::Range;
use std::time::Duration;

/// The starting point of a random test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seed(pub(crate) u64);

impl Seed {
    /// Reads the number in the environment variable (decimal, or hex after `0x`), or picks one at
    /// random if the variable is `random`. Without the variable the number is always the same: if a
    /// run of all tests fails, the cause is then the change under test, and not luck.
    ///
    /// Prints the line that repeats the run; the test harness shows it when the test fails.
    pub(crate) fn from_env(variable: &str) -> Self {
        let seed = match std::env::var(variable).ok().as_deref() {
            None => Self(0x5eed),
            Some("random") => Self(RandomState::new().hash_one("seed")),
            Some(text) => Self::parse(text)
                .unwrap_or_else(|| panic!("{variable}={text} is not a seed: a number, or random")),
        };
        eprintln!("{variable}={seed}");
        seed
    }

    pub(crate) fn parse(text: &str) -> Option<Self> {
        let number = match text.strip_prefix("0x") {
            Some(hex) => u64::from_str_radix(hex, 16),
            None => text.parse(),
        };
        number.ok().map(Self)
    }

    pub(crate) const fn rng(self) -> Rng {
        Rng { state: self.0 }
    }
}

impl fmt::Display for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

/// `SplitMix64`: the same numbers from the same seed, on every machine. Good enough for tests.
#[derive(Clone, Debug)]
pub(crate) struct Rng {
    state: u64,
}

impl Rng {
    pub(crate) const fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number in the range, which must not be empty.
    pub(crate) fn within(&mut self, range: Range<u64>) -> u64 {
        assert!(!range.is_empty(), "nothing to choose from in {range:?}");
        range.start + self.next() % (range.end - range.start)
    }

    /// Returns true in `percent` of a hundred cases.
    pub(crate) fn chance(&mut self, percent: u64) -> bool {
        self.within(0..100) < percent
    }

    /// Returns one of the items; there must be at least one.
    pub(crate) fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.within(0..items.len() as u64) as usize]
    }

    /// Returns a duration in the range, in whole microseconds.
    pub(crate) fn duration(&mut self, range: Range<Duration>) -> Duration {
        let micros = |time: Duration| u64::try_from(time.as_micros()).expect("a sane duration");
        Duration::from_micros(self.within(micros(range.start)..micros(range.end)))
    }

    /// Puts the items into a random order.
    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.within(0..last as u64 + 1) as usize);
        }
    }

    /// Returns a separate generator for a task, so that tasks don't disturb each other's numbers.
    pub(crate) const fn fork(&mut self) -> Self {
        Self { state: self.next() }
    }
}

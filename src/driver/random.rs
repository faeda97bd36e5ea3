//! Randomness from the operating system, drawn anew each time: a generator of our own would
//! repeat itself after a fork, and two processes would share their tokens.

use crate::coordinator::Random;

pub(crate) struct OsRandom;

impl Random for OsRandom {
    fn bits(&mut self) -> Option<u128> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).ok()?;
        Some(u128::from_le_bytes(bytes))
    }
}

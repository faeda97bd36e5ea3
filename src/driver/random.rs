//! Randomness from the operating system, which is not kept from one poll of the driver to the
//! next. A generator of our own would repeat itself after a fork, and two processes would share
//! their tokens.

use quorumlock_core::coordinator::Random;

/// Number of bytes that the kernel gives without interruption (getrandom(2)).
const MOST: usize = 256;

/// Size of the first draw of a turn: one lock at a time needs no more.
const LEAST: usize = 32;

const NUMBER: usize = size_of::<u128>();

/// A source of randomness. One system call serves all, or nearly all, requests in a turn of the
/// driver.
pub(crate) struct OsRandom {
    drawn: [u8; MOST],
    /// Number of bytes that have not been given out yet: the first ones of `drawn`.
    left: usize,
    /// Something was drawn in this turn.
    draws_more: bool,
}

impl OsRandom {
    pub(crate) const fn new() -> Self {
        Self { drawn: [0; MOST], left: 0, draws_more: false }
    }
}

impl Random for OsRandom {
    fn bits(&mut self) -> Option<u128> {
        if self.left < NUMBER {
            let len = if self.draws_more { MOST } else { LEAST };
            getrandom::fill(self.drawn.get_mut(..len)?).ok()?;
            (self.left, self.draws_more) = (len, true);
        }
        let left = self.left.checked_sub(NUMBER)?;
        let bytes = self.drawn.get(left..self.left)?.try_into().ok()?;
        self.left = left;
        Some(u128::from_le_bytes(bytes))
    }

    fn forget(&mut self) {
        (self.left, self.draws_more) = (0, false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn no_number_is_given_twice_and_none_is_left_of_an_earlier_turn() {
        let mut random = OsRandom::new();
        let mut given = BTreeSet::new();
        for _turn in 0..3 {
            assert_eq!(random.left, 0);
            for _ in 0..100 {
                assert!(given.insert(random.bits().expect("the system has randomness")));
            }
            random.forget();
        }
    }

    #[test]
    fn one_number_costs_a_small_draw_and_many_cost_few_large_ones() {
        let mut random = OsRandom::new();
        random.bits();
        assert_eq!(random.left, LEAST - NUMBER);
        (0..2).for_each(|_| _ = random.bits());
        assert_eq!(random.left, MOST - NUMBER);
        random.forget();
        random.bits();
        assert_eq!(random.left, LEAST - NUMBER, "each turn begins small");
    }
}

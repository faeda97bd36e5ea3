//! What a seed draws: always the same.

/// Numbers that are determined by a seed (wyrand).
pub(super) struct Draw(pub(super) u64);

impl Draw {
    /// Returns a number below `bound`, which is not zero.
    pub(super) const fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0xa076_1d64_78bd_642f);
        let product = self.0 as u128 * (self.0 ^ 0xe703_7ed1_a0b4_28db) as u128;
        ((product >> 64) as u64 ^ product as u64) % bound
    }

    /// Returns four numbers that rise, of a size at which text, floats or 32 bits go wrong.
    pub(super) fn tokens(&mut self) -> [u64; 4] {
        let sizes = [1, 8, 98, (1 << 31) - 3, 1_795_158_604_154_900, (1 << 53) - 4_000];
        let mut last = sizes[self.below(6) as usize];
        [(); 4].map(|()| {
            last += 1 + self.below(2) * self.below(900);
            last
        })
    }
}

//! What a seed draws: always the same.

/// Numbers that are determined by a seed (SplitMix64).
pub(super) struct Draw(u64);

impl Draw {
    pub(super) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `bound`, which is small and not zero.
    pub(super) const fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    /// Returns a number of steps, at least one. Writes take two steps, or thirty: each order of
    /// magnitude is as likely as the next.
    pub(super) const fn steps(&mut self) -> u64 {
        let most = 1 << self.below(6);
        1 + self.below(most)
    }
}

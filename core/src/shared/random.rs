//! Randomness that the machine asks for: it has none of its own.

/// A source of random numbers.
pub trait Random: Send {
    /// Returns 128 bits that cannot be guessed or repeated; `None` if none are available.
    fn bits(&mut self) -> Option<u128>;

    /// Discards what was drawn before: none of it may be returned after this.
    fn forget(&mut self) {}

    /// Returns a number for jitter, where a bad number only costs time.
    fn jitter(&mut self) -> u64 {
        self.bits().map_or(u64::MAX / 2, |bits| (bits >> 64) as u64)
    }
}

//! Randomness as the machine asks for it: it has none of its own.

/// Where random numbers come from.
pub(crate) trait Random: Send {
    /// 128 bits that nobody can guess or repeat; `None` if there are none to be had.
    fn bits(&mut self) -> Option<u128>;

    /// Nothing that was drawn before is to be given out after this.
    fn forget(&mut self) {}

    /// For jitter, where a bad number only costs time.
    fn jitter(&mut self) -> u64 {
        self.bits().map_or(u64::MAX / 2, |bits| (bits >> 64) as u64)
    }
}

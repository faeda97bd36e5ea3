//! A digest of states in 64 bits.

use std::hash::{Hash, Hasher};

/// Returns the same digest for equal values, and different ones for different values, except by
/// chance. Do not rely on it where an adversary chooses the values.
pub(crate) fn digest(value: impl Hash) -> u64 {
    let mut digest = Digest::default();
    value.hash(&mut digest);
    digest.fold();
    digest.fold();
    digest.sum
}

/// Folds bytes, eight at a time.
#[derive(Default)]
struct Digest {
    sum: u64,
    word: u64,
    filled: u32,
}

impl Digest {
    fn fold(&mut self) {
        // Each step can be undone, so two different single words never collide.
        let mut sum = (self.sum ^ self.word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        sum = (sum ^ (sum >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
        self.sum = (sum ^ (sum >> 29)).rotate_left(17);
        self.word = 0;
        self.filled = 0;
    }
}

impl Hasher for Digest {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u8(*byte));
    }

    fn write_u8(&mut self, byte: u8) {
        self.word = self.word << 8 | u64::from(byte);
        self.filled += 1;
        if self.filled == 8 {
            self.fold();
        }
    }

    /// The length of a slice, which is the same in every state of a run.
    fn write_usize(&mut self, _: usize) {}

    /// The place of a variant.
    fn write_isize(&mut self, place: isize) {
        self.write_u8(u8::try_from(place).unwrap_or(u8::MAX));
    }

    fn finish(&self) -> u64 {
        self.sum
    }
}

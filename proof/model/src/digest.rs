//! A digest of bytes in 64 bits.

/// Folds bytes, eight at a time. Do not rely on it where an adversary chooses the bytes.
#[derive(Default)]
pub(crate) struct Digest {
    sum: u64,
    word: u64,
    filled: u32,
}

impl Digest {
    pub(crate) fn byte(&mut self, byte: u8) {
        self.word = self.word << 8 | u64::from(byte);
        self.filled += 1;
        if self.filled == 8 {
            self.fold();
        }
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.byte(*byte);
        }
    }

    pub(crate) fn end(mut self) -> u64 {
        self.fold();
        self.fold();
        self.sum
    }

    fn fold(&mut self) {
        // Each step can be undone, so two different single words never collide.
        let mut sum = (self.sum ^ self.word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        sum = (sum ^ (sum >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
        self.sum = (sum ^ (sum >> 29)).rotate_left(17);
        self.word = 0;
        self.filled = 0;
    }
}

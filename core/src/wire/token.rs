//! The token under the keys of an attempt.

use std::fmt::{self, Display};

/// A token that no other client has, and that is never used again: 128 random bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Token {
    /// Bytes, because an integer of this size would have to be aligned to 16.
    random: [u8; 16],
}

impl Token {
    pub const DIGITS: usize = 32;

    pub const fn new(random: u128) -> Self {
        Self { random: random.to_be_bytes() }
    }

    /// Returns all of its digits: the same as `{:032x}`, at a twentieth of the cost.
    pub fn digits(&self) -> [u8; Self::DIGITS] {
        let digit = |nibble: u8| b"0123456789abcdef"[usize::from(nibble & 0xf)];
        let mut digits = [0; Self::DIGITS];
        for (pair, byte) in digits.chunks_exact_mut(2).zip(self.random) {
            pair.copy_from_slice(&[digit(byte >> 4), digit(byte)]);
        }
        digits
    }

    /// Returns some of its bits: two tokens hardly ever share them.
    pub const fn place(&self) -> u16 {
        let [first, second, ..] = self.random;
        u16::from_be_bytes([first, second])
    }
}

impl Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", u128::from_be_bytes(self.random))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_has_all_its_digits() {
        for random in [0, 1, 0xfedc_ba98_7654_3210_0123_4567_89ab_cdef, u128::MAX] {
            let token = Token::new(random);
            assert_eq!(token.digits(), *format!("{random:032x}").as_bytes());
            assert_eq!(token.to_string().as_bytes(), token.digits());
        }
    }
}

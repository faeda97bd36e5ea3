//! What stands under the keys of an attempt.

use std::fmt::{self, Display};

/// Nobody else's, and never used again: 128 random bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Token {
    /// Bytes: a number of this size would have to stand at a multiple of 16.
    random: [u8; 16],
}

impl Token {
    pub(crate) const DIGITS: usize = 32;

    pub(crate) const fn new(random: u128) -> Self {
        Self { random: random.to_be_bytes() }
    }

    /// All of its digits: what `{:032x}` gives, at a twentieth of its price.
    pub(crate) fn digits(&self) -> [u8; Self::DIGITS] {
        let digit = |nibble: u8| b"0123456789abcdef"[usize::from(nibble & 0xf)];
        let mut digits = [0; Self::DIGITS];
        for (pair, byte) in digits.chunks_exact_mut(2).zip(self.random) {
            pair.copy_from_slice(&[digit(byte >> 4), digit(byte)]);
        }
        digits
    }

    /// Some of its bits: two tokens hardly ever have the same.
    pub(crate) const fn place(&self) -> u16 {
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

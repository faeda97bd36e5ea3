//! The token under the keys of an attempt.

use std::fmt::{self, Display};

/// The mailbox of a process: 64 random bits, in which all of its tokens begin. So the holder of a key and a
/// waiter in a queue name the channel on which a message reaches them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Mailbox(u64);

impl Mailbox {
    const DIGITS: usize = 16;

    /// Draws a mailbox for a process.
    pub const fn new(random: u128) -> Self {
        Self(Token::new(random).mailbox().0)
    }

    /// Reads the mailbox in which a token, or the name of a waiter, begins.
    pub fn at_the_beginning_of(name: &str) -> Option<Self> {
        let digits = name.get(..Self::DIGITS)?;
        let is_written = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        u64::from_str_radix(digits, 16).ok().filter(|_| is_written).map(Self)
    }
}

impl Display for Mailbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// A token that no other client has, and that is never used again: the mailbox of its process, and 64
/// random bits of its own.
///
/// Two processes would have to draw all 128 bits alike, and one process only the second half. Its new token
/// has to differ there from those that hold the same key now, or may still be set or deleted under
/// it: all others are settled, and may come again without an effect. A process begins no attempt at a master
/// while more than 2^17 of its commands there have no answer (`LARGEST_LEDGER`, `LARGEST_QUEUE`). So even
/// if all of these were about one key, an attempt would repeat one of them with a chance of 2^-47 a master.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Token {
    /// Bytes, because an integer of this size would have to be aligned to 16.
    bytes: [u8; 16],
}

impl Token {
    pub const DIGITS: usize = 32;

    /// Returns the token with these bits.
    pub const fn new(bits: u128) -> Self {
        Self { bytes: bits.to_be_bytes() }
    }

    /// Returns the token of a process with this mailbox, with the lower half of freshly drawn bits.
    pub const fn drawn(mailbox: Mailbox, random: u128) -> Self {
        Self::new(((mailbox.0 as u128) << 64) | (random as u64 as u128))
    }

    /// Returns the mailbox of the process that has drawn it.
    pub const fn mailbox(&self) -> Mailbox {
        Mailbox((u128::from_be_bytes(self.bytes) >> 64) as u64)
    }

    /// Returns all of its digits: the same as `{:032x}`, at a twentieth of the cost.
    pub fn digits(&self) -> [u8; Self::DIGITS] {
        let digit = |nibble: u8| b"0123456789abcdef"[usize::from(nibble & 0xf)];
        let mut digits = [0; Self::DIGITS];
        for (pair, byte) in digits.chunks_exact_mut(2).zip(self.bytes) {
            pair.copy_from_slice(&[digit(byte >> 4), digit(byte)]);
        }
        digits
    }

    /// Returns some of its own bits: two tokens hardly ever share them.
    pub const fn place(&self) -> u16 {
        let [.., first, second, _, _, _, _, _, _] = self.bytes;
        u16::from_be_bytes([first, second])
    }
}

/// Without its digits: any reader of them owns the lock.
impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token")
    }
}

impl Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", u128::from_be_bytes(self.bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_begins_with_its_mailbox_and_ends_with_bits_of_its_own() {
        let mailbox = Mailbox::new(0x0123_4567_89ab_cdef_ffff_ffff_ffff_ffff);
        let token = Token::drawn(mailbox, 0xffff_ffff_ffff_ffff_fedc_ba98_7654_3210);
        assert_eq!(mailbox.to_string(), "0123456789abcdef");
        assert_eq!(token.to_string(), "0123456789abcdeffedcba9876543210");
        assert_eq!((token.mailbox(), token.place()), (mailbox, 0xfedc));
        assert_eq!(Mailbox::at_the_beginning_of(&token.to_string()), Some(mailbox));
        for name in
            ["", "0123456789abcde", "+123456789abcdef", "0123456789abcdeg", "0123456789abcde\u{e9}"]
        {
            assert_eq!(Mailbox::at_the_beginning_of(name), None, "{name}");
        }
    }

    #[test]
    fn a_token_has_all_its_digits() {
        for random in [0, 1, 0xfedc_ba98_7654_3210_0123_4567_89ab_cdef, u128::MAX] {
            let token = Token::new(random);
            assert_eq!(token.digits(), *format!("{random:032x}").as_bytes());
            assert_eq!(token.to_string().as_bytes(), token.digits());
        }
    }
}

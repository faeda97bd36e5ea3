//! A token and a content in one piece, which a file or an object has: check and write are one step
//! only if both are replaced together.

use crate::{FencingToken, InvalidToken};

const BEFORE: &[u8] = b"fencing-token ";
const DIGITS: usize = 16;
/// The length of the line with the token.
pub(crate) const HEADER: usize = BEFORE.len() + DIGITS + 1;

/// Returns a line with the token, and the content after it.
///
/// ```
/// let token = quorumlock_fencing::FencingToken::MIN;
/// let sealed = quorumlock_fencing::envelope::seal(token, b"paid");
/// assert_eq!(sealed, b"fencing-token 0000000000000001\npaid");
/// ```
#[must_use]
pub fn seal(token: FencingToken, content: &[u8]) -> Vec<u8> {
    [BEFORE, format!("{token:0width$}\n", width = DIGITS).as_bytes(), content].concat()
}

/// Returns the token and the content of what [`seal`] has returned: for readers without a
/// lock.
///
/// # Errors
///
/// [`InvalidToken`] if the line is missing: a writer without a token was here.
pub fn open(sealed: &[u8]) -> Result<(FencingToken, &[u8]), InvalidToken> {
    let header = sealed.split_at_checked(HEADER).and_then(|(header, content)| {
        let digits = header.strip_prefix(BEFORE)?.strip_suffix(b"\n")?;
        Some((std::str::from_utf8(digits).ok()?, content))
    });
    let none =
        InvalidToken::new("missing", "its first line is not there; was it written unfenced?");
    let (digits, content) = header.ok_or(none)?;
    Ok((digits.parse()?, content))
}

#[cfg(test)]
mod tests {
    use super::{HEADER, open, seal};
    use crate::FencingToken;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_was_sealed_is_opened_and_nothing_else(
            number in 1..=9_007_199_254_740_991_u64, content in prop::collection::vec(any::<u8>(), 0..40),
            at in 0..HEADER, byte in any::<u8>(),
        ) {
            let token = FencingToken::try_from(number)?;
            let mut sealed = seal(token, &content);
            prop_assert_eq!(open(&sealed)?, (token, content.as_slice()));
            prop_assert!(open(&sealed[..at]).is_err(), "a part of the line");
            // Of the line, any changed byte is noticed, but for a digit in place of a digit.
            let both_digits = byte.is_ascii_digit() && sealed[at].is_ascii_digit();
            let same = std::mem::replace(&mut sealed[at], byte) == byte;
            prop_assert!(same || both_digits || open(&sealed).is_err());
        }
    }
}

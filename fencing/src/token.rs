//! The number that goes with each win of a fenced lock, for the protected resource to check.

use super::InvalidToken;
use std::fmt;
use std::num::NonZeroU64;
use std::str::FromStr;

/// A number greater than that of every earlier win of the same resource.
///
/// Send it along with each write, and let the resource refuse a number smaller than the greatest
/// that it has seen: [the crate's page](crate) shows how. It ranges from 1 to 2^53 - 1, so it
/// survives JSON, JavaScript, Lua and PostgreSQL's `bigint`. Tokens of *different* resources say
/// nothing about each other.
///
/// It travels as a number, or as the decimal string that [`Display`](fmt::Display) writes. It is
/// read back with [`FromStr`] or [`TryFrom`]:
///
/// ```
/// use quorumlock_fencing::FencingToken;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let token: FencingToken = "1795158604154900".parse()?;
/// assert_eq!(token.to_string(), "1795158604154900");
/// assert_eq!(FencingToken::try_from(token.as_i64())?, token); // bigint
/// assert!(token < FencingToken::try_from(1_795_158_604_154_901_u64)?);
///
/// // Always sixteen digits: strings sort in the order of the numbers.
/// assert_eq!(format!("{:016}", FencingToken::try_from(42_u64)?), "0000000000000042");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FencingToken(NonZeroU64);

impl FencingToken {
    /// 2^53 - 1.
    const GREATEST: u64 = (1 << 53) - 1;

    /// The smallest token: 1.
    pub const MIN: Self = Self(NonZeroU64::MIN);

    /// For quorumlock alone, whose masters grant no number above the greatest token.
    #[doc(hidden)]
    #[must_use]
    pub const fn of_win(number: NonZeroU64) -> Self {
        Self(number)
    }

    /// Returns the number, below 2^53. Of a quorumlock, it is microseconds since 1970 or a little above.
    #[must_use]
    pub const fn as_u64(self) -> u64 {
        self.0.get()
    }

    /// Returns the number, for databases whose integers have a sign.
    #[must_use]
    pub const fn as_i64(self) -> i64 {
        self.as_u64().cast_signed()
    }
}

impl fmt::Display for FencingToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl TryFrom<u64> for FencingToken {
    type Error = InvalidToken;

    fn try_from(number: u64) -> Result<Self, InvalidToken> {
        match NonZeroU64::new(number) {
            None => Err(InvalidToken::new(number, NO_WIN)),
            Some(token) if number <= Self::GREATEST => Ok(Self(token)),
            Some(_) => Err(InvalidToken::new(number, TOO_GREAT)),
        }
    }
}

impl TryFrom<i64> for FencingToken {
    type Error = InvalidToken;

    fn try_from(number: i64) -> Result<Self, InvalidToken> {
        let positive = u64::try_from(number);
        positive.map_err(|_| InvalidToken::new(number, SIGNED))?.try_into()
    }
}

/// Accepts digits only; leading zeros are allowed.
impl FromStr for FencingToken {
    type Err = InvalidToken;

    fn from_str(text: &str) -> Result<Self, InvalidToken> {
        if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(InvalidToken::new(excerpt(text), NOT_DECIMAL));
        }
        let number: Result<u64, _> = text.parse();
        number.map_err(|_| InvalidToken::new(excerpt(text), TOO_GREAT))?.try_into()
    }
}

const NO_WIN: &str =
    "no win has this number; was the field left empty? Send the token of the guard";
const SIGNED: &str = "a token has no sign; send the token of the guard as it is";
const TOO_GREAT: &str =
    "a token is at most 9007199254740991 (2^53 - 1); send the token of the guard as it is";
const NOT_DECIMAL: &str = "not a decimal number; send the token's own text, digits only";

/// Returns the text in quotes, cut if it is long: it may be anything.
fn excerpt(text: &str) -> String {
    const LONGEST: usize = 32;
    let mut start: String = text.chars().take(LONGEST).collect();
    if start.len() < text.len() {
        start.push('…');
    }
    format!("{start:?}")
}

#[cfg(test)]
mod tests {
    use super::FencingToken;
    use proptest::prelude::*;

    /// The received text, and the number, or the message of the error.
    const TEXTS: [(&str, Result<u64, &str>); 15] = [
        ("1", Ok(1)),
        ("0000000000000042", Ok(42)),
        ("9007199254740991", Ok(9_007_199_254_740_991)),
        ("9007199254740992", Err("fencing token 9007199254740992: a token is at most")),
        ("18446744073709551616", Err("\"18446744073709551616\": a token is at most")),
        ("0", Err("fencing token 0: no win has this number")),
        ("0000", Err("fencing token 0: no win has this number")),
        ("", Err("fencing token \"\": not a decimal number")),
        ("+5", Err("\"+5\": not a decimal number")),
        ("-5", Err("\"-5\": not a decimal number")),
        (" 5", Err("\" 5\": not a decimal number")),
        ("5\r\n", Err("\"5\\r\\n\": not a decimal number")),
        ("1.7951586041549e+15", Err("digits only")),
        ("٣", Err("digits only")),
        ("ffffffffffffffffffffffffffffffffffff", Err("\"ffffffffffffffffffffffffffffffff…\"")),
    ];

    #[test]
    fn a_text_is_a_token_or_an_error_that_says_why() {
        for (text, expected) in TEXTS {
            match (text.parse::<FencingToken>(), expected) {
                (Ok(token), Ok(number)) => assert_eq!(token.as_u64(), number, "{text:?}"),
                (Err(error), Err(part)) => {
                    let error = error.to_string();
                    assert!(error.contains(part), "{text:?}: {error}");
                }
                (parsed, expected) => panic!("{text:?}: {parsed:?}, not {expected:?}"),
            }
        }
    }

    #[test]
    fn a_number_with_a_sign_is_refused() {
        for number in [-1, i64::MIN] {
            let error = FencingToken::try_from(number).unwrap_err().to_string();
            assert!(error.starts_with(&format!("fencing token {number}: a token has no sign")));
        }
    }

    proptest! {
        #[test]
        fn a_token_comes_back_the_same_whatever_way_it_went(
            number in 1..=9_007_199_254_740_991_u64, other in 1..=9_007_199_254_740_991_u64,
        ) {
            let token = FencingToken::try_from(number)?;
            prop_assert_eq!(token.to_string().parse::<FencingToken>()?, token);
            prop_assert_eq!(format!("{token:016}").parse::<FencingToken>()?, token);
            prop_assert_eq!(FencingToken::try_from(token.as_u64())?, token);
            prop_assert_eq!(FencingToken::try_from(token.as_i64())?, token);
            // As JavaScript and Lua would represent it.
            prop_assert_eq!(token.as_u64() as f64 as u64, number);
            let other = FencingToken::try_from(other)?;
            prop_assert_eq!(token < other, format!("{token:016}") < format!("{other:016}"));
            prop_assert_eq!(token < other, number < other.as_u64());
        }
    }
}

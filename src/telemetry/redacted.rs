//! Text of servers and of the network in a form that may be logged: one line, without a complete
//! token.
//!
//! A server's error can repeat what it was sent, and a key is deleted by its token.

use crate::report::{NodeReport, OneLine};
use std::fmt;

/// The number of digits of a token that are shown, as in `f3a9c1…`.
const SHOWN: usize = 6;

/// The length from which a row of hexadecimal digits is a token, or long enough to be one.
const LENGTH: usize = 32;

/// A wrapper that displays its content in one line, with tokens cut short.
pub(super) struct Redacted<T>(pub(super) T);

impl<T: fmt::Display> fmt::Display for Redacted<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_no_digit = |letter: char| !letter.is_ascii_hexdigit();
        for row in OneLine(&self.0).to_string().split_inclusive(is_no_digit) {
            let digits = row.trim_end_matches(is_no_digit).len();
            match digits {
                LENGTH.. => write!(f, "{}…{}", &row[..SHOWN], &row[digits..])?,
                _ => f.write_str(row)?,
            }
        }
        Ok(())
    }
}

/// The answers of all nodes, in one line.
pub(super) struct Votes<'a>(pub(super) &'a [NodeReport]);

impl fmt::Display for Votes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().enumerate().try_for_each(|(place, report)| {
            let between = if place == 0 { "" } else { "; " };
            write!(f, "{between}{}", Redacted(report))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_shortened_anywhere_and_other_text_is_unchanged() {
        let token = "0123456789abcdefFEDCBA9876543210";
        let text = format!("ERR {token}, '{token}:label' and {token}{token}: 10.0.0.1:6379 äß");
        let expected = "ERR 012345…, '012345…:label' and 012345…: 10.0.0.1:6379 äß";
        assert_eq!(Redacted(text).to_string(), expected);
        assert_eq!(Redacted(&token[1..]).to_string(), token[1..], "a digit less is none");
    }

    #[test]
    fn a_token_that_comes_in_pieces_is_cut_short_as_well() {
        let (head, tail) = ("0123456789abcdef", "0123456789abcdef");
        assert_eq!(Redacted(format_args!("{head}{tail}")).to_string(), "012345…");
    }
}

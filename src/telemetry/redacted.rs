//! Text of servers and of the network in a form that may be logged: one line, without a complete
//! token.
//!
//! A server's error can repeat what it was sent, and a key is deleted by its token.

use crate::report::{NodeReport, OneLine};
use std::fmt::{self, Write};

/// The number of digits of a token that are shown, as in `f3a9c1…`.
const SHOWN: usize = 6;

/// The length from which a row of hexadecimal digits is a token, or long enough to be one.
const LENGTH: usize = 32;

/// A wrapper that displays its content in one line, with tokens cut short.
pub(super) struct Redacted<T>(pub(super) T);

impl<T: fmt::Display> fmt::Display for Redacted<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut cut = Cut { out: f, row: String::new() };
        write!(cut, "{}", OneLine(&self.0))?;
        cut.end_row()
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

struct Cut<'a, 'b> {
    out: &'a mut fmt::Formatter<'b>,
    /// The digits since the last character that is not one.
    row: String,
}

impl Cut<'_, '_> {
    fn end_row(&mut self) -> fmt::Result {
        if self.row.len() >= LENGTH {
            self.row.truncate(SHOWN);
            self.row.push('…');
        }
        self.out.write_str(&self.row)?;
        self.row.clear();
        Ok(())
    }
}

impl Write for Cut<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for letter in text.chars() {
            if letter.is_ascii_hexdigit() {
                self.row.push(letter);
            } else {
                self.end_row()?;
                self.out.write_char(letter)?;
            }
        }
        Ok(())
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

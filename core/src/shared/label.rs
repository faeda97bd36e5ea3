//! What a holder writes behind its token: a label, and in an election its term.
//!
//! ```text
//! 00112233445566778899aabbccddeeff                                   the token alone
//! 00112233445566778899aabbccddeeff:worker-7                          with a label
//! 00112233445566778899aabbccddeeff:10.0.0.7:8080;term=1795158604154900    a candidate that has won
//! quorumlock:done:00112233445566778899aabbccddeeff:worker-7          its work has ended well
//! ```
//!
//! The term is behind the last marker. No label may end like one: its holder would be taken for a
//! leader, of a term that no later one exceeds.

use crate::quorum::fence;
use crate::wire::{DONE, Mailbox, Token};
use std::num::NonZeroU64;

/// The marker of a term.
pub(crate) const TERM: &str = ";term=";

/// What follows the tokens of an acquire, in place of the label of the settings.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Label {
    /// A name for clients that inspect the lock; an empty one leaves the token alone.
    Holder(Box<str>),
    /// The value of a candidate. The ballot of the attempt follows it, as the term.
    Candidate(Box<str>),
}

impl Label {
    pub fn text(&self) -> &str {
        let (Self::Holder(text) | Self::Candidate(text)) = self;
        text
    }

    pub const fn is_candidate(&self) -> bool {
        matches!(self, Self::Candidate(_))
    }
}

/// Returns whether `label` ends like a term.
pub fn looks_like_a_term(label: &str) -> bool {
    split_term(label).1.is_some()
}

/// What a value says of its holder.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Owner<'a> {
    /// That of the process that has drawn the token.
    pub mailbox: Mailbox,
    /// Behind the token, without the term.
    pub label: Option<&'a str>,
    /// The term of a leader.
    pub term: Option<NonZeroU64>,
    /// Its work has ended well, and only keeps the key closed.
    pub has_ended: bool,
}

impl<'a> Owner<'a> {
    /// Reads a value; `None` if it does not begin with a token as this crate draws it.
    pub fn of(value: &'a str) -> Option<Self> {
        let (has_ended, value) =
            value.strip_prefix(DONE).map_or((false, value), |value| (true, value));
        let (token, behind) = match value.split_once(':') {
            Some((token, behind)) => (token, Some(behind)),
            None => (value, None),
        };
        if token.len() != Token::DIGITS || !token.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        let mailbox = Mailbox::at_the_beginning_of(token)?;
        let (label, term) = behind.map(split_term).unzip();
        Some(Self { mailbox, label, term: term.flatten(), has_ended })
    }
}

/// Splits at the last marker, if a term is behind it.
fn split_term(text: &str) -> (&str, Option<NonZeroU64>) {
    let split = text.rsplit_once(TERM).and_then(|(label, digits)| Some((label, term(digits)?)));
    split.map_or((text, None), |(label, term)| (label, Some(term)))
}

/// Reads a ballot as it is written: decimal digits, of which the first is no zero.
fn term(digits: &str) -> Option<NonZeroU64> {
    let is_written = digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.starts_with('0');
    let number: u64 = digits.parse().ok().filter(|_| is_written)?;
    NonZeroU64::new(number).filter(|number| number.get() <= fence::GREATEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: &str = "0123456789abcdef0123456789abcdef";

    fn read(value: &str) -> Option<(Option<&str>, Option<u64>)> {
        Owner::of(value).map(|owner| (owner.label, owner.term.map(NonZeroU64::get)))
    }

    #[test]
    fn a_value_is_read_at_its_first_colon_and_its_last_marker() {
        for (behind, expected) in [
            ("", (None, None)),
            (":worker:7", (Some("worker:7"), None)),
            (":;term=7", (Some(""), Some(7))),
            (
                ":10.0.0.7:8080;term=1795158604154900",
                (Some("10.0.0.7:8080"), Some(1_795_158_604_154_900)),
            ),
            (":x;term=99;term=7", (Some("x;term=99"), Some(7))),
            (":x;term=99;term=", (Some("x;term=99;term="), None)),
            (":x;term=07", (Some("x;term=07"), None)),
            (":x;term=+7", (Some("x;term=+7"), None)),
            (":x;term=0", (Some("x;term=0"), None)),
            (":x;term=9007199254740991", (Some("x"), Some(fence::GREATEST))),
            (":x;term=9007199254740992", (Some("x;term=9007199254740992"), None)),
            (":x;term=99999999999999999999", (Some("x;term=99999999999999999999"), None)),
        ] {
            let value = format!("{TOKEN}{behind}");
            assert_eq!(read(&value), Some(expected), "{behind}");
        }
        assert_eq!((read("worker;term=7"), read(""), read(":x;term=7")), (None, None, None));
    }

    #[test]
    fn the_mark_of_work_that_has_ended_well_stands_before_a_value() {
        for (behind, label) in [("", None), (":worker:7", Some("worker:7"))] {
            for (mark, has_ended) in [("", false), (DONE, true)] {
                let value = format!("{mark}{TOKEN}{behind}");
                let mailbox = Mailbox::new(0x0123_4567_89ab_cdef << 64);
                let expected = Owner { mailbox, label, term: None, has_ended };
                assert_eq!(Owner::of(&value), Some(expected), "{value}");
            }
        }
        for value in [DONE, "quorumlock:done:worker", &format!("{DONE}{DONE}{TOKEN}")] {
            assert_eq!(Owner::of(value), None, "{value}");
        }
    }

    #[test]
    fn a_label_looks_like_a_term_if_it_would_be_read_as_one() {
        for label in ["x;term=7", ";term=1", "x;term=y;term=9007199254740991"] {
            assert!(looks_like_a_term(label), "{label}");
            assert!(read(&format!("{TOKEN}:{label}")).is_some_and(|(_, term)| term.is_some()));
        }
        for label in ["", "x", "term=7", "x;term=", "x;term=7 ", "x;term=seven"] {
            assert!(!looks_like_a_term(label), "{label}");
            assert_eq!(read(&format!("{TOKEN}:{label}")), Some((Some(label), None)));
        }
    }
}

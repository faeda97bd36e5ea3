//! Text in which no name moves a terminal's cursor, begins a line of its own, or hides a part of
//! itself.
//!
//! Names of resources, labels and servers' words come from outside. They are kept as they are, and
//! escaped where they become part of a text for people: here, and nowhere else.

#![warn(missing_docs)]

use std::fmt::{self, Write};

/// A name or a label as texts show it: what [is hidden](is_hidden) is escaped as in a literal of
/// Rust, and so is a backslash, so that two names never look the same by an escape. All else stays
/// as it is.
///
/// `{}` shows the name alone. `{:?}` puts it in quotes, and escapes those within it.
///
/// ```
/// # mod quorumlock { pub mod report { pub use quorumlock_core::escape::Escaped; } }
/// use quorumlock::report::Escaped;
///
/// assert_eq!(Escaped("orders:42").to_string(), "orders:42");
/// assert_eq!(Escaped("orders:4\n2\u{1b}[31m").to_string(), r"orders:4\n2\u{1b}[31m");
/// assert_eq!(format!("{:?}", Escaped("42\" screens")), r#""42\" screens""#);
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Escaped<'a>(pub &'a str);

/// A text that repeats the words of others, as one line: what [is hidden](is_hidden) is escaped, line
/// feeds included. Doing so twice changes nothing.
///
/// ```
/// # mod quorumlock { pub mod report { pub use quorumlock_core::escape::OneLine; } }
/// use quorumlock::report::OneLine;
///
/// assert_eq!(OneLine("ERR no\r\nsuch \"key\"").to_string(), r#"ERR no\r\nsuch "key""#);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OneLine<T>(pub T);

/// Checks whether a character has no shape of its own, and an effect on others: a control
/// character, a separator of lines or paragraphs, one that turns the direction of what follows, or
/// one that is not seen at all.
#[must_use]
pub const fn is_hidden(letter: char) -> bool {
    matches!(
        letter,
        '\0'..='\u{1f}'
            | '\u{7f}'..='\u{9f}'
            | '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{115f}'..='\u{1160}'
            | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}'
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

/// Writes `text` with every character escaped for which `is_escaped` holds.
fn write(out: &mut dyn Write, text: &str, is_escaped: impl Fn(char) -> bool) -> fmt::Result {
    let mut rest = text;
    while let Some((at, letter)) = rest.char_indices().find(|(_, letter)| is_escaped(*letter)) {
        let (before, after) = rest.split_at(at);
        out.write_str(before)?;
        write!(out, "{}", letter.escape_default())?;
        rest = after.strip_prefix(letter).unwrap_or_default();
    }
    out.write_str(rest)
}

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write(f, self.0, |letter| letter == '\\' || is_hidden(letter))
    }
}

impl fmt::Debug for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('"')?;
        write(f, self.0, |letter| matches!(letter, '\\' | '"') || is_hidden(letter))?;
        f.write_char('"')
    }
}

impl<T: fmt::Display> fmt::Display for OneLine<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(Line(f), "{}", self.0)
    }
}

struct Line<'a, 'b>(&'a mut fmt::Formatter<'b>);

impl Write for Line<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        write(self.0, text, is_hidden)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_people_write_stays_as_it_is() {
        for name in
            ["", "orders:42", "jobs/nightly *", "día", "注文:42", "हिन्दी", "заказ", "😀", "a 'b'"]
        {
            assert_eq!(Escaped(name).to_string(), name);
            assert_eq!(format!("{:?}", Escaped(name)), format!("\"{name}\""));
            assert_eq!(OneLine(name).to_string(), name);
        }
    }

    #[test]
    fn what_is_not_seen_is_escaped() {
        for (name, shown) in [
            ("a\nb\r\t\0", r"a\nb\r\t\u{0}"),
            ("\u{1b}[31m\u{7f}\u{9b}2J", r"\u{1b}[31m\u{7f}\u{9b}2J"),
            ("\u{2028}\u{2029}\u{85}", r"\u{2028}\u{2029}\u{85}"),
            ("\u{202e}nimda\u{2066}\u{200b}", r"\u{202e}nimda\u{2066}\u{200b}"),
            ("\u{feff}\u{ad}\u{e0041}", r"\u{feff}\u{ad}\u{e0041}"),
        ] {
            assert_eq!(Escaped(name).to_string(), shown);
            assert_eq!(OneLine(name).to_string(), shown);
        }
    }

    #[test]
    fn a_name_ends_where_its_quotes_do() {
        assert_eq!(format!("{:?}", Escaped(r#"a" is free: "\"#)), r#""a\" is free: \"\\""#);
        assert_eq!(Escaped(r"a\n").to_string(), r"a\\n");
        assert_eq!(OneLine(r#"a\n "b""#).to_string(), r#"a\n "b""#);
    }

    proptest! {
        #[test]
        fn no_two_names_look_the_same(first: String, second: String) {
            let shown = |name: &str| (Escaped(name).to_string(), format!("{:?}", Escaped(name)));
            let (mine, theirs) = (shown(&first), shown(&second));
            prop_assert_eq!(first == second, mine.0 == theirs.0);
            prop_assert_eq!(first == second, mine.1 == theirs.1);
        }

        #[test]
        fn one_line_has_nothing_hidden_and_is_the_same_twice(text: String) {
            let line = OneLine(&text).to_string();
            prop_assert!(!line.chars().any(is_hidden));
            prop_assert!(!line.contains(char::is_control));
            prop_assert_eq!(OneLine(&line).to_string(), line);
        }
    }
}

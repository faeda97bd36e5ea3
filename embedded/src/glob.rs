//! Patterns as KEYS, SCAN and CONFIG GET take them: `*`, `?`, `\*`.

/// Returns whether the whole text matches. A star tries every length: patterns have few.
pub(super) fn matches(pattern: &[u8], text: &[u8]) -> bool {
    match pattern {
        [] => text.is_empty(),
        [b'*', rest @ ..] => (0..=text.len()).any(|taken| matches(rest, &text[taken..])),
        [b'?', rest @ ..] => !text.is_empty() && matches(rest, &text[1..]),
        [b'\\', letter, rest @ ..] | [letter, rest @ ..] => {
            text.first() == Some(letter) && matches(rest, &text[1..])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_matches_whole_names() {
        for (pattern, expected) in [
            ("*", true),
            ("append*", true),
            ("*fsync", true),
            ("*append*", true),
            ("a*d?sy*c*", true),
            ("a*d?x*c*", false),
            ("a*n*n*", true),
            ("append", false),
            ("APPEND*", false),
            ("*append", false),
            ("append?", false),
            ("appendfsync?", false),
            ("?", false),
            ("", false),
        ] {
            assert_eq!(matches(pattern.as_bytes(), b"appendfsync"), expected, "{pattern}");
        }
    }

    #[test]
    fn a_pattern_has_escapes_and_no_classes() {
        for (pattern, text, expected) in [
            ("[ab]", "b", false),
            ("[ab]", "[ab]", true),
            ("\\*", "*", true),
            ("\\*", "a", false),
            ("a\\", "a\\", true),
            ("job:\\[1\\]*", "job:[1]:x", true),
            ("job:\\[1\\]*", "job:1:x", false),
            ("", "", true),
            ("*", "", true),
            ("?", "", false),
        ] {
            assert_eq!(matches(pattern.as_bytes(), text.as_bytes()), expected, "{pattern}");
        }
    }
}

//! Patterns as KEYS, SCAN and CONFIG GET take them: `*`, `?`, `\*`.

/// Returns whether the whole text matches. If a star took too little, it takes one more.
pub(super) fn matches(pattern: &[u8], text: &[u8]) -> bool {
    let (mut at, mut of, mut star) = (0, 0, None);
    while let Some(letter) = text.get(of) {
        let width = match &pattern[at..] {
            [b'*', ..] => {
                star = Some((at + 1, of));
                at += 1;
                continue;
            }
            [b'?', ..] => Some(1),
            [b'\\', escaped, ..] => (escaped == letter).then_some(2),
            [literal, ..] => (literal == letter).then_some(1),
            [] => None,
        };
        (at, of) = match (width, star) {
            (Some(width), _) => (at + width, of + 1),
            (None, None) => return false,
            (None, Some((after, taken))) => {
                star = Some((after, taken + 1));
                (after, taken + 1)
            }
        };
    }
    pattern[at..].iter().all(|letter| *letter == b'*')
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

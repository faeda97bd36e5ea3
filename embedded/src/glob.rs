//! Patterns as KEYS, SCAN and CONFIG GET take them: `*`, `?`, `[a-z]`, `[^a]`, `\*`.

/// Returns whether the whole text matches. If a star took too little, it takes one more. As in a
/// server, an empty text matches no pattern but the empty one.
pub(super) fn matches(pattern: &[u8], text: &[u8], in_any_case: bool) -> bool {
    if text.is_empty() {
        return pattern.is_empty();
    }
    let (mut at, mut of, mut star) = (0, 0, None);
    while of < text.len() {
        if pattern.get(at) == Some(&b'*') {
            star = Some((at + 1, of));
            at += 1;
        } else if let Some(next) = one_letter(pattern, at, text[of], in_any_case) {
            at = next;
            of += 1;
        } else {
            let Some((after, taken)) = star else { return false };
            star = Some((after, taken + 1));
            (at, of) = (after, taken + 1);
        }
    }
    pattern[at..].iter().all(|letter| *letter == b'*')
}

/// Matches one letter with what stands in the pattern at `at`; returns the place behind that.
fn one_letter(pattern: &[u8], at: usize, letter: u8, in_any_case: bool) -> Option<usize> {
    let same = |other: u8| other == letter || in_any_case && other.eq_ignore_ascii_case(&letter);
    match (*pattern.get(at)?, pattern.get(at + 1)) {
        (b'?', _) => Some(at + 1),
        (b'[', _) => class(pattern, at + 1, letter, in_any_case),
        (b'\\', Some(escaped)) => same(*escaped).then_some(at + 2),
        (literal, _) => same(literal).then_some(at + 1),
    }
}

/// Matches one letter with the class that begins at `at`. One that nothing closes ends with the
/// pattern.
fn class(pattern: &[u8], mut at: usize, letter: u8, in_any_case: bool) -> Option<usize> {
    let folded = |byte: u8| if in_any_case { byte.to_ascii_lowercase() } else { byte };
    let letter = folded(letter);
    let negated = pattern.get(at) == Some(&b'^');
    at += usize::from(negated);
    let mut found = false;
    loop {
        match pattern.get(at..).unwrap_or_default() {
            [] => break,
            [b'\\', escaped, ..] => {
                found |= folded(*escaped) == letter;
                at += 2;
            }
            [b']', ..] => {
                at += 1;
                break;
            }
            [from, b'-', to, ..] => {
                let (from, to) = (folded(*from), folded(*to));
                found |= (from.min(to)..=from.max(to)).contains(&letter);
                at += 3;
            }
            [single, ..] => {
                found |= folded(*single) == letter;
                at += 1;
            }
        }
    }
    (found != negated).then_some(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_matches_whole_names_in_any_case() {
        for (pattern, expected) in [
            ("*", true),
            ("append*", true),
            ("APPEND*", true),
            ("*fsync", true),
            ("a*d?sy*c*", true),
            ("a*n*n*", true),
            ("append", false),
            ("*append", false),
            ("append?", false),
            ("appendfsync?", false),
            ("?", false),
            ("", false),
        ] {
            assert_eq!(matches(pattern.as_bytes(), b"appendfsync", true), expected, "{pattern}");
        }
    }

    #[test]
    fn a_pattern_has_classes_and_escapes() {
        for (pattern, text, expected) in [
            ("[ab]", "b", true),
            ("[^ab]", "b", false),
            ("[^ab]", "c", true),
            ("[a-c]x", "bx", true),
            ("[c-a]x", "bx", true),
            ("[a-c]x", "dx", false),
            ("[\\]]", "]", true),
            ("[ab", "b", true),
            ("[", "[", false),
            ("\\*", "*", true),
            ("\\*", "a", false),
            ("a\\", "a\\", true),
            ("job:\\[1\\]*", "job:[1]:x", true),
            ("job:\\[1\\]*", "job:1:x", false),
            ("A", "a", false),
            ("", "", true),
            ("*", "", false),
        ] {
            assert_eq!(matches(pattern.as_bytes(), text.as_bytes(), false), expected, "{pattern}");
        }
    }
}

//! Histories in the form that tests write: one line for each entry, with times in milliseconds.

use super::Violation;
use crate::chaos::history::Entry;
use crate::chaos::story::Story;

/// Makes a story with `at` and `until` of holds in milliseconds, and everything else as in a
/// history.
pub(crate) fn story(lines: &str) -> Story {
    let lines = lines.lines().map(str::trim).filter(|line| !line.is_empty());
    Story::of(lines.map(entry).collect())
}

fn entry(line: &str) -> Entry {
    let mut words: Vec<String> = line.split(' ').map(str::to_owned).collect();
    let in_nanos = |word: &mut String| *word = format!("{word}000000");
    in_nanos(&mut words[0]);
    if matches!(words[2].as_str(), "enters" | "holds") {
        in_nanos(&mut words[4]);
    }
    Entry::parse(&words.join(" ")).unwrap_or_else(|| panic!("not a line: {line:?}"))
}

/// Returns the times of the violations, in milliseconds.
pub(crate) fn times(violations: &[Violation]) -> Vec<u64> {
    violations.iter().map(|violation| violation.at / 1_000_000).collect()
}

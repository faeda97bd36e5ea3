//! Unknown keys, and which key was meant.

/// The longest name that is repeated. Longer ones are not misspelt keys.
const LONGEST: usize = 40;

/// The builder's names for keys that have a different name.
const METHODS: [(&str, &str); 3] = [
    ("credentials", "credentials_file is there for that"),
    ("node", "nodes has all of them"),
    ("tls_config", "tls_ca_file, tls_cert_file and tls_key_file are there for that"),
];

/// Returns the name as it may be shown. Text that does not look like a name may be anything, a
/// password included.
pub(super) fn shown(name: &str) -> Option<&str> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    let is_name = !name.is_empty() && name.len() <= LONGEST && name.bytes().all(plain);
    is_name.then_some(name)
}

/// Returns what was meant instead of `name`, if it can be guessed; `spelt` writes a key as its
/// source does.
pub(super) fn hint(name: &str, keys: &[&str], spelt: impl Fn(&str) -> String) -> String {
    const NO_IDEA: &str = ": it is misspelt, or of another version";
    if name.len() > LONGEST {
        return NO_IDEA.to_owned();
    }
    let name = name.to_ascii_lowercase().replace('-', "_");
    if let Some((_, instead)) = METHODS.iter().find(|(method, _)| *method == name) {
        return format!(": {instead}");
    }
    let is_part = |key: &&&str| key.strip_prefix(&name).is_some_and(|rest| rest.starts_with('_'));
    if let [first, second] = keys.iter().filter(is_part).collect::<Vec<_>>()[..] {
        return format!(": write {} and {}", spelt(first), spelt(second));
    }
    match keys.iter().map(|key| (distance(&name, key), key)).min() {
        // A third of it may be wrong; beyond that it is another word.
        Some((wrong, key)) if wrong <= key.len().div_ceil(3) => {
            format!(": did you mean {}?", spelt(key))
        }
        _ => NO_IDEA.to_owned(),
    }
}

/// Returns how many characters have to be inserted, removed or replaced to turn `from` into `to`.
fn distance(from: &str, to: &str) -> usize {
    let mut row: Vec<usize> = (0..=to.chars().count()).collect();
    for (above, left) in from.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], above + 1);
        for (place, right) in to.chars().enumerate() {
            let exchanged = diagonal + usize::from(left != right);
            diagonal = row[place + 1];
            row[place + 1] = exchanged.min(row[place] + 1).min(diagonal + 1);
        }
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_distance_counts_changes_of_one_character() {
        for (from, to, expected) in [
            ("", "", 0),
            ("", "ttl", 3),
            ("ttl", "", 3),
            ("ttl", "ttl", 0),
            ("tll", "ttl", 1),
            ("max_tll", "max_ttl", 1),
            ("maxttl", "max_ttl", 1),
            ("kitten", "sitting", 3),
        ] {
            assert_eq!(distance(from, to), expected, "{from} {to}");
            assert_eq!(distance(to, from), expected, "{to} {from}");
        }
    }
}

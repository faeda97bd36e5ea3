//! Unknown keys, and which key was meant.

/// The longest name that is repeated. Longer ones are not misspelt keys.
const LONGEST: usize = 40;

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
    // Of less likeness are other words.
    const LEAST: f64 = 0.75;
    let name = shown(name).unwrap_or_default().to_ascii_lowercase().replace('-', "_");
    let likenesses = keys.iter().map(|key| (strsim::jaro_winkler(&name, key), key));
    match likenesses.max_by(|one, other| one.0.total_cmp(&other.0)) {
        Some((likeness, key)) if likeness > LEAST => format!(": did you mean {}?", spelt(key)),
        _ => ": it is misspelt, or of another version".to_owned(),
    }
}

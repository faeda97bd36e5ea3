//! Unknown names, and which key was meant.

use super::Config;

/// Returns the name as it may be shown. Text that does not look like a name may be anything, a
/// password included.
pub(super) fn shown(name: &str) -> Option<&str> {
    /// Longer ones are not misspelt names.
    const LONGEST: usize = 50;
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    let is_name = !name.is_empty() && name.len() <= LONGEST && name.bytes().all(plain);
    is_name.then_some(name)
}

/// Says which key was meant, if it can be guessed; `spelt` writes a key as its source does.
pub(super) fn problem(name: &str, spelt: fn(&str) -> String) -> String {
    // Of less likeness are other words.
    const LEAST: f64 = 0.75;
    let name = shown(name).unwrap_or_default().to_ascii_lowercase().replace('-', "_");
    let name = name.strip_prefix("quorumlock_").unwrap_or(&name);
    let keys = Config::KEYS.iter().map(|key| (strsim::jaro_winkler(name, key), key));
    match keys.max_by(|one, other| one.0.total_cmp(&other.0)) {
        Some((likeness, key)) if likeness > LEAST => {
            format!("unknown key: did you mean {}?", spelt(key))
        }
        _ => "unknown key: it is misspelt, or of another version".to_owned(),
    }
}

//! The settings of persistence and eviction, as clients see them and as tests change them. They
//! have no effect: nothing is ever evicted, and a restart keeps what its caller says.

use super::command::Call;
use super::reply::Reply;
use super::{Machine, glob};
use std::collections::BTreeMap;

/// The name of each setting, and the words that it may be, of which the first is the default. Without words, it is
/// a number of bytes.
const SETTINGS: [(&str, &str); 5] = [
    ("appendfsync", "everysec always no"),
    ("appendonly", "no yes"),
    ("maxmemory", ""),
    ("maxmemory-policy", POLICIES),
    ("no-appendfsync-on-rewrite", "no yes"),
];

const POLICIES: &str = "noeviction volatile-lru volatile-lfu volatile-random volatile-ttl allkeys-lru \
                        allkeys-lfu allkeys-random";

/// Reads a value, and returns it as CONFIG GET spells it.
fn read(words: &str, text: &[u8]) -> Option<String> {
    if words.is_empty() {
        return Some(memory(text)?.to_string());
    }
    let word = words.split(' ').find(|word| text.eq_ignore_ascii_case(word.as_bytes()))?;
    Some(word.to_owned())
}

/// Reads a size such as `10mb`. No digits mean zero, and too many mean the maximum, as in a server.
fn memory(text: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(text).ok()?;
    let unit_at = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
    let (digits, unit) = text.split_at(unit_at);
    let factor = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" => 1_000,
        "kb" => 1 << 10,
        "m" => 1_000_000,
        "mb" => 1 << 20,
        "g" => 1_000_000_000,
        "gb" => 1 << 30,
        _ => return None,
    };
    let count: u64 = if digits.is_empty() { 0 } else { digits.parse().unwrap_or(u64::MAX) };
    Some(count.wrapping_mul(factor))
}

/// The value of each setting.
pub(super) type Config = BTreeMap<&'static str, String>;

pub(super) fn defaults() -> Config {
    let default = |words: &'static str| words.split(' ').next().filter(|word| !word.is_empty());
    let of = |words| default(words).unwrap_or("0").to_owned();
    SETTINGS.iter().map(|(name, words)| (*name, of(words))).collect()
}

/// Handles `CONFIG GET name ...`, where a name may be a pattern.
pub(super) fn get(machine: &mut Machine, call: &Call<'_>) -> Reply {
    let patterns = call.arguments[2..].iter().map(|pattern| pattern.to_ascii_lowercase());
    let patterns: Vec<Vec<u8>> = patterns.collect();
    let is_wanted =
        |name: &str| patterns.iter().any(|pattern| glob::matches(pattern, name.as_bytes()));
    let wanted = machine.config.iter().filter(|(name, _)| is_wanted(name));
    Reply::Map(wanted.flat_map(|(name, value)| [*name, value].map(Reply::bulk)).collect())
}

/// Handles `CONFIG SET name value ...`: sets all of them or none. A server also names the problem.
pub(super) fn set(machine: &mut Machine, call: &Call<'_>) -> Reply {
    let pairs = call.arguments[2..].chunks_exact(2);
    if !pairs.remainder().is_empty() {
        return Reply::error(super::keys::SYNTAX);
    }
    let mut values = BTreeMap::new();
    for pair in pairs {
        let name = String::from_utf8_lossy(&pair[0]);
        let known = SETTINGS.iter().find(|(known, _)| name.eq_ignore_ascii_case(known));
        let Some((known, words)) = known else {
            return Reply::error(format!(
                "ERR Unknown option or number of arguments for CONFIG SET - '{name}'"
            ));
        };
        let Some(value) = read(words, &pair[1]) else {
            return Reply::error(format!(
                "ERR CONFIG SET failed (possibly related to argument '{known}')"
            ));
        };
        values.insert(*known, value);
    }
    machine.config.extend(values);
    Reply::ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_has_units() {
        for (text, bytes) in [
            ("0", Some(0)),
            ("", Some(0)),
            ("7b", Some(7)),
            ("5k", Some(5_000)),
            ("5KB", Some(5_120)),
            ("1m", Some(1_000_000)),
            ("10mb", Some(10_485_760)),
            ("1gb", Some(1_073_741_824)),
            ("1g", Some(1_000_000_000)),
            ("99999999999999999999999", Some(u64::MAX)),
            ("1t", None),
            ("-1", None),
            ("1.5gb", None),
            ("5%", None),
        ] {
            assert_eq!(memory(text.as_bytes()), bytes, "{text}");
        }
    }
}

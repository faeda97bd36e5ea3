//! The settings of persistence and eviction, as clients see them and as tests change them. They
//! have no effect: nothing is ever evicted, and a restart keeps what its caller says.

use super::command::{Call, shown};
use super::reply::Reply;
use super::{Machine, glob};
use std::collections::BTreeMap;

enum Kind {
    /// A number of bytes, with or without a unit.
    Memory,
    YesNo,
    OneOf(&'static [&'static str]),
}

/// The name of each setting, its default, and what it may be.
const SETTINGS: [(&str, &str, Kind); 5] = [
    ("appendfsync", "everysec", Kind::OneOf(&["everysec", "always", "no"])),
    ("appendonly", "no", Kind::YesNo),
    ("maxmemory", "0", Kind::Memory),
    (
        "maxmemory-policy",
        "noeviction",
        Kind::OneOf(&[
            "volatile-lru",
            "volatile-lfu",
            "volatile-random",
            "volatile-ttl",
            "allkeys-lru",
            "allkeys-lfu",
            "allkeys-random",
            "noeviction",
        ]),
    ),
    ("no-appendfsync-on-rewrite", "no", Kind::YesNo),
];

impl Kind {
    /// Reads a value, and returns it as CONFIG GET spells it.
    fn read(&self, text: &[u8]) -> Result<String, String> {
        match self {
            Self::Memory => {
                let bytes = memory(text).ok_or("argument must be a memory value")?;
                Ok(bytes.to_string())
            }
            Self::YesNo => {
                chosen(&["yes", "no"], text).ok_or_else(|| "argument must be 'yes' or 'no'".into())
            }
            Self::OneOf(words) => chosen(words, text).ok_or_else(|| {
                format!("argument(s) must be one of the following: {}", words.join(", "))
            }),
        }
    }
}

fn chosen(words: &[&str], text: &[u8]) -> Option<String> {
    let word = words.iter().find(|word| text.eq_ignore_ascii_case(word.as_bytes()))?;
    Some((*word).to_owned())
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
pub(super) struct Config(BTreeMap<&'static str, String>);

impl Default for Config {
    fn default() -> Self {
        Self(SETTINGS.iter().map(|(name, default, _)| (*name, (*default).to_owned())).collect())
    }
}

impl Config {
    /// Returns the fields of INFO that its readers use.
    pub(super) fn section_memory(&self) -> String {
        let (most, policy) = (&self.0["maxmemory"], &self.0["maxmemory-policy"]);
        format!("# Memory\r\nmaxmemory:{most}\r\nmaxmemory_policy:{policy}\r\n")
    }

    pub(super) fn section_persistence(&self) -> String {
        let appends = u8::from(self.0["appendonly"] == "yes");
        format!("# Persistence\r\nloading:0\r\naof_enabled:{appends}\r\n")
    }
}

/// Handles `CONFIG GET name ...`, where a name may be a pattern.
pub(super) fn get(machine: &mut Machine, call: &Call<'_>) -> Reply {
    let patterns = call.arguments[2..].iter().map(|pattern| pattern.to_ascii_lowercase());
    let patterns: Vec<Vec<u8>> = patterns.collect();
    let is_wanted =
        |name: &str| patterns.iter().any(|pattern| glob::matches(pattern, name.as_bytes()));
    let wanted = machine.config.0.iter().filter(|(name, _)| is_wanted(name));
    Reply::Map(wanted.flat_map(|(name, value)| [*name, value].map(Reply::bulk)).collect())
}

/// Handles `CONFIG SET name value ...`: sets all of them, or none and reports why.
pub(super) fn set(machine: &mut Machine, call: &Call<'_>) -> Reply {
    let pairs = call.arguments[2..].chunks_exact(2);
    if !pairs.remainder().is_empty() {
        return Reply::error(super::keys::SYNTAX);
    }
    let mut values = BTreeMap::new();
    for pair in pairs {
        let name = shown(&pair[0], pair[0].len());
        let known = SETTINGS.iter().find(|(known, ..)| name.eq_ignore_ascii_case(known));
        let Some((known, _, kind)) = known else {
            return Reply::error(format!(
                "ERR Unknown option or number of arguments for CONFIG SET - '{name}'"
            ));
        };
        match kind.read(&pair[1]) {
            Ok(value) => values.insert(*known, value),
            Err(problem) => {
                return Reply::error(format!(
                    "ERR CONFIG SET failed (possibly related to argument '{known}') - {problem}"
                ));
            }
        };
    }
    machine.config.0.extend(values);
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

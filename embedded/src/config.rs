//! The settings of persistence and eviction, as clients see them and as tests change them. They
//! have no effect: nothing is ever evicted, and a restart keeps what its caller says.

use super::Machine;
use super::command::{Call, shown};
use super::glob;
use super::reply::Reply;
use std::collections::BTreeMap;

struct Parameter {
    name: &'static str,
    default: &'static str,
    kind: Kind,
}

enum Kind {
    /// Can't be set.
    Fixed,
    /// A number of bytes, with or without a unit.
    Memory,
    YesNo,
    OneOf(&'static [&'static str]),
}

const PARAMETERS: [Parameter; 11] = [
    Parameter::new("appenddirname", "appendonlydir", Kind::Fixed),
    Parameter::new("appendfilename", "appendonly.aof", Kind::Fixed),
    Parameter::new("appendfsync", "everysec", Kind::OneOf(&["everysec", "always", "no"])),
    Parameter::new("appendonly", "no", Kind::YesNo),
    Parameter::new("maxmemory", "0", Kind::Memory),
    Parameter::new("maxmemory-clients", "0", Kind::Fixed),
    Parameter::new("maxmemory-eviction-tenacity", "10", Kind::Fixed),
    Parameter::new(
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
    Parameter::new("maxmemory-samples", "5", Kind::Fixed),
    Parameter::new("no-appendfsync-on-rewrite", "no", Kind::Fixed),
    Parameter::new("save", "", Kind::Fixed),
];

impl Parameter {
    const fn new(name: &'static str, default: &'static str, kind: Kind) -> Self {
        Self { name, default, kind }
    }

    fn named(name: &[u8]) -> Option<&'static Self> {
        PARAMETERS.iter().find(|parameter| name.eq_ignore_ascii_case(parameter.name.as_bytes()))
    }
}

impl Kind {
    /// Reads a value, and returns it as CONFIG GET spells it.
    fn read(&self, text: &[u8]) -> Result<String, String> {
        match self {
            Self::Fixed => Err(IMMUTABLE.to_owned()),
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

const IMMUTABLE: &str = "can't set immutable config";

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

pub(super) struct Config {
    values: BTreeMap<&'static str, String>,
}

impl Default for Config {
    fn default() -> Self {
        let default = |parameter: &Parameter| (parameter.name, parameter.default.to_owned());
        Self { values: PARAMETERS.iter().map(default).collect() }
    }
}

impl Config {
    fn value(&self, name: &str) -> &str {
        self.values.get(name).map_or("", String::as_str)
    }

    /// Returns the fields of INFO that its readers use.
    pub(super) fn section_memory(&self) -> String {
        let (most, policy) = (self.value("maxmemory"), self.value("maxmemory-policy"));
        format!("# Memory\r\nmaxmemory:{most}\r\nmaxmemory_policy:{policy}\r\n")
    }

    pub(super) fn section_persistence(&self) -> String {
        let appends = u8::from(self.value("appendonly") == "yes");
        format!("# Persistence\r\nloading:0\r\naof_enabled:{appends}\r\n")
    }
}

/// Handles `CONFIG GET name ...`, where a name may be a pattern.
pub(super) fn get(machine: &mut Machine, call: &Call<'_>) -> Reply {
    let mut found = BTreeMap::new();
    for pattern in &call.arguments[2..] {
        if !pattern.iter().any(|byte| matches!(byte, b'*' | b'?' | b'[')) {
            // The name as the client spells it.
            if let Some(parameter) = Parameter::named(pattern) {
                found.entry(parameter.name).or_insert_with(|| pattern.clone());
            }
            continue;
        }
        let matching =
            |parameter: &&Parameter| glob::matches(pattern, parameter.name.as_bytes(), true);
        for parameter in PARAMETERS.iter().filter(matching) {
            found.entry(parameter.name).or_insert_with(|| parameter.name.into());
        }
    }
    let field = |(name, called): (&str, Vec<u8>)| {
        (Reply::bulk(called), Reply::bulk(machine.config.value(name)))
    };
    Reply::Map(found.into_iter().map(field).collect())
}

/// Handles `CONFIG SET name value ...`: sets all of them, or none and reports why.
pub(super) fn set(machine: &mut Machine, call: &Call<'_>) -> Reply {
    let pairs = call.arguments[2..].chunks_exact(2);
    if !pairs.remainder().is_empty() {
        return Reply::error(super::keys::SYNTAX);
    }
    let mut wanted: Vec<(&Parameter, &[u8])> = Vec::new();
    for pair in pairs {
        let (name, value) = (&pair[0], &pair[1]);
        let Some(parameter) = Parameter::named(name) else {
            let name = shown(name, name.len());
            return Reply::error(format!(
                "ERR Unknown option or number of arguments for CONFIG SET - '{name}'"
            ));
        };
        if matches!(parameter.kind, Kind::Fixed) {
            return failed(&shown(name, name.len()), IMMUTABLE);
        }
        if wanted.iter().any(|(other, _)| other.name == parameter.name) {
            return failed(&shown(name, name.len()), "duplicate parameter");
        }
        wanted.push((parameter, value));
    }
    let mut values = Vec::new();
    for (parameter, value) in wanted {
        match parameter.kind.read(value) {
            Ok(value) => values.push((parameter.name, value)),
            Err(problem) => return failed(parameter.name, &problem),
        }
    }
    machine.config.values.extend(values);
    Reply::ok()
}

fn failed(name: &str, problem: &str) -> Reply {
    Reply::error(format!(
        "ERR CONFIG SET failed (possibly related to argument '{name}') - {problem}"
    ))
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

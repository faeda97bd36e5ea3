//! The server's identity, what it says to its connections, what INFO reports, and its settings. These have no effect:
//! nothing is ever evicted, a restart keeps what its caller says, and no data is copied to replicas.

use super::command::Call;
use super::keys::SYNTAX;
use super::reply::Reply;
use super::request::integer;
use super::{ClientId, Machine, Output, glob};
use std::collections::BTreeMap;
use std::time::Duration;

/// The version whose answers these are.
pub(super) const VERSION: &str = "7.0.15";

/// The other version that it can report in HELLO; then it has `DELIFEQ`.
pub(super) const VALKEY: &str = "9.1.2";

impl Machine {
    pub(super) fn answer(&mut self, to: ClientId, reply: &Reply) {
        let Some(client) = self.process.clients.get(&to) else { return };
        let resp3 = client.resp3;
        match self.process.outputs.back_mut() {
            Some(Output::Send(last, bytes)) if *last == to => reply.encode(resp3, bytes),
            _ => {
                let mut bytes = Vec::new();
                reply.encode(resp3, &mut bytes);
                self.process.outputs.push_back(Output::Send(to, bytes));
            }
        }
    }

    /// Closes a connection from this side; `true` if there was one.
    pub(super) fn disconnect(&mut self, client: ClientId) -> bool {
        let was_there = self.process.clients.remove(&client).is_some();
        if was_there {
            self.process.outputs.push_back(Output::Close(client));
        }
        was_there
    }

    /// Draws an id of forty hex digits, from the one before it.
    pub(super) fn draw_id(&mut self) -> String {
        self.drawn = sha1_smol::Sha1::from(&self.drawn).digest().to_string();
        self.drawn.clone()
    }
}

pub(super) fn micros(time: Duration) -> i64 {
    i64::try_from(time.as_micros()).unwrap_or(i64::MAX)
}

pub(super) fn time(_: &mut Machine, call: &Call<'_>) -> Reply {
    let (seconds, micros) = (call.now.as_secs(), call.now.subsec_micros());
    Reply::Array(vec![Reply::bulk(seconds.to_string()), Reply::bulk(micros.to_string())])
}

/// The section that is shown only if it is named: how often each command was executed.
const COMMANDSTATS: &str = "Commandstats";

/// Handles `INFO [section ...]`. The sections have an order of their own, whatever that of the request.
pub(super) fn info(machine: &mut Machine, call: &Call<'_>) -> Reply {
    let (process, config) = (&machine.process, &machine.config);
    let run_id = &process.run_id;
    // Up by one whenever a second begins.
    let uptime = micros(call.now).div_euclid(1_000_000) - process.started.div_euclid(1_000_000);
    let (most, policy) = (&config["maxmemory"], &config["maxmemory-policy"]);
    let appends = u8::from(config["appendonly"] == "yes");
    let role = match &machine.follows {
        None => "role:master\r\n".to_owned(),
        Some((host, port)) => format!("role:slave\r\nmaster_host:{host}\r\nmaster_port:{port}\r\n"),
    };
    let (id, former) = (&process.replication_id, &process.former_replication_id);
    // Without times: no command here takes any.
    let calls = process.calls.iter();
    let calls = calls.map(|(name, calls)| format!("cmdstat_{name}:calls={calls}\r\n"));
    let sections = [
        (
            "Server",
            format!(
                "redis_version:{VERSION}\r\nredis_mode:standalone\r\nrun_id:{run_id}\r\n\
                 uptime_in_seconds:{uptime}\r\n"
            ),
        ),
        ("Memory", format!("maxmemory:{most}\r\nmaxmemory_policy:{policy}\r\n")),
        ("Persistence", format!("loading:0\r\naof_enabled:{appends}\r\n")),
        (
            "Replication",
            format!(
                "{role}connected_slaves:0\r\nmaster_replid:{id}\r\nmaster_replid2:{former}\r\n"
            ),
        ),
        (COMMANDSTATS, calls.collect()),
    ];
    let is_wanted = |(name, _): &(&str, String)| match &call.arguments[1..] {
        [] => *name != COMMANDSTATS,
        named => named.iter().any(|word| word.eq_ignore_ascii_case(name.as_bytes())),
    };
    let wanted = sections.into_iter().filter(is_wanted);
    let wanted: Vec<_> = wanted.map(|(name, lines)| format!("# {name}\r\n{lines}")).collect();
    Reply::Text(wanted.join("\r\n").into())
}

/// Handles `REPLICAOF host port` and `REPLICAOF NO ONE`, which makes it a promoted replica.
pub(super) fn replicaof(machine: &mut Machine, call: &Call<'_>) -> Reply {
    let (host, port) = (&call.arguments[1], &call.arguments[2]);
    if host.eq_ignore_ascii_case(b"no") && port.eq_ignore_ascii_case(b"one") {
        if machine.follows.take().is_some() {
            let id = machine.draw_id();
            let former = std::mem::replace(&mut machine.process.replication_id, id);
            machine.process.former_replication_id = former;
        }
        return Reply::ok();
    }
    let Some(port) = integer(port).and_then(|port| u16::try_from(port).ok()) else {
        return Reply::error("ERR Invalid master port");
    };
    machine.follows = Some((String::from_utf8_lossy(host).into_owned(), port));
    Reply::ok()
}

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
fn value(words: &str, text: &[u8]) -> Option<String> {
    if words.is_empty() {
        return Some(size(text)?.to_string());
    }
    let word = words.split(' ').find(|word| text.eq_ignore_ascii_case(word.as_bytes()))?;
    Some(word.to_owned())
}

/// Reads a size such as `10mb`. No digits mean zero, and too many mean the maximum, as in a server.
fn size(text: &[u8]) -> Option<u64> {
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

pub(super) fn default_config() -> Config {
    let default = |words: &'static str| words.split(' ').next().filter(|word| !word.is_empty());
    let of = |words| default(words).unwrap_or("0").to_owned();
    SETTINGS.iter().map(|(name, words)| (*name, of(words))).collect()
}

/// Handles `CONFIG GET name ...`, where a name may be a pattern.
pub(super) fn config_get(machine: &mut Machine, call: &Call<'_>) -> Reply {
    let patterns = call.arguments[2..].iter().map(|pattern| pattern.to_ascii_lowercase());
    let patterns: Vec<Vec<u8>> = patterns.collect();
    let is_wanted =
        |name: &str| patterns.iter().any(|pattern| glob::matches(pattern, name.as_bytes()));
    let wanted = machine.config.iter().filter(|(name, _)| is_wanted(name));
    Reply::Map(wanted.flat_map(|(name, value)| [*name, value].map(Reply::bulk)).collect())
}

/// Handles `CONFIG SET name value ...`: sets all of them or none. A server also names the problem.
pub(super) fn config_set(machine: &mut Machine, call: &Call<'_>) -> Reply {
    let pairs = call.arguments[2..].chunks_exact(2);
    if !pairs.remainder().is_empty() {
        return Reply::error(SYNTAX);
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
        let Some(value) = value(words, &pair[1]) else {
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
            assert_eq!(size(text.as_bytes()), bytes, "{text}");
        }
    }
}

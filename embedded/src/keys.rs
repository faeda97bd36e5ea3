//! Commands on keys.

use super::Machine;
use super::command::Call;
use super::glob;
use super::keyspace::{Keyspace, millis};
use super::reply::Reply;
use super::request::integer;
use super::value::Value;

pub(super) const NOT_AN_INTEGER: &str = "ERR value is not an integer or out of range";
pub(super) const SYNTAX: &str = "ERR syntax error";
pub(super) const WRONG_TYPE: &str =
    "WRONGTYPE Operation against a key holding the wrong kind of value";

pub(super) fn database<'a>(machine: &'a mut Machine, call: &Call<'_>) -> &'a mut Keyspace {
    &mut machine.databases[call.database]
}

/// How SET spells the end of a key's life.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    After,
    At,
    AtSecond,
}

impl End {
    fn named(option: &[u8]) -> Option<Self> {
        match option {
            b"PX" => Some(Self::After),
            b"PXAT" => Some(Self::At),
            b"EXAT" => Some(Self::AtSecond),
            _ => None,
        }
    }

    /// Returns the end in ms since 1970.
    fn read(self, number: &[u8], now: i64) -> Result<i64, Reply> {
        let Some(number) = integer(number) else { return Err(Reply::error(NOT_AN_INTEGER)) };
        let at = match self {
            Self::After => now.checked_add(number),
            Self::At => Some(number),
            Self::AtSecond => number.checked_mul(1_000),
        };
        let invalid = "ERR invalid expire time in 'set' command";
        at.filter(|_| number > 0).ok_or_else(|| Reply::error(invalid))
    }
}

/// Handles `SET key value [NX] [PX ms | PXAT ms | EXAT s]`. An end that is over is no error: the key
/// is gone at once.
pub(super) fn set(machine: &mut Machine, call: &Call<'_>) -> Reply {
    let now = millis(call.now);
    let (mut only_new, mut life) = (false, None);
    let mut options = call.arguments[3..].iter();
    while let Some(option) = options.next() {
        let option = option.to_ascii_uppercase();
        if option == b"NX" {
            only_new = true;
            continue;
        }
        match (End::named(&option), options.next(), life) {
            (Some(end), Some(_), Some((other, _))) if end != other => return Reply::error(SYNTAX),
            (Some(end), Some(number), _) => life = Some((end, number)),
            _ => return Reply::error(SYNTAX),
        }
    }
    let expires_at = match life.map(|(end, number)| end.read(number, now)).transpose() {
        Ok(at) => at,
        Err(error) => return error,
    };
    let (key, value) = (&call.arguments[1], call.arguments[2].clone());
    let database = database(machine, call);
    if only_new && database.get(key, now).is_some() {
        return Reply::Null;
    }
    database.set(key, Value::String(value), expires_at);
    Reply::ok()
}

pub(super) fn get(machine: &mut Machine, call: &Call<'_>) -> Reply {
    match database(machine, call).get(&call.arguments[1], millis(call.now)) {
        None => Reply::Null,
        Some(Value::String(value)) => Reply::bulk(value.clone()),
        Some(_) => Reply::error(WRONG_TYPE),
    }
}

/// `TYPE key`
pub(super) fn kind(machine: &mut Machine, call: &Call<'_>) -> Reply {
    let value = database(machine, call).get(&call.arguments[1], millis(call.now));
    Reply::Status(value.map_or("none", |value| kind_of(value)).into())
}

/// Returns the name of a value's type.
pub(super) const fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::String(_) => "string",
        Value::Hash(_) => "hash",
        Value::SortedSet(_) => "zset",
    }
}

pub(super) fn del(machine: &mut Machine, call: &Call<'_>) -> Reply {
    let (now, database) = (millis(call.now), database(machine, call));
    Reply::count(call.arguments[1..].iter().filter(|key| database.delete(key, now)).count())
}

/// `DELIFEQ key value`
pub(super) fn delifeq(machine: &mut Machine, call: &Call<'_>) -> Reply {
    let (now, database) = (millis(call.now), database(machine, call));
    let (key, value) = (&call.arguments[1], &call.arguments[2]);
    match database.get(key, now) {
        Some(Value::String(stands)) if stands == value => {
            Reply::count(usize::from(database.delete(key, now)))
        }
        None | Some(Value::String(_)) => Reply::Integer(0),
        Some(_) => Reply::error(WRONG_TYPE),
    }
}

pub(super) fn exists(machine: &mut Machine, call: &Call<'_>) -> Reply {
    let (now, database) = (millis(call.now), database(machine, call));
    Reply::count(call.arguments[1..].iter().filter(|key| database.get(key, now).is_some()).count())
}

pub(super) fn pttl(machine: &mut Machine, call: &Call<'_>) -> Reply {
    let now = millis(call.now);
    let entry = database(machine, call).entry(&call.arguments[1], now);
    Reply::Integer(entry.map_or(-2, |entry| entry.expires_at.map_or(-1, |at| at - now)))
}

/// `PEXPIRE key ms`
pub(super) fn pexpire(machine: &mut Machine, call: &Call<'_>) -> Reply {
    let now = millis(call.now);
    if let Some(option) = call.arguments.get(3) {
        let option = String::from_utf8_lossy(option);
        return Reply::error(format!("ERR Unsupported option {option}"));
    }
    let Some(ms) = integer(&call.arguments[2]) else { return Reply::error(NOT_AN_INTEGER) };
    let Some(at) = now.checked_add(ms) else {
        return Reply::error("ERR invalid expire time in 'pexpire' command");
    };
    let found = database(machine, call).expire(&call.arguments[1], at, now);
    Reply::Integer(i64::from(found))
}

/// Handles `KEYS pattern`; the keys are in order.
pub(super) fn keys(machine: &mut Machine, call: &Call<'_>) -> Reply {
    let pattern = &call.arguments[1];
    let keys = database(machine, call).keys(millis(call.now));
    let matching = keys.filter(|key| glob::matches(pattern, key));
    Reply::Array(matching.map(Reply::bulk).collect())
}

/// Handles DBSIZE. Expired keys do not count, while a server counts them until it collects them.
pub(super) fn dbsize(machine: &mut Machine, call: &Call<'_>) -> Reply {
    Reply::count(database(machine, call).keys(millis(call.now)).count())
}

pub(super) fn flushall(machine: &mut Machine, call: &Call<'_>) -> Reply {
    match &call.arguments[1..] {
        [] => {}
        [how] if [&b"ASYNC"[..], b"SYNC"].contains(&&*how.to_ascii_uppercase()) => {}
        _ => return Reply::error(SYNTAX),
    }
    machine.databases = Default::default();
    Reply::ok()
}

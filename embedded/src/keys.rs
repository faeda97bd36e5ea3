//! Commands on keys.

use super::command::Call;
use super::glob;
use super::keyspace::{Keyspace, Remaining, millis};
use super::reply::Reply;
use super::request::integer;
use super::server::Server;
use super::value::Value;

pub(super) const NOT_AN_INTEGER: &str = "ERR value is not an integer or out of range";
pub(super) const SYNTAX: &str = "ERR syntax error";
pub(super) const WRONG_TYPE: &str =
    "WRONGTYPE Operation against a key holding the wrong kind of value";

pub(super) fn database<'a>(server: &'a mut Server, call: &Call<'_>) -> &'a mut Keyspace {
    &mut server.databases[call.database]
}

/// `SET key value [NX] [PX ms]`
pub(super) fn set(server: &mut Server, call: &Call<'_>) -> Reply {
    let now = millis(call.now);
    let (mut only_new, mut life) = (false, None);
    let mut options = call.arguments[3..].iter();
    while let Some(option) = options.next() {
        match option.to_ascii_uppercase().as_slice() {
            b"NX" => only_new = true,
            b"PX" => match options.next() {
                Some(ms) => life = Some(ms),
                None => return Reply::error(SYNTAX),
            },
            _ => return Reply::error(SYNTAX),
        }
    }
    let expires_at = match life.map(|ms| integer(ms)) {
        None => None,
        Some(None) => return Reply::error(NOT_AN_INTEGER),
        Some(Some(ms)) => match now.checked_add(ms).filter(|_| ms > 0) {
            Some(at) => Some(at),
            None => return Reply::error("ERR invalid expire time in 'set' command"),
        },
    };
    let (key, value) = (&call.arguments[1], call.arguments[2].clone());
    let database = database(server, call);
    if only_new && database.get(key, now).is_some() {
        return Reply::Null;
    }
    database.set(key, Value::String(value), expires_at);
    Reply::ok()
}

pub(super) fn get(server: &mut Server, call: &Call<'_>) -> Reply {
    match database(server, call).get(&call.arguments[1], millis(call.now)) {
        None => Reply::Null,
        Some(Value::String(value)) => Reply::bulk(value.clone()),
        Some(Value::Hash(_)) => Reply::error(WRONG_TYPE),
    }
}

/// `TYPE key`
pub(super) fn kind(server: &mut Server, call: &Call<'_>) -> Reply {
    let value = database(server, call).get(&call.arguments[1], millis(call.now));
    Reply::Status(value.map_or("none", kind_of).into())
}

/// Returns the name of a value's type.
pub(super) const fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::String(_) => "string",
        Value::Hash(_) => "hash",
    }
}

pub(super) fn del(server: &mut Server, call: &Call<'_>) -> Reply {
    let (now, database) = (millis(call.now), database(server, call));
    Reply::count(call.arguments[1..].iter().filter(|key| database.delete(key, now)).count())
}

/// `DELIFEQ key value`
pub(super) fn delifeq(server: &mut Server, call: &Call<'_>) -> Reply {
    let (now, database) = (millis(call.now), database(server, call));
    let (key, value) = (&call.arguments[1], &call.arguments[2]);
    match database.get(key, now) {
        Some(Value::String(stands)) if stands == value => {
            Reply::count(usize::from(database.delete(key, now)))
        }
        Some(Value::Hash(_)) => Reply::error(WRONG_TYPE),
        _ => Reply::Integer(0),
    }
}

pub(super) fn exists(server: &mut Server, call: &Call<'_>) -> Reply {
    let (now, database) = (millis(call.now), database(server, call));
    Reply::count(call.arguments[1..].iter().filter(|key| database.get(key, now).is_some()).count())
}

pub(super) fn pttl(server: &mut Server, call: &Call<'_>) -> Reply {
    let now = millis(call.now);
    Reply::Integer(match database(server, call).remaining(&call.arguments[1], now) {
        Remaining::Vacant => -2,
        Remaining::Endless => -1,
        Remaining::Millis(left) => left,
    })
}

/// `PEXPIRE key ms`
pub(super) fn pexpire(server: &mut Server, call: &Call<'_>) -> Reply {
    let now = millis(call.now);
    if let Some(option) = call.arguments.get(3) {
        let option = String::from_utf8_lossy(option);
        return Reply::error(format!("ERR Unsupported option {option}"));
    }
    let Some(ms) = integer(&call.arguments[2]) else { return Reply::error(NOT_AN_INTEGER) };
    let Some(at) = now.checked_add(ms) else {
        return Reply::error("ERR invalid expire time in 'pexpire' command");
    };
    let found = database(server, call).expire(&call.arguments[1], at, now);
    Reply::Integer(i64::from(found))
}

/// Handles `KEYS pattern`; the keys are in order.
pub(super) fn keys(server: &mut Server, call: &Call<'_>) -> Reply {
    let pattern = &call.arguments[1];
    let keys = database(server, call).keys(millis(call.now));
    let matching = keys.filter(|key| pattern == b"*" || glob::matches(pattern, key, false));
    Reply::Array(matching.map(Reply::bulk).collect())
}

/// Handles DBSIZE. Expired keys do not count, while a server counts them until it collects them.
pub(super) fn dbsize(server: &mut Server, call: &Call<'_>) -> Reply {
    Reply::count(database(server, call).keys(millis(call.now)).count())
}

pub(super) fn flushall(server: &mut Server, call: &Call<'_>) -> Reply {
    match &call.arguments[1..] {
        [] => {}
        [how] if [&b"ASYNC"[..], b"SYNC"].contains(&&*how.to_ascii_uppercase()) => {}
        _ => return Reply::error(SYNTAX),
    }
    server.databases.iter_mut().for_each(Keyspace::clear);
    Reply::ok()
}

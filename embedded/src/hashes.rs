//! Commands on hashes.

use super::Machine;
use super::collection::{changed, get, on, remove};
use super::command::{Call, wrong_number};
use super::keyspace::{Members, Value};
use super::reply::Reply;

/// Handles `HSET key field value ...`; answers with the number of new fields.
pub(super) fn hset(machine: &mut Machine, call: &Call<'_>) -> Reply {
    let pairs = call.arguments[2..].chunks_exact(2);
    if !pairs.remainder().is_empty() {
        return Reply::error(wrong_number("hset"));
    }
    changed(machine, call, Value::hash, Some(Value::Hash(Vec::new())), |hash| {
        pairs.filter(|pair| set(hash, &pair[0], &pair[1])).count()
    })
}

/// Sets a field; `true` if it is new.
fn set(hash: &mut Members<Vec<u8>>, field: &[u8], value: &[u8]) -> bool {
    let known = hash.iter_mut().find(|(name, _)| name == field);
    let is_new = known.is_none();
    match known {
        Some((_, old)) => *old = value.to_vec(),
        None => hash.push((field.to_vec(), value.to_vec())),
    }
    is_new
}

pub(super) fn hget(machine: &mut Machine, call: &Call<'_>) -> Reply {
    on(machine, call, Value::hash, |hash| {
        get(hash, &call.arguments[2]).map_or(Reply::Null, |value| Reply::bulk(value.clone()))
    })
}

pub(super) fn hgetall(machine: &mut Machine, call: &Call<'_>) -> Reply {
    on(machine, call, Value::hash, |hash| {
        let pairs = hash.iter().cloned();
        Reply::Map(pairs.flat_map(|(field, value)| [field, value].map(Reply::Bulk)).collect())
    })
}

/// Handles `HDEL key field ...`; answers with the number of fields that were there.
pub(super) fn hdel(machine: &mut Machine, call: &Call<'_>) -> Reply {
    changed(machine, call, Value::hash, None, |hash| {
        call.arguments[2..].iter().filter(|field| remove(hash, field)).count()
    })
}

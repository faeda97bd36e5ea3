//! Commands on hashes.

use super::Machine;
use super::collection::{changed, on};
use super::command::{Call, wrong_number};
use super::reply::Reply;
use super::value::Members;

type Hash = Members<Vec<u8>>;

/// Handles `HSET key field value ...`; answers with the number of new fields.
pub(super) fn hset(machine: &mut Machine, call: &Call<'_>) -> Reply {
    let pairs = call.arguments[2..].chunks_exact(2);
    if !pairs.remainder().is_empty() {
        return Reply::error(wrong_number("hset"));
    }
    changed(machine, call, true, |hash: &mut Hash| {
        pairs.filter(|pair| hash.set(&pair[0], &pair[1])).count()
    })
}

pub(super) fn hget(machine: &mut Machine, call: &Call<'_>) -> Reply {
    on(machine, call, |hash: &Hash| {
        hash.get(&call.arguments[2]).map_or(Reply::Null, |value| Reply::bulk(value.clone()))
    })
}

pub(super) fn hgetall(machine: &mut Machine, call: &Call<'_>) -> Reply {
    on(machine, call, |hash: &Hash| {
        let pairs = hash.all().iter().cloned();
        Reply::Map(pairs.flat_map(|(field, value)| [field, value].map(Reply::Bulk)).collect())
    })
}

/// Handles `HDEL key field ...`; answers with the number of fields that were there.
pub(super) fn hdel(machine: &mut Machine, call: &Call<'_>) -> Reply {
    changed(machine, call, false, |hash: &mut Hash| {
        call.arguments[2..].iter().filter(|field| hash.remove(field)).count()
    })
}

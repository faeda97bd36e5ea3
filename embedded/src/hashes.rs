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

pub(super) fn hsetnx(machine: &mut Machine, call: &Call<'_>) -> Reply {
    let (field, value) = (&call.arguments[2], &call.arguments[3]);
    changed(machine, call, true, |hash: &mut Hash| {
        usize::from(hash.get(field).is_none() && hash.set(field, value))
    })
}

pub(super) fn hget(machine: &mut Machine, call: &Call<'_>) -> Reply {
    on(machine, call, |hash: &Hash| {
        hash.get(&call.arguments[2]).map_or(Reply::Null, |value| Reply::bulk(value.clone()))
    })
}

pub(super) fn hexists(machine: &mut Machine, call: &Call<'_>) -> Reply {
    on(machine, call, |hash: &Hash| {
        Reply::Integer(i64::from(hash.get(&call.arguments[2]).is_some()))
    })
}

pub(super) fn hlen(machine: &mut Machine, call: &Call<'_>) -> Reply {
    on(machine, call, |hash: &Hash| Reply::count(hash.all().len()))
}

pub(super) fn hgetall(machine: &mut Machine, call: &Call<'_>) -> Reply {
    let pair = |(field, value): &(Vec<u8>, Vec<u8>)| {
        (Reply::bulk(field.clone()), Reply::bulk(value.clone()))
    };
    on(machine, call, |hash: &Hash| Reply::Map(hash.all().iter().map(pair).collect()))
}

/// Handles `HDEL key field ...`; answers with the number of fields that were there.
pub(super) fn hdel(machine: &mut Machine, call: &Call<'_>) -> Reply {
    changed(machine, call, false, |hash: &mut Hash| {
        call.arguments[2..].iter().filter(|field| hash.remove(field)).count()
    })
}

//! Commands on hashes. One without fields does not exist.

use super::command::Call;
use super::keys::{WRONG_TYPE, database};
use super::keyspace::millis;
use super::reply::Reply;
use super::server::Server;
use super::value::{Hash, Value};

/// Handles `HSET key field value ...`; answers with the number of new fields.
pub(super) fn hset(server: &mut Server, call: &Call<'_>) -> Reply {
    let pairs = call.arguments[2..].chunks_exact(2);
    if !pairs.remainder().is_empty() {
        return Reply::error("ERR wrong number of arguments for 'hset' command");
    }
    match found_or_made(server, call) {
        Ok(hash) => Reply::count(pairs.filter(|pair| hash.set(&pair[0], &pair[1])).count()),
        Err(error) => error,
    }
}

pub(super) fn hsetnx(server: &mut Server, call: &Call<'_>) -> Reply {
    let (field, value) = (&call.arguments[2], &call.arguments[3]);
    match found_or_made(server, call) {
        Ok(hash) if hash.get(field).is_some() => Reply::Integer(0),
        Ok(hash) => Reply::Integer(i64::from(hash.set(field, value))),
        Err(error) => error,
    }
}

pub(super) fn hget(server: &mut Server, call: &Call<'_>) -> Reply {
    on(server, call, |hash| {
        hash.and_then(|hash| hash.get(&call.arguments[2])).map_or(Reply::Null, Reply::bulk)
    })
}

pub(super) fn hexists(server: &mut Server, call: &Call<'_>) -> Reply {
    on(server, call, |hash| {
        let field = hash.and_then(|hash| hash.get(&call.arguments[2]));
        Reply::Integer(i64::from(field.is_some()))
    })
}

pub(super) fn hlen(server: &mut Server, call: &Call<'_>) -> Reply {
    on(server, call, |hash| Reply::count(hash.map_or(0, |hash| hash.fields().len())))
}

pub(super) fn hgetall(server: &mut Server, call: &Call<'_>) -> Reply {
    let pair = |(field, value): &(Vec<u8>, Vec<u8>)| {
        (Reply::bulk(field.clone()), Reply::bulk(value.clone()))
    };
    on(server, call, |hash| {
        let fields = hash.map_or(&[][..], |hash| hash.fields());
        Reply::Map(fields.iter().map(pair).collect())
    })
}

/// Handles `HDEL key field ...`; answers with the number of fields that were there.
pub(super) fn hdel(server: &mut Server, call: &Call<'_>) -> Reply {
    let mut is_empty = false;
    let reply = on(server, call, |hash| {
        let Some(hash) = hash else { return Reply::Integer(0) };
        let removed = call.arguments[2..].iter().filter(|field| hash.remove(field)).count();
        is_empty = hash.fields().is_empty();
        Reply::count(removed)
    });
    if is_empty {
        database(server, call).delete(&call.arguments[1], millis(call.now));
    }
    reply
}

/// Returns `answer` for the hash, if there is one; an error if the value is something else.
fn on(
    server: &mut Server,
    call: &Call<'_>,
    answer: impl FnOnce(Option<&mut Hash>) -> Reply,
) -> Reply {
    match database(server, call).get_mut(&call.arguments[1], millis(call.now)) {
        None => answer(None),
        Some(Value::Hash(hash)) => answer(Some(hash)),
        Some(_) => Reply::error(WRONG_TYPE),
    }
}

/// Finds or creates the hash; if it is new, the caller gives it a field at once.
fn found_or_made<'a>(server: &'a mut Server, call: &Call<'_>) -> Result<&'a mut Hash, Reply> {
    let (key, now) = (&call.arguments[1], millis(call.now));
    match database(server, call).get_or_insert(key, Value::Hash(Hash::default()), now) {
        Value::Hash(hash) => Ok(hash),
        _ => Err(Reply::error(WRONG_TYPE)),
    }
}

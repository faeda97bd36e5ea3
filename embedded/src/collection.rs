//! What commands on hashes and on sorted sets have in common. One without members does not exist.

use super::Machine;
use super::command::Call;
use super::keys::{WRONG_TYPE, database};
use super::keyspace::millis;
use super::reply::Reply;
use super::value::{Collected, Members};

/// Returns `answer` for the value, which is empty if there is none; an error if it is something else.
pub(super) fn on<T: Collected>(
    machine: &mut Machine,
    call: &Call<'_>,
    answer: impl FnOnce(&Members<T>) -> Reply,
) -> Reply {
    match database(machine, call).get(&call.arguments[1], millis(call.now)).map(T::members) {
        None => answer(&Members::default()),
        Some(Some(found)) => answer(found),
        Some(None) => Reply::error(WRONG_TYPE),
    }
}

/// Answers with what `change` returns for the value, and deletes it if it is empty after that. If
/// there is none, it is made or the answer is 0.
pub(super) fn changed<T: Collected>(
    machine: &mut Machine,
    call: &Call<'_>,
    make: bool,
    change: impl FnOnce(&mut Members<T>) -> usize,
) -> Reply {
    let (key, now) = (&call.arguments[1], millis(call.now));
    let database = database(machine, call);
    if !make && database.get(key, now).is_none() {
        return Reply::Integer(0);
    }
    let Some(found) = T::members(database.get_or_insert(key, T::EMPTY, now)) else {
        return Reply::error(WRONG_TYPE);
    };
    let answer = Reply::count(change(found));
    if found.all().is_empty() {
        database.delete(key, now);
    }
    answer
}

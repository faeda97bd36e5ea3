//! What commands on hashes and on sorted sets have in common. One without members does not exist.

use super::Machine;
use super::command::Call;
use super::keys::{WRONG_TYPE, database};
use super::keyspace::{Members, Value, millis};
use super::reply::Reply;

/// Returns the members of a value of the right type.
type Of<T> = fn(&mut Value) -> Option<&mut Members<T>>;

/// Returns `answer` for the value, which is empty if there is none; an error if it is something else.
pub(super) fn on<T>(
    machine: &mut Machine,
    call: &Call<'_>,
    of: Of<T>,
    answer: impl FnOnce(&[(Vec<u8>, T)]) -> Reply,
) -> Reply {
    match database(machine, call).get(&call.arguments[1], millis(call.now)).map(of) {
        None => answer(&[]),
        Some(Some(found)) => answer(found),
        Some(None) => Reply::error(WRONG_TYPE),
    }
}

/// Answers with what `change` returns for the value, and deletes it if it is empty after that. If
/// there is none, `made` takes its place, or the answer is 0.
pub(super) fn changed<T>(
    machine: &mut Machine,
    call: &Call<'_>,
    of: Of<T>,
    made: Option<Value>,
    change: impl FnOnce(&mut Members<T>) -> usize,
) -> Reply {
    let (key, now) = (&call.arguments[1], millis(call.now));
    let database = database(machine, call);
    let value = match made {
        Some(empty) => Some(database.get_or_insert(key, empty, now)),
        None => database.get(key, now),
    };
    let Some(value) = value else { return Reply::Integer(0) };
    let Some(found) = of(value) else { return Reply::error(WRONG_TYPE) };
    let answer = Reply::count(change(found));
    if found.is_empty() {
        database.delete(key, now);
    }
    answer
}

pub(super) fn get<'a, T>(members: &'a [(Vec<u8>, T)], member: &[u8]) -> Option<&'a T> {
    let (_, of_it) = members.iter().find(|(name, _)| name == member)?;
    Some(of_it)
}

/// Removes a member; `true` if it was there.
pub(super) fn remove<T>(members: &mut Members<T>, member: &[u8]) -> bool {
    let before = members.len();
    members.retain(|(name, _)| name != member);
    members.len() < before
}

//! Commands on hashes and on sorted sets. One without members does not exist.

use super::Machine;
use super::command::{Call, wrong_number};
use super::keys::{NOT_AN_INTEGER, SYNTAX, WRONG_TYPE, database};
use super::keyspace::{Members, Value, millis};
use super::reply::Reply;
use super::request::integer;
use std::ops::{Bound, RangeBounds};

const NOT_A_RANGE: &str = "ERR min or max is not a float";

/// Returns the members of a value of the right type.
pub(super) type Of<T> = fn(&mut Value) -> Option<&mut Members<T>>;

/// Returns `answer` for the value, which is empty if there is none; an error if it is something else.
fn on<T>(
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
fn changed<T>(
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

fn get<'a, T>(members: &'a [(Vec<u8>, T)], member: &[u8]) -> Option<&'a T> {
    let (_, of_it) = members.iter().find(|(name, _)| name == member)?;
    Some(of_it)
}

/// Removes a member; `true` if it was there.
fn remove<T>(members: &mut Members<T>, member: &[u8]) -> bool {
    let before = members.len();
    members.retain(|(name, _)| name != member);
    members.len() < before
}

/// Handles `HDEL key field ...` and `ZREM key member ...`; answers with the number of those that were there.
pub(super) fn removed<T>(machine: &mut Machine, call: &Call<'_>, of: Of<T>) -> Reply {
    changed(machine, call, of, None, |members| {
        call.arguments[2..].iter().filter(|member| remove(members, member)).count()
    })
}

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

/// Handles `ZADD key [XX] score member ...`; answers with the number of new members.
pub(super) fn zadd(machine: &mut Machine, call: &Call<'_>) -> Reply {
    let (only_old, pairs) = match &call.arguments[2..] {
        [option, pairs @ ..] if option.eq_ignore_ascii_case(b"XX") => (true, pairs),
        pairs => (false, pairs),
    };
    if pairs.is_empty() || pairs.len() % 2 == 1 {
        return Reply::error(SYNTAX);
    }
    let scored = |pair: &[Vec<u8>]| Some((score(&pair[0])?, pair[1].clone()));
    let Some(pairs) = pairs.chunks(2).map(scored).collect::<Option<Vec<_>>>() else {
        return Reply::error("ERR value is not a valid float");
    };
    let made = (!only_old).then(|| Value::SortedSet(Vec::new()));
    changed(machine, call, Value::sorted_set, made, |set| {
        let is_meant = |set: &[_], member: &[u8]| !only_old || get(set, member).is_some();
        let pairs = pairs.iter();
        pairs
            .filter(|(score, member)| is_meant(set, member) && set_score(set, member, *score))
            .count()
    })
}

/// Sets a member's score, which is a number; `true` if the member is new.
fn set_score(set: &mut Members<f64>, member: &[u8], score: f64) -> bool {
    let is_new = !remove(set, member);
    // A server does not tell the two zeros apart.
    let score = score + 0.0;
    let place = set.partition_point(|(name, before)| {
        before.total_cmp(&score).then_with(|| (**name).cmp(member)).is_lt()
    });
    set.insert(place, (member.to_vec(), score));
    is_new
}

pub(super) fn zscore(machine: &mut Machine, call: &Call<'_>) -> Reply {
    on(machine, call, Value::sorted_set, |set| {
        get(set, &call.arguments[2]).map_or(Reply::Null, |score| Reply::Double(*score))
    })
}

/// Handles `ZRANGE key start stop [WITHSCORES]`, both by their place; a negative one is counted from
/// the end.
pub(super) fn zrange(machine: &mut Machine, call: &Call<'_>) -> Reply {
    let mut options = call.arguments[4..].iter();
    let with_scores = !options.as_slice().is_empty();
    if !options.all(|word| word.eq_ignore_ascii_case(b"WITHSCORES")) {
        return Reply::error(SYNTAX);
    }
    let places = (integer(&call.arguments[2]), integer(&call.arguments[3]));
    let (Some(start), Some(stop)) = places else { return Reply::error(NOT_AN_INTEGER) };
    on(machine, call, Value::sorted_set, |set| {
        let members = within(set, start, stop).iter().cloned();
        if with_scores {
            let pair = |(member, score)| [Reply::Bulk(member), Reply::Double(score)];
            Reply::Pairs(members.flat_map(pair).collect())
        } else {
            Reply::Array(members.map(|(member, _)| Reply::Bulk(member)).collect())
        }
    })
}

/// Handles `ZREMRANGEBYSCORE key min max`; answers with the number of members that were there.
pub(super) fn zremrangebyscore(machine: &mut Machine, call: &Call<'_>) -> Reply {
    let Some(range) = range(call) else { return Reply::error(NOT_A_RANGE) };
    changed(machine, call, Value::sorted_set, None, |set| {
        let before = set.len();
        set.retain(|(_, score)| !range.contains(score));
        before - set.len()
    })
}

/// Handles `ZRANGEBYSCORE key min max`; answers with the members, in the order of their scores.
pub(super) fn zrangebyscore(machine: &mut Machine, call: &Call<'_>) -> Reply {
    if call.arguments.len() > 4 {
        return Reply::error(SYNTAX);
    }
    let Some(range) = range(call) else { return Reply::error(NOT_A_RANGE) };
    on(machine, call, Value::sorted_set, |set| {
        let within = set.iter().filter(|(_, score)| range.contains(score));
        Reply::Array(within.map(|(name, _)| Reply::bulk(name.clone())).collect())
    })
}

/// Handles `ZRANK key member`; answers with the number of members before it.
pub(super) fn zrank(machine: &mut Machine, call: &Call<'_>) -> Reply {
    on(machine, call, Value::sorted_set, |set| {
        let before = set.iter().position(|(name, _)| *name == call.arguments[2]);
        before.map_or(Reply::Null, Reply::count)
    })
}

pub(super) fn zcard(machine: &mut Machine, call: &Call<'_>) -> Reply {
    on(machine, call, Value::sorted_set, |set| Reply::count(set.len()))
}

/// Reads a score, which is not NaN.
fn score(word: &[u8]) -> Option<f64> {
    std::str::from_utf8(word).ok()?.parse().ok().filter(|score: &f64| !score.is_nan())
}

/// Reads both ends of a range of scores.
fn range(call: &Call<'_>) -> Option<(Bound<f64>, Bound<f64>)> {
    let bound = |word: &[u8]| match word.strip_prefix(b"(") {
        Some(after) => score(after).map(Bound::Excluded),
        None => score(word).map(Bound::Included),
    };
    Some((bound(&call.arguments[2])?, bound(&call.arguments[3])?))
}

/// Returns the members from the place `start` to the place `stop`, this one included.
fn within(members: &[(Vec<u8>, f64)], start: i64, stop: i64) -> &[(Vec<u8>, f64)] {
    let place = |index: i64| match usize::try_from(index.unsigned_abs()) {
        Ok(back) if index < 0 => members.len().checked_sub(back),
        place => place.ok(),
    };
    let (first, Some(last)) = (place(start).unwrap_or(0), place(stop)) else { return &[] };
    members.get(first..members.len().min(last.saturating_add(1))).unwrap_or_default()
}

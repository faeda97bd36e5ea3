//! Commands on keys.

use super::command::Call;
use super::keyspace::{Keyspace, Value, millis};
use super::reply::Reply;
use super::request::integer;
use super::{Machine, glob};

pub(super) const NOT_AN_INTEGER: &str = "ERR value is not an integer or out of range";
pub(super) const SYNTAX: &str = "ERR syntax error";
pub(super) const WRONG_TYPE: &str =
    "WRONGTYPE Operation against a key holding the wrong kind of value";

pub(super) fn database<'a>(machine: &'a mut Machine, call: &Call<'_>) -> &'a mut Keyspace {
    &mut machine.databases[call.database]
}

/// Handles `SET key value [NX] [PX ms | PXAT ms]`. An end that is over is no error: the key is gone at
/// once.
pub(super) fn set(machine: &mut Machine, call: &Call<'_>) -> Reply {
    let now = millis(call.now);
    let (mut only_new, mut life) = (false, None);
    let mut options = call.arguments[3..].iter();
    while let Some(option) = options.next() {
        let begins_at = match (option.to_ascii_uppercase().as_slice(), life) {
            (b"NX", _) => {
                only_new = true;
                continue;
            }
            (b"PX", None) => now,
            (b"PXAT", None) => 0,
            _ => return Reply::error(SYNTAX),
        };
        let Some(number) = options.next() else { return Reply::error(SYNTAX) };
        life = Some((begins_at, number));
    }
    let mut expires_at = None;
    if let Some((begins_at, number)) = life {
        let Some(number) = integer(number) else { return Reply::error(NOT_AN_INTEGER) };
        expires_at = i64::checked_add(begins_at, number).filter(|_| number > 0);
        if expires_at.is_none() {
            return Reply::error("ERR invalid expire time in 'set' command");
        }
    }
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
const fn kind_of(value: &Value) -> &'static str {
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

/// Handles `PEXPIRE key ms`. An end that is not in the future deletes the key.
pub(super) fn pexpire(machine: &mut Machine, call: &Call<'_>) -> Reply {
    let now = millis(call.now);
    let Some(ms) = integer(&call.arguments[2]) else { return Reply::error(NOT_AN_INTEGER) };
    let Some(at) = now.checked_add(ms) else {
        return Reply::error("ERR invalid expire time in 'pexpire' command");
    };
    let (key, database) = (&call.arguments[1], database(machine, call));
    let Some(entry) = database.entry(key, now) else { return Reply::Integer(0) };
    entry.expires_at = Some(at);
    if at <= now {
        database.delete(key, now);
    }
    Reply::Integer(1)
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

pub(super) fn flushall(machine: &mut Machine, _: &Call<'_>) -> Reply {
    machine.databases = Default::default();
    Reply::ok()
}

/// Handles `SCAN cursor [MATCH pattern] [COUNT n] [TYPE type]`. The cursor is the place in an order
/// that does not change, so keys that stay are all returned, whatever comes and goes meanwhile.
pub(super) fn scan(machine: &mut Machine, call: &Call<'_>) -> Reply {
    let cursor = std::str::from_utf8(&call.arguments[1]).ok().and_then(|text| text.parse().ok());
    let Some(cursor) = cursor else { return Reply::error("ERR invalid cursor") };
    let (mut pattern, mut count, mut wanted) = (None, 10, None);
    for option in call.arguments[2..].chunks(2) {
        let [name, value] = option else { return Reply::error(SYNTAX) };
        match name.to_ascii_uppercase().as_slice() {
            b"MATCH" => pattern = Some(value),
            b"TYPE" => wanted = Some(value),
            b"COUNT" => match integer(value).map(usize::try_from) {
                None => return Reply::error(NOT_AN_INTEGER),
                Some(Ok(number @ 1..)) => count = number,
                Some(_) => return Reply::error(SYNTAX),
            },
            _ => return Reply::error(SYNTAX),
        }
    }
    let (now, database) = (millis(call.now), database(machine, call));
    let mut left: Vec<(u64, Vec<u8>)> = database
        .keys(now)
        .map(|key| (place(key), key.to_vec()))
        .filter(|(place, _)| *place >= cursor)
        .collect();
    left.sort_unstable();
    // Keys at one place are in one page: the cursor cannot tell them apart.
    let ends = left.get(count.saturating_sub(1)).map_or(u64::MAX, |(place, _)| *place);
    let rest = left.split_off(left.partition_point(|(place, _)| *place <= ends));
    let next = rest.first().map_or(0, |(place, _)| *place);
    let is_wanted = |key: &Vec<u8>| {
        pattern.is_none_or(|pattern| glob::matches(pattern, key))
            && wanted.is_none_or(|wanted| {
                let kind = database.peek(key, now).map(|entry| kind_of(&entry.value));
                kind.is_some_and(|kind| wanted.eq_ignore_ascii_case(kind.as_bytes()))
            })
    };
    let page = left.into_iter().map(|(_, key)| key).filter(is_wanted).map(Reply::bulk);
    Reply::Array(vec![Reply::bulk(next.to_string()), Reply::Array(page.collect())])
}

/// Returns the place of a key in the order of a scan, which is never 0 (FNV-1a).
fn place(key: &[u8]) -> u64 {
    let hash = key.iter().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    hash.max(1)
}

#[cfg(test)]
mod tests {
    use crate::{ClientId, Machine, Output};
    use std::time::Duration;

    const NOW: Duration = Duration::from_secs(1_000_000);

    fn ask(machine: &mut Machine, client: ClientId, words: &[&str]) -> String {
        let words_in = |word: &&str| format!("${}\r\n{word}\r\n", word.len());
        let command: String = words.iter().map(words_in).collect();
        machine.receive(client, NOW, format!("*{}\r\n{command}", words.len()).as_bytes());
        match machine.poll_output() {
            Some(Output::Send(_, bytes)) => String::from_utf8(bytes).unwrap(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_stays_is_in_some_page_whatever_goes_meanwhile() {
        let mut machine = Machine::new(1, NOW);
        let client = machine.open();
        for number in 0..100 {
            ask(&mut machine, client, &["SET", &format!("job:{number}"), "v"]);
        }
        let (mut cursor, mut seen, mut pages) = ("0".to_owned(), String::new(), 0);
        loop {
            let page = ask(&mut machine, client, &["SCAN", &cursor, "COUNT", "7"]);
            seen.push_str(&page);
            // Those with an odd number are deleted on the way.
            let odd = (2 * pages + 1).to_string();
            ask(&mut machine, client, &["DEL", &format!("job:{odd}")]);
            pages += 1;
            cursor = page.split("\r\n").nth(2).unwrap().to_owned();
            if cursor == "0" {
                break;
            }
        }
        assert!(pages >= 10, "{pages}");
        for even in (0..100).step_by(2) {
            assert_eq!(seen.matches(&format!("\r\njob:{even}\r\n")).count(), 1, "{even}");
        }
    }
}

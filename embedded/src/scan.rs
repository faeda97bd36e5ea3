//! SCAN: the keys of a database, page by page.

use super::command::Call;
use super::keys::{NOT_AN_INTEGER, SYNTAX, database, kind_of};
use super::keyspace::millis;
use super::reply::Reply;
use super::request::integer;
use super::{Machine, glob};

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

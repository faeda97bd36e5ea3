//! Compares the embedded master with the real one: the same commands go to both over TCP, and every
//! byte of every answer is compared. `QUORUMLOCK_SEED` repeats a run.
//!
//! What may differ: ids, times (TTLs by what lies between two commands), the version, the order of KEYS,
//! SCAN and CONFIG GET, and CONFIG and INFO have fewer fields; some errors are briefer. The answers are those of
//! redis-server 7.0.
//! A newer one may word its errors differently, which would be reported here.

mod compare;
mod generate;
mod pair;
mod sorted_sets;
mod vocabulary;

use crate::support::prelude::*;
use crate::support::seed::Seed;
use compare::Difference;
use generate::{Generator, Step, Word};
use pair::Pair;
use quorumlock::embedded::Masters;
use std::cell::Cell;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, UNIX_EPOCH};
use tokio::runtime::Runtime;

/// A change to an answer of the embedded master before it is compared.
type Alter = fn(&[Word], &mut Vec<u8>);

/// Number of connections that the commands are spread over.
const CONNECTIONS: usize = 3;

const COMMANDS: usize = 6_000;

fn runtime() -> &'static Runtime {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    RUNTIME.get_or_init(|| Runtime::new().expect("a runtime for the embedded masters"))
}

fn embedded() -> Masters {
    let _entered = runtime().enter();
    Masters::start(1).expect("an embedded master")
}

fn address(masters: &Masters) -> SocketAddr {
    let url = masters[0].url();
    url.trim_start_matches("redis://").parse().expect("an address")
}

/// Sends `commands` commands to both; returns how many answers were compared.
fn compare_both(
    real: SocketAddr,
    embedded: SocketAddr,
    seed: Seed,
    commands: usize,
    alter: Alter,
) -> Result<usize, Box<Difference>> {
    let mut generator = Generator::new(seed.rng());
    let mut cuts = seed.rng().fork();
    let mut pairs: Vec<Pair> = (0..CONNECTIONS).map(|_| Pair::open(real, embedded)).collect();
    let mut compared = 0;
    while compared < commands {
        let step = generator.next_step();
        let Step::Send { on, words, heard_by_all } = step else {
            let Step::Sleep(pause) = step else { unreachable!("two kinds of steps") };
            thread::sleep(pause);
            continue;
        };
        let ids: Vec<_> = pairs.iter().map(Pair::ids).collect();
        pairs[on].exchange(&words, &ids, &mut cuts, alter)?;
        compared += 1;
        if heard_by_all {
            for pair in &mut pairs {
                pair.exchange(&[], &ids, &mut cuts, alter)?;
            }
        }
    }
    Ok(compared)
}

#[test]
fn the_embedded_master_answers_as_the_real_one_does() {
    let seed = Seed::from_env("QUORUMLOCK_SEED");
    thread::scope(|scope| {
        for run in 0..3 {
            let seed = Seed(seed.0.wrapping_add(run));
            scope.spawn(move || {
                let (real, masters) = (Server::start(), embedded());
                let (real, embedded) = (real.addr(), address(&masters));
                let result = compare_both(real, embedded, seed, COMMANDS / 3, |_, _| {});
                result.unwrap_or_else(|difference| panic!("{difference}"));
            });
        }
    });
}

/// Wrong answers, each of which the comparison must find.
const PLANTED: [(&str, Alter); 19] = [
    ("a refusal of SET NX becomes a grant", |words, answer| {
        if name(words) == b"SET" && matches!(&answer[..], b"$-1\r\n" | b"_\r\n") {
            *answer = b"+OK\r\n".to_vec();
        }
    }),
    ("RESP3 gets the null of RESP2", |_, answer| {
        if answer == b"_\r\n" {
            *answer = b"$-1\r\n".to_vec();
        }
    }),
    ("an error lacks its last letter", |_, answer| {
        if answer.starts_with(b"-NOSCRIPT") {
            answer.remove(answer.len() - 3);
        }
    }),
    ("a ttl is a second short", |words, answer| {
        let text = String::from_utf8_lossy(answer).into_owned();
        let left = text.trim_start_matches(':').trim_end().parse::<i64>();
        if let (b"PTTL", Ok(left @ 1000..)) = (&name(words)[..], left) {
            *answer = format!(":{}\r\n", left - 1000).into_bytes();
        }
    }),
    ("vacant becomes taken", |words, answer| {
        if name(words).starts_with(b"EVAL") && answer == b":0\r\n" {
            *answer = b":-1\r\n".to_vec();
        }
    }),
    ("a subscription is not counted", |words, answer| {
        if name(words) == b"SUBSCRIBE" && answer.ends_with(b":1\r\n") {
            answer.truncate(answer.len() - 4);
            answer.extend_from_slice(b":0\r\n");
        }
    }),
    ("a push is not marked as one", |_, answer| {
        if answer.first() == Some(&b'>') {
            answer[0] = b'*';
        }
    }),
    ("a field of INFO has another name", |words, answer| {
        if name(words) == b"INFO" {
            let at = answer.windows(7).position(|seven| seven == b"run_id:");
            at.into_iter().for_each(|at| answer[at] = b'R');
        }
    }),
    ("a hash is an array in RESP3", |words, answer| {
        if name(words) == b"HGETALL" && answer.first() == Some(&b'%') {
            answer[0] = b'*';
        }
    }),
    ("a changed field counts as a new one", |words, answer| {
        if name(words) == b"HSET" && answer == b":0\r\n" {
            *answer = b":1\r\n".to_vec();
        }
    }),
    ("a score is a bulk string in RESP3", |words, answer| {
        if let (b"ZSCORE", [b',', score @ .., b'\r', b'\n']) = (&name(words)[..], &answer[..]) {
            let score = String::from_utf8_lossy(score);
            *answer = format!("${}\r\n{score}\r\n", score.len()).into_bytes();
        }
    }),
    ("a range with scores is flat in RESP3", |words, answer| {
        let at = answer.windows(6).position(|six| six == b"\r\n*2\r\n");
        if let (b"ZRANGE", Some(at)) = (&name(words)[..], at) {
            answer.drain(at + 2..at + 6);
        }
    }),
    ("a changed score counts as a new member", |words, answer| {
        if name(words) == b"ZADD" && answer == b":0\r\n" {
            *answer = b":1\r\n".to_vec();
        }
    }),
    ("what a range excludes is removed", |words, answer| {
        if name(words) == b"ZREMRANGEBYSCORE" && answer == b":0\r\n" {
            *answer = b":1\r\n".to_vec();
        }
    }),
    ("a scan leaves a key out", |words, answer| {
        if name(words) == b"SCAN" && answer.ends_with(b"\r\n$1\r\na\r\n") {
            answer.truncate(answer.len() - 7);
        }
    }),
    ("who listens is not counted", |words, answer| {
        if name(words) == b"PUBSUB" && answer.ends_with(b":1\r\n") {
            answer.truncate(answer.len() - 4);
            answer.extend_from_slice(b":0\r\n");
        }
    }),
    ("a replica writes", |words, answer| {
        if name(words) == b"SET" && answer.starts_with(b"-READONLY") {
            *answer = b"+OK\r\n".to_vec();
        }
    }),
    ("a promoted replica hides what it was", |_, answer| {
        let text = String::from_utf8_lossy(answer).into_owned();
        if let Some((before, after)) = text.split_once("master_replid2:") {
            let zeros = "0".repeat(40);
            *answer = format!("{before}master_replid2:{zeros}{}", &after[40..]).into_bytes();
        }
    }),
    ("what was configured is not shown", |words, answer| {
        let at = answer.windows(6).position(|six| six == b"always");
        if let (b"CONFIG", Some(at), b'*' | b'%') = (&name(words)[..], at, answer[0]) {
            answer[at] = b'A';
        }
    }),
];

fn name(words: &[Word]) -> Vec<u8> {
    match words.first() {
        Some(Word::Bytes(name)) => name.to_ascii_uppercase(),
        _ => Vec::new(),
    }
}

/// Most runs in which a planted difference is searched for.
const RUNS: u64 = 8;

#[test]
fn a_planted_difference_is_found() {
    let seed = Seed::from_env("QUORUMLOCK_SEED");
    let find = move |(lie, alter): (&str, Alter)| {
        // A difference that only a few commands show may take more than one run to come up.
        let runs = (0..RUNS).map(|run| Seed(seed.0.wrapping_add(run)));
        let found = runs.into_iter().find_map(|seed| {
            let (real, masters) = (Server::start(), embedded());
            compare_both(real.addr(), address(&masters), seed, COMMANDS, alter).err()
        });
        eprintln!("{lie}: found at {}", found.expect(lie));
    };
    // The streams pause while keys expire.
    thread::scope(|scope| {
        for planted in PLANTED {
            scope.spawn(move || find(planted));
        }
    });
}

#[test]
fn a_clock_that_stands_still_is_found() {
    let seed = Seed::from_env("QUORUMLOCK_SEED");
    let (real, masters) = (Server::start(), embedded());
    let stopped = std::time::SystemTime::now();
    masters[0].set_clock(move || stopped);
    let result = compare_both(real.addr(), address(&masters), seed, COMMANDS, |_, _| {});
    result.expect_err("keys that never expire");
}

/// In ACL syntax. The comparison itself needs PING and CLIENT ID, and GET makes the real server
/// collect expired keys.
const DENIED: [&[&str]; 3] = [
    &["set", "info", "client|kill", "script|load", "hset", "zadd", "time", "publish", "config|get"],
    &["EVAL", "evalsha", "subscribe", "config", "del", "flushall", "Client|SetName", "zrem"],
    &[
        "script",
        "exists",
        "hgetall",
        "zcard",
        "zscore",
        "zrange",
        "zremrangebyscore",
        "zrangebyscore",
        "zrank",
        "type",
        "pttl",
        "replicaof",
        "unsubscribe",
        "keys",
        "select",
        "scan",
        "pubsub",
    ],
];

#[test]
fn the_embedded_master_denies_as_the_real_one_does() {
    let seed = Seed::from_env("QUORUMLOCK_SEED");
    let compare = move |denied: &[&str]| {
        let (real, masters) = (Server::start(), embedded());
        let rules: Vec<String> = denied.iter().map(|name| format!("-{name}")).collect();
        let mut set = vec!["ACL", "SETUSER", "default"];
        set.extend(rules.iter().map(String::as_str));
        let mut connection = pair::Connection::open(real.addr());
        connection.send(&set);
        assert_eq!(connection.answer(), b"+OK\r\n");
        masters[0].deny(denied).expect("commands that there are");

        let count_denials: Alter = |_, answer| {
            DENIALS.set(DENIALS.get() + u64::from(answer.starts_with(b"-NOPERM")));
        };
        let result =
            compare_both(real.addr(), address(&masters), seed, COMMANDS / 3, count_denials);
        result.unwrap_or_else(|difference| panic!("without {denied:?}: {difference}"));
        assert!(DENIALS.get() > 50, "{denied:?} were hardly denied");
    };
    thread::scope(|scope| {
        for denied in DENIED {
            scope.spawn(move || compare(denied));
        }
    });
}

thread_local! {
    static DENIALS: Cell<u64> = const { Cell::new(0) };
}

/// Tries to hit the exact millisecond in which a key expires: `PTTL` returns zero then.
const ALIVE_WITH_NOTHING_LEFT: &str = "
    local time = redis.call('TIME')
    local now = string.format('%d', time[1] * 1000 + math.floor(time[2] / 1000))
    redis.call('SET', KEYS[1], 'v', 'PXAT', now)
    return {redis.call('PTTL', KEYS[1]), redis.call('EXISTS', KEYS[1])}";

#[test]
fn both_servers_keep_a_key_through_its_last_millisecond() {
    let real = Server::start();
    let mut connection = pair::Connection::open(real.addr());
    let found = (0..1000).any(|_| {
        connection.send(&["EVAL", ALIVE_WITH_NOTHING_LEFT, "1", "a"]);
        connection.answer() == b"*2\r\n:0\r\n:1\r\n"
    });
    assert!(found, "the real server never had a key with nothing left");

    let masters = embedded();
    let clock = Arc::new(AtomicU64::new(1_000_000));
    let read = clock.clone();
    masters[0].set_clock(move || UNIX_EPOCH + Duration::from_millis(read.load(Ordering::Relaxed)));
    let mut connection = pair::Connection::open(address(&masters));
    connection.send(&["SET", "a", "v", "PX", "100"]);
    assert_eq!(connection.answer(), b"+OK\r\n");
    for (at, expected) in [(100, ":0\r\n"), (101, ":-2\r\n")] {
        clock.store(1_000_000 + at, Ordering::Relaxed);
        connection.send(&["PTTL", "a"]);
        assert_eq!(connection.answer(), expected.as_bytes(), "{at} ms later");
    }
}

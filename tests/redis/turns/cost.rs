//! What turns cost the masters: in commands while no one waits, and in microseconds beside a thousand
//! waiters.

use crate::support::docker::tell;
use crate::support::prelude::*;
use redis::{Connection, Value};
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::TcpStream;

const ROUNDS: u64 = 50;

/// Returns what a master has executed for so many sections without contention.
async fn executed(fair: bool) -> BTreeMap<String, u64> {
    let (masters, redlock) = three().await;
    for _ in 0..ROUNDS {
        let acquire = redlock.acquire("r");
        let acquire = if fair { acquire.fair() } else { acquire };
        acquire.await.unwrap().release().await.unwrap();
    }
    let all = async || witness::releases(&witness::calls(&masters[0]).await) >= ROUNDS;
    eventually("the slowest master has executed all", SOON, all).await;
    witness::calls(&masters[0]).await
}

#[tokio::test]
async fn without_contention_turns_cost_no_more_commands_than_a_plain_lock() {
    let (plain, fair) = (executed(false).await, executed(true).await);
    tell(&format!("{ROUNDS} plain sections: {plain:?}\n{ROUNDS} fair ones: {fair:?}"));
    for calls in [&plain, &fair] {
        assert_eq!(calls.get("set"), Some(&ROUNDS), "{calls:?}");
        assert_eq!(witness::releases(calls), ROUNDS, "{calls:?}");
    }
}

const ASK: &str = include_str!("../../../core/src/wire/scripts/ask.lua");
const LEAVE: &str = include_str!("../../../core/src/wire/scripts/leave.lua");
const RELEASE: &str = include_str!("../../../core/src/wire/scripts/release.lua");
const CHANNELS: &str = "quorumlock:free:0:";
const MINE: &str = "000102030405060708090a0b0c0d0e0f";
const WAITERS: usize = 1_000;

/// Calls of one master that belong together, by their words.
struct Case {
    name: &'static str,
    /// Waiters that are in the queue already, and listen.
    beside: usize,
    calls: Vec<Vec<String>>,
}

fn cases(hash: impl Fn(&str) -> String) -> Vec<Case> {
    let words = |line: String| line.split(' ').map(|word| word.replace('_', "")).collect();
    let (ask, leave, release) = (hash(ASK), hash(LEAVE), hash(RELEASE));
    let keys = format!("3 r {} {}", super::QUEUE, super::ALIVE);
    let set = || words(format!("SET r {MINE} NX PX 20000"));
    let plain = |prefix: &str| match prefix {
        "" => vec![words(format!("EVALSHA {release} 1 r {MINE}"))],
        _ => vec![
            words(format!("EVALSHA {release} 1 r {MINE}")),
            words(format!("PUBLISH {prefix}r _")),
        ],
    };
    let fair =
        |prefix: &str| words(format!("EVALSHA {leave} {keys} {MINE} _ hold 3000 4000 _{prefix}"));
    let look = words(format!("EVALSHA {ask} {keys} _ 20000 {MINE} 9 3000 4000"));
    let free = || words("DEL r".to_owned());
    let case = |name, beside, calls: Vec<Vec<String>>| Case { name, beside, calls };
    let all = |calls: Vec<Vec<String>>| [vec![set()], calls].concat();
    vec![
        case("plain: SET, release", 0, all(plain(""))),
        case("fair: SET, release", 0, all(vec![fair("")])),
        case("plain: SET, release that tells", 0, all(plain(CHANNELS))),
        case("fair: SET, release that tells", 0, all(vec![fair(CHANNELS)])),
        case("plain: SET, release that tells", WAITERS, all(plain(CHANNELS))),
        case("fair: SET, release that tells, DEL", WAITERS, all(vec![fair(CHANNELS), free()])),
        case("fair: SET, release, DEL", WAITERS, all(vec![fair(""), free()])),
        case("a look", 0, vec![look.clone()]),
        case("a look", WAITERS, vec![look]),
    ]
}

/// A listener that reads whatever comes.
fn listen(server: &Server) -> TcpStream {
    let mut stream = TcpStream::connect(server.addr()).unwrap();
    stream.write_all(format!("SUBSCRIBE {CHANNELS}r\r\n").as_bytes()).unwrap();
    let mut reading = stream.try_clone().unwrap();
    std::thread::Builder::new()
        .stack_size(64 << 10)
        .spawn(move || {
            let mut bytes = [0; 512];
            while reading.read(&mut bytes).is_ok_and(|read| read > 0) {}
        })
        .unwrap();
    stream
}

fn info(connection: &mut Connection, section: &str) -> BTreeMap<String, String> {
    let text: String = redis::cmd("INFO").arg(section).query(connection).unwrap();
    let fields = text.lines().filter_map(|line| line.split_once(':'));
    fields.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

/// Returns the microseconds of CPU that the master has used, and those in which it executed commands that
/// clients sent.
fn spent(connection: &mut Connection, names: &[&str]) -> (f64, f64) {
    let cpu = info(connection, "cpu");
    let cpu = ["used_cpu_user", "used_cpu_sys"].map(|field| cpu[field].parse::<f64>().unwrap());
    let stats = info(connection, "commandstats");
    let executed = names.iter().filter_map(|name| {
        let stats = stats.get(&format!("cmdstat_{name}"))?;
        stats.split(',').find_map(|field| field.strip_prefix("usec="))?.parse::<f64>().ok()
    });
    (cpu.iter().sum::<f64>() * 1e6, executed.sum())
}

fn measured(server: &Server, connection: &mut Connection, case: &Case, times: u32) -> (f64, f64) {
    let listeners: Vec<TcpStream> = (0..case.beside).map(|_| listen(server)).collect();
    let _: Value =
        redis::cmd("DEL").arg("r").arg(super::QUEUE).arg(super::ALIVE).query(connection).unwrap();
    let names: Vec<String> = (0..case.beside).map(|name| format!("{name:032x}")).collect();
    // They live as long as a place may at most.
    let until = (super::nanos() / 1_000_000 + 29_000).to_string();
    for name in &names {
        let _: Value =
            redis::cmd("ZADD").arg(super::QUEUE).arg(1_000).arg(name).query(connection).unwrap();
        let _: Value =
            redis::cmd("ZADD").arg(super::ALIVE).arg(&until).arg(name).query(connection).unwrap();
    }
    let _: Value = redis::cmd("CONFIG").arg("RESETSTAT").query(connection).unwrap();
    // What a script calls is in the time of the script.
    let mut sent: Vec<String> = case.calls.iter().map(|call| call[0].to_lowercase()).collect();
    sent.retain(|name| name != "del" && (name != "set" || case.name.contains("SET")));
    sent.dedup();
    let sent: Vec<&str> = sent.iter().map(String::as_str).collect();
    let (cpu, _) = spent(connection, &sent);
    for _ in 0..times {
        for call in &case.calls {
            let mut command = redis::cmd(&call[0]);
            let _: Value = command.arg(&call[1..]).query(connection).unwrap();
        }
    }
    let (cpu_after, executed) = spent(connection, &sent);
    for listener in listeners {
        drop(listener.shutdown(std::net::Shutdown::Both));
    }
    ((cpu_after - cpu) / f64::from(times), executed / f64::from(times))
}

/// The figures that were asked for, the cases in turn: `cargo nextest run --all-features --test redis
/// turns::cost --run-ignored only --no-capture`. Executing is what the master counts for the commands that
/// were sent; CPU includes reading and writing. What both report of a SET inside a script counts twice in
/// executing.
#[test]
#[ignore = "measures"]
fn the_cost_of_turns_in_microseconds_of_the_master() {
    const ROUNDS: usize = 5;
    let server = Server::start();
    let mut connection = redis::Client::open(server.url()).unwrap().get_connection().unwrap();
    let load = |script: &str| -> String {
        let mut connection = redis::Client::open(server.url()).unwrap().get_connection().unwrap();
        redis::cmd("SCRIPT").arg("LOAD").arg(script).query(&mut connection).unwrap()
    };
    let cases = cases(load);
    let mut figures = vec![Vec::new(); cases.len()];
    for _ in 0..ROUNDS {
        for (case, figures) in cases.iter().zip(&mut figures) {
            let times = if case.beside > 0 { 300 } else { 2_000 };
            figures.push(measured(&server, &mut connection, case, times));
        }
    }
    tell(&format!("{:<44} {:>9} {:>9}", "us of the master, medians", "executing", "CPU"));
    for (case, figures) in cases.iter().zip(figures) {
        let median = |part: fn(&(f64, f64)) -> f64| {
            let mut parts: Vec<f64> = figures.iter().map(part).collect();
            parts.sort_by(f64::total_cmp);
            parts[ROUNDS / 2]
        };
        let name = format!("{}, beside {}", case.name, case.beside);
        tell(&format!("{name:<44} {:>9.1} {:>9.1}", median(|cost| cost.1), median(|cost| cost.0)));
    }
}

//! The scripts of readers on a real master: what they promise, without a right and without memory,
//! and what they cost. `make test-servers` runs it on each server.

mod cost;

use crate::support::readers::{
    Act, Answer, HINT, LOCK, MARK, Master, READERS, REAL, Unclear, Walk,
};
use crate::support::seed::Seed;
use crate::support::server::Server;
use redis::{Connection, Value};
use std::thread;
use std::time::Duration;

/// A master, and a connection to it.
struct Real {
    server: Server,
    connection: Connection,
}

impl Real {
    fn start() -> Self {
        let server = Server::start();
        let connection = redis::Client::open(server.url()).unwrap().get_connection().unwrap();
        Self { server, connection }
    }

    fn act(&mut self, act: &Act) -> Answer {
        let now = self.now();
        let words = act.command(now);
        self.ask(&words.iter().map(String::as_str).collect::<Vec<_>>())
    }

    fn user(&mut self, rule: &str) {
        assert_eq!(self.ask(&["ACL", "SETUSER", "default", rule]), Answer::Okay);
    }

    /// Returns the keys, readers and lock, with their values, but for their lives.
    fn keys(&mut self) -> (Vec<(String, i64)>, Option<String>) {
        (self.readers(), self.stands(LOCK).map(|(value, _)| value))
    }
}

impl Master for Real {
    fn ask(&mut self, words: &[&str]) -> Answer {
        let mut command = redis::cmd(words[0]);
        command.arg(&words[1..]);
        match command.query(&mut self.connection) {
            Ok(value) => answer(value),
            Err(error) => Answer::Error(error.to_string()),
        }
    }

    fn pass(&mut self, millis: i64) {
        thread::sleep(Duration::from_millis(millis.unsigned_abs()));
    }
}

pub(crate) fn answer(value: Value) -> Answer {
    match value {
        Value::Okay => Answer::Okay,
        Value::Nil => Answer::Nil,
        Value::Int(number) => Answer::Int(number),
        Value::BulkString(bytes) => Answer::Text(String::from_utf8(bytes).unwrap()),
        Value::Array(parts) => Answer::List(parts.into_iter().map(answer).collect()),
        Value::ServerError(error) => Answer::Error(error.to_string()),
        other => panic!("{other:?}"),
    }
}

fn read(name: &str) -> Act {
    Act::Read { name: name.into(), life: 60_000, was_let_in: false }
}

fn extend(name: &str) -> Act {
    Act::Extend { name: name.into(), life: 60_000 }
}

fn release(name: &str) -> Act {
    Act::Release { name: name.into() }
}

fn write(name: &str) -> Act {
    Act::Write { name: name.into(), life: 60_000 }
}

const COMPARED: usize = 400;
/// Masters at a time: the walks wait for lives to end.
const MASTERS: u64 = 4;
/// Acts in one walk; then all keys are deleted.
const WALK: usize = 60;

#[test]
fn a_real_master_does_what_the_model_of_readers_does() {
    let seed = Seed::from_env("QUORUMLOCK_SEED");
    thread::scope(|scope| {
        for number in 0..MASTERS {
            scope.spawn(move || walks(Seed(seed.0.wrapping_add(number))));
        }
    });
}

fn walks(seed: Seed) {
    let (mut rng, mut real) = (seed.rng(), Real::start());
    let (mut compared, mut unclear) = (0, 0);
    while compared < COMPARED {
        let mut walk = Walk::new(&mut real, &REAL);
        for _ in 0..WALK {
            let act = walk.chosen(rng.next() as u8, rng.next() as u8);
            match walk.step(act) {
                Ok(()) => compared += 1,
                Err(Unclear) => {
                    unclear += 1;
                    break;
                }
            }
        }
        assert!(unclear < COMPARED, "the machine is too slow to compare anything");
    }
    eprintln!("{compared} acts compared, {unclear} walks ended early");
}

#[test]
fn without_one_of_its_rights_a_script_of_readers_changes_nothing() {
    let mut real = Real::start();
    let rights = ["zadd", "zrem", "zscore", "zrange", "zremrangebyscore", "pexpire", "set"];
    for right in rights {
        for (before, act) in [
            (vec![], read("mine")),
            (vec![read("a")], read("mine")),
            (vec![write("mine")], extend("mine")),
            (vec![read("a"), read("mine")], extend("mine")),
            (vec![read("mine"), read("a")], release("mine")),
        ] {
            let releases = matches!(act, Act::Release { .. });
            if releases && right == "zadd" {
                continue;
            }
            real.ask(&["DEL", LOCK, READERS]);
            before.iter().for_each(|act| assert_eq!(real.act(act), Answer::Okay));
            let keys = real.keys();
            real.user(&format!("-{right}"));
            let answer = real.act(&act);
            real.user("+@all");
            assert!(matches!(answer, Answer::Error(_)), "{answer:?} without {right}");
            assert_eq!(real.keys(), keys, "without {right}, {act:?}");
            let left = [LOCK, READERS].map(|key| real.ask(&["PTTL", key]));
            assert!(!left.contains(&Answer::Int(-1)), "forever without {right}, {act:?}: {left:?}");
        }
    }
}

/// Like a plain lock, which SET does not grant then, PEXPIRE prolongs and DEL releases.
#[test]
fn a_master_without_memory_lets_no_reader_in_and_keeps_those_that_it_has() {
    let mut real = Real::start();
    for (name, act) in [("a", read("a")), ("b", read("b"))] {
        assert_eq!(real.act(&act), Answer::Okay, "{name}");
    }
    assert_eq!(real.ask(&["CONFIG", "SET", "maxmemory", "1"]), Answer::Okay);
    let before = real.keys();
    let answer = real.act(&read("late"));
    assert!(matches!(&answer, Answer::Error(error) if error.contains("OOM")), "{answer:?}");
    assert_eq!(real.keys(), before);
    thread::sleep(Duration::from_millis(5));
    assert_eq!(real.act(&extend("a")), Answer::Int(1));
    let (readers, mark) = real.keys();
    assert!(readers[1].0 == "a" && readers[1].1 > before.0[1].1, "{readers:?}");
    assert_eq!(mark.as_deref(), Some(MARK));
    assert_eq!(real.act(&release("a")), Answer::Int(1));
    assert_eq!(real.keys().0, [before.0[1].clone()]);
    assert_eq!(real.act(&release("b")), Answer::Int(1));
    assert_eq!(real.keys(), (Vec::new(), None));
}

#[test]
fn a_writer_becomes_a_reader_without_memory_too() {
    let mut real = Real::start();
    assert_eq!(real.act(&write("mine")), Answer::Okay);
    assert_eq!(real.ask(&["CONFIG", "SET", "maxmemory", "1"]), Answer::Okay);
    assert_eq!(real.act(&extend("mine")), Answer::Int(1));
    let (readers, mark) = real.keys();
    assert_eq!((readers[0].0.as_str(), mark.as_deref()), ("mine", Some(MARK)));
    assert_eq!(real.stands(HINT), None);
}

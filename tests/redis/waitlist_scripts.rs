//! The scripts of waitlists on a real master: they answer, write and leave what they do on an embedded one,
//! without a right and without memory, too. `make test-servers` runs it on each server.

use crate::read_scripts::answer;
use crate::support::readers::Answer;
use crate::support::seed::{Rng, Seed};
use crate::support::server::Server;
use redis::Connection;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;

const WAITLIST: &str = include_str!("../../core/src/wire/scripts/waitlist.lua");

/// Nothing expires while a test runs.
const LONG: &str = "600000";
const LONGER: &str = "1200000";
const CAP: &str = "60000";
const WAITERS: u64 = 5;

/// The name of a waiter, which begins with the mailbox of its process.
fn waiter(waiter_number: u64) -> String {
    format!("{waiter_number:016}{waiter_number:016x}")
}

fn mailbox(waiter_number: u64) -> String {
    format!("free:@{}", &waiter(waiter_number)[..16])
}

/// A client that reads messages.
struct Reader(BufReader<TcpStream>);

impl Reader {
    fn asks(&mut self, words: [&str; 2]) {
        let command = redis::cmd(words[0]).arg(words[1]).get_packed_command();
        self.0.get_mut().write_all(&command).unwrap();
        assert_eq!(self.next()[0], words[0].to_lowercase());
    }

    /// Returns the words of the next reply, an array of three.
    fn next(&mut self) -> [String; 3] {
        let mut line = || {
            let mut line = String::new();
            self.0.read_line(&mut line).unwrap();
            line.trim_end().to_owned()
        };
        assert_eq!(line(), "*3");
        [(); 3].map(|()| match line().split_at(1) {
            ("$", _) => line(),
            (_, rest) => rest.to_owned(),
        })
    }
}

/// A master, a client that asks, and a client that reads the channel of the key and some mailboxes.
struct Master {
    connection: Connection,
    reader: Reader,
}

impl Master {
    fn at(url: &str) -> Self {
        let connection = redis::Client::open(url).unwrap().get_connection().unwrap();
        let address = url.strip_prefix("redis://").unwrap();
        let stream = TcpStream::connect(address).unwrap();
        let mut reader = Reader(BufReader::new(stream));
        reader.asks(["SUBSCRIBE", "free:r"]);
        Self { connection, reader }
    }

    fn ask(&mut self, words: &[&str]) -> Answer {
        match redis::cmd(words[0]).arg(&words[1..]).query(&mut self.connection) {
            Ok(value) => answer(value),
            Err(error) => Answer::Error(error.to_string()),
        }
    }

    /// Begins anew: these waiters read their mailboxes.
    fn clear(&mut self, reading: &[u64]) {
        assert_eq!(self.ask(&["FLUSHALL"]), Answer::Okay);
        for reader in 0..WAITERS {
            self.reader.asks(["UNSUBSCRIBE", &mailbox(reader)]);
        }
        for reader in reading {
            self.reader.asks(["SUBSCRIBE", &mailbox(*reader)]);
        }
    }

    /// Returns the messages until now.
    fn messages(&mut self) -> Vec<String> {
        self.ask(&["PUBLISH", "free:r", "end"]);
        let next = || {
            let [_, _, message] = self.reader.next();
            message
        };
        std::iter::repeat_with(next).take_while(|message| message != "end").collect()
    }

    fn listed(&mut self) -> Answer {
        self.ask(&["ZRANGE", "list", "0", "-1"])
    }

    /// Returns those that stand in the list of the semaphore, of which `r` is the channel.
    fn listed_for_slots(&mut self) -> Answer {
        self.ask(&["ZRANGE", "slots", "0", "-1"])
    }

    fn seeks(&mut self, waiter_number: u64, stamp: &str, quiet: &str) -> Answer {
        let name = waiter(waiter_number);
        let keys = ["r0", "r1", "slots", "slots due"];
        let seek = ["EVAL", WAITLIST, "4"];
        let arguments = ["wait", "free:", "r", &name, stamp, quiet, LONG, "4", LONG, CAP, "0"];
        self.ask(&[&seek[..], &keys, &arguments].concat())
    }

    fn calls_for(&mut self, slot: &str) -> Answer {
        let key = format!("r{slot}");
        let call = ["EVAL", WAITLIST, "3", &key, "slots", "slots due"];
        self.ask(&[&call[..], &["call", "free:", "r", LONG, "", slot]].concat())
    }

    fn waits(&mut self, waiter_number: u64, stamp: &str, quiet: &str) -> Answer {
        let name = waiter(waiter_number);
        let wait = ["EVAL", WAITLIST, "3", "r", "list", "due"];
        let arguments = ["wait", "free:", "", &name, stamp, quiet, LONG, "4", LONG, CAP, "0"];
        self.ask(&[&wait[..], &arguments].concat())
    }

    fn calls(&mut self) -> Answer {
        self.calls_as("")
    }

    /// Calls, whatever the key says here, or not.
    fn calls_as(&mut self, anyway: &str) -> Answer {
        let call = ["EVAL", WAITLIST, "3", "r", "list", "due"];
        self.ask(&[&call[..], &["call", "free:", "", LONG, anyway, ""]].concat())
    }

    /// Does a step that `rng` draws. What two masters with clocks of their own answer alike is returned.
    fn step(&mut self, rng: &mut Rng) -> (String, Answer) {
        let waiter_number = rng.within(0..WAITERS);
        // Long ago, or for the whole test.
        let quiet = *rng.pick(&["0", LONG]);
        let stamp = *rng.pick(&["", "", "3", "7"]);
        let holder = format!("{}:label", waiter(rng.within(0..WAITERS)));
        let slot = *rng.pick(&["0", "1"]);
        let key = format!("r{slot}");
        let (step, reply) = match rng.within(0..24) {
            12..17 => ("seeks", self.seeks(waiter_number, stamp, quiet)),
            17..19 => ("calls for", self.calls_for(slot)),
            19 => ("leaves for", self.ask(&["ZREM", "slots", &waiter(waiter_number)])),
            20 => ("frees", self.ask(&["DEL", &key])),
            21..24 => ("holds", self.ask(&["SET", &key, &holder, "NX", "PX", LONGER])),
            0..6 => ("waits", self.waits(waiter_number, stamp, quiet)),
            6 => ("calls", self.calls()),
            7 => ("calls anyway", self.calls_as("1")),
            8 => ("leaves", self.ask(&["ZREM", "list", &waiter(waiter_number)])),
            9 => ("frees", self.ask(&["DEL", "r"])),
            10 => ("holds", self.ask(&["SET", "r", &holder, "NX", "PX", LONG])),
            _ => ("holds for good", self.ask(&["SET", "r", "theirs"])),
        };
        let shown = format!("{step} {waiter_number} {quiet} {stamp} {slot} {holder}");
        let reply = match reply {
            // Neither lives, nor stamps and times of calls by the clock.
            Answer::List(mut parts) if parts.len() >= 6 => {
                let call = matches!(&parts[5], Answer::Text(call) if !call.is_empty());
                (parts[1], parts[2], parts[5]) =
                    (Answer::Nil, Answer::Nil, Answer::Int(call.into()));
                // Which slot will be free first is by the clock, too.
                let is_free = parts[0] == Answer::Int(1);
                parts.truncate(if is_free { 7 } else { 6 });
                Answer::List(parts)
            }
            reply => reply,
        };
        (shown, reply)
    }
}

fn embedded() -> quorumlock::embedded::Masters {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let masters = runtime.block_on(async { quorumlock::embedded::Masters::start(1).unwrap() });
    // It serves as long as the process lives.
    std::mem::forget(runtime);
    masters
}

#[test]
fn an_embedded_master_does_what_a_real_one_does() {
    const STEPS: usize = 1_500;
    let (masters, server) = (embedded(), Server::start());
    let mut both = [Master::at(&masters[0].url()), Master::at(&server.url())];
    let seed = Seed::from_env("QUORUMLOCK_SEED");
    let mut rngs = [seed.rng(), seed.rng()];
    let (mut found, mut verbs) = ([(); 2].map(|()| std::collections::BTreeSet::new()), 0);
    for step in 0..STEPS {
        if step % 40 == 0 {
            let reading: Vec<u64> = (0..WAITERS)
                .filter(|waiter_number| !(step / 40 + *waiter_number as usize).is_multiple_of(3))
                .collect();
            both.iter_mut().for_each(|master| master.clear(&reading));
        }
        let mut steps = both.iter_mut().zip(&mut rngs).map(|(master, rng)| {
            let step = master.step(rng);
            (step, master.messages(), [master.listed(), master.listed_for_slots()])
        });
        let [embedded, real] = [steps.next().unwrap(), steps.next().unwrap()];
        drop(steps);
        assert_eq!(embedded, real);
        verbs += real.1.len();
        if let Answer::List(parts) = &real.0.1
            && parts.len() >= 6
            && let asked = usize::from(real.0.0.starts_with("seeks"))
        {
            found[asked].insert(parts[0].number());
        }
    }
    let [of_keys, of_slots] = found.map(|found| found.into_iter().collect::<Vec<_>>());
    assert_eq!((&of_keys[..], &of_slots[..]), (&[0, 1, 2, 4][..], &[0, 1, 2, 4][..]));
    assert!(verbs > STEPS / 10, "{verbs} messages");
}

/// Waiters 0 to 2 stand in the list, and the key is free.
fn filled(master: &mut Master) {
    master.clear(&[0, 1, 2]);
    assert_eq!(master.ask(&["SET", "r", "theirs", "PX", LONG]), Answer::Okay);
    for number in 0..3 {
        master.waits(number, &format!("{}", number + 1), "0");
    }
    assert_eq!(master.ask(&["DEL", "r"]), Answer::Int(1));
}

#[test]
fn without_one_of_its_rights_a_question_writes_nothing_and_a_call_calls_none() {
    let server = Server::start();
    let mut real = Master::at(&server.url());
    for right in [
        "zadd",
        "zrem",
        "zscore",
        "zrange",
        "zrangebyscore",
        "zrank",
        "zcard",
        "time",
        "get",
        "pexpire",
        "pttl",
    ] {
        for asks in ["wait", "seek", "call"] {
            let needs = match asks {
                "call" => !matches!(right, "zadd" | "zscore" | "zrank" | "get" | "pexpire"),
                "seek" => right != "get",
                _ => true,
            };
            if !needs {
                continue;
            }
            filled(&mut real);
            let before = real.listed();
            real.ask(&["ACL", "SETUSER", "default", &format!("-{right}")]);
            let reply = match asks {
                "wait" => real.waits(4, "", "0"),
                "seek" => real.seeks(4, "", "0"),
                _ => real.calls(),
            };
            real.ask(&["ACL", "SETUSER", "default", "+@all"]);
            assert!(matches!(reply, Answer::Error(_)), "{asks}: {reply:?} without {right}");
            assert_eq!(
                (real.listed(), real.messages().len()),
                (before, 0),
                "{asks} without {right}"
            );
            assert_eq!(real.listed_for_slots(), Answer::List([].into()), "{asks} without {right}");
        }
    }
}

#[test]
fn a_denied_publish_removes_no_waiter_and_without_memory_a_call_goes_out() {
    let server = Server::start();
    let mut real = Master::at(&server.url());
    filled(&mut real);
    let before = real.listed();
    real.ask(&["ACL", "SETUSER", "default", "-publish"]);
    let reply = real.calls();
    real.ask(&["ACL", "SETUSER", "default", "+@all"]);
    assert!(matches!(reply, Answer::Error(_)), "{reply:?}");
    assert_eq!((real.listed(), real.messages().len()), (before, 0));
    assert_eq!(real.ask(&["CONFIG", "SET", "maxmemory", "1"]), Answer::Okay);
    let reply = real.waits(4, "", "0");
    assert!(matches!(&reply, Answer::Error(error) if error.contains("OOM")), "{reply:?}");
    assert_eq!(real.calls(), Answer::List([1, 1, 2].map(Answer::Int).into()));
    let called = |verb: &str, waiter_number: u64| format!("{verb} {} r", waiter(waiter_number));
    assert_eq!(real.messages(), [called("free", 0), called("watch", 2), "called".into()]);
}

#[test]
fn what_is_of_another_type_is_an_error_for_the_list_and_held_for_the_key() {
    let server = Server::start();
    let mut real = Master::at(&server.url());
    real.ask(&["RPUSH", "r", "x"]);
    let reply = real.waits(1, "", "0");
    assert!(matches!(&reply, Answer::List(parts) if parts[0] == Answer::Int(0)), "{reply:?}");
    real.ask(&["FLUSHALL"]);
    real.ask(&["RPUSH", "list", "x"]);
    for reply in [real.waits(1, "", "0"), real.calls()] {
        assert!(matches!(&reply, Answer::Error(error) if error.contains("WRONGTYPE")), "{reply:?}");
    }
    assert_eq!(real.ask(&["DBSIZE"]), Answer::Int(1));
}

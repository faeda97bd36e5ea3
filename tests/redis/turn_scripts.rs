//! The scripts of waiters in turn on a real master: they answer and leave what they do on an
//! embedded one, without a right and without memory, too. `make test-servers` runs it on each server.

use crate::read_scripts::answer;
use crate::support::readers::Answer;
use crate::support::seed::{Rng, Seed};
use crate::support::server::Server;
use redis::Connection;

const ASK: &str = include_str!("../../core/src/wire/scripts/ask.lua");
const LEAVE: &str = include_str!("../../core/src/wire/scripts/leave.lua");
const TOP_UP: &str = include_str!("../../core/src/wire/scripts/top_up.lua");
const EXTEND: &str = include_str!("../../core/src/wire/scripts/extend.lua");
const ACQUIRE: &str = include_str!("../../core/src/wire/scripts/acquire.lua");

/// All that lives does so for so many ms: nothing expires while a test runs.
const LONG: &str = "600000";
/// For how many ms a place lives that a release shortens.
const LONGER: u64 = 1_200_000;
const KEYS: [&str; 4] = ["r", "queue", "alive", "fence"];
const HOUR_US: u64 = 3_600_000_000;

struct Master {
    connection: Connection,
}

impl Master {
    fn of(server: &Server) -> Self {
        Self::at(&server.url())
    }

    fn at(url: &str) -> Self {
        Self { connection: redis::Client::open(url).unwrap().get_connection().unwrap() }
    }

    fn ask(&mut self, words: &[&str]) -> Answer {
        match redis::cmd(words[0]).arg(&words[1..]).query(&mut self.connection) {
            Ok(value) => answer(value),
            Err(error) => Answer::Error(error.to_string()),
        }
    }

    fn does(&mut self, words: &[String]) -> Answer {
        self.ask(&words.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// What stands: the lock, the fence, the waiters in order, and which of them live.
    fn stands(&mut self) -> [Answer; 4] {
        [
            &["GET", "r"][..],
            &["GET", "fence"],
            &["ZRANGE", "queue", "0", "-1"],
            &[
                "EVAL",
                "local all = redis.call('ZRANGE', 'alive', 0, -1) table.sort(all) return all",
                "0",
            ],
        ]
        .map(|words| self.ask(words))
    }

    fn now(&mut self) -> u64 {
        let [seconds, micros] = &self.ask(&["TIME"]).flat()[..] else { panic!("no time") };
        (seconds.number() * 1_000_000 + micros.number()).unsigned_abs()
    }

    /// Waiters 1 to 3, of which 1 is first and not known to live, and the others live for longer than a release
    /// leaves them.
    fn fill(&mut self) {
        self.ask(&["FLUSHALL"]);
        for who in 1..=3 {
            assert_eq!(
                reason(&self.does(&asks(who, false, "", None))),
                Some(why(&[-3, 2, 2], who))
            );
        }
        assert_eq!(self.ask(&["ZREM", "alive", "waiter 1"]), Answer::Int(1));
        let far = (self.now() / 1_000 + LONGER).to_string();
        for waiter in ["waiter 2", "waiter 3"] {
            assert_eq!(self.ask(&["ZADD", "alive", "XX", "CH", &far, waiter]), Answer::Int(1));
        }
    }
}

fn why(reasons: &[i64], who: u64) -> i64 {
    reasons[usize::try_from(who).unwrap() - 1]
}

fn reason(answer: &Answer) -> Option<i64> {
    match answer {
        Answer::Okay => None,
        Answer::List(parts) => Some(parts[0].number()),
        other => panic!("{other:?}"),
    }
}

/// Returns the words of a script on these keys, with the fence if there is a ballot.
fn script(
    source: &str,
    locks: usize,
    arguments: &[&str],
    ballot: Option<(u64, &[&str])>,
) -> Vec<String> {
    let fence = ballot.iter().map(|_| "fence");
    let keys: Vec<&str> = KEYS[..locks].iter().copied().chain(fence).collect();
    let number = ballot.map(|(number, _)| number.to_string());
    let count = keys.len().to_string();
    let words = ["EVAL", source, &count].into_iter().chain(keys).chain(arguments.iter().copied());
    let more = ballot.map(|(_, more)| more).unwrap_or_default();
    words.chain(number.as_deref()).chain(more.iter().copied()).map(str::to_owned).collect()
}

fn asks(who: u64, tries: bool, ticket: &str, ballot: Option<u64>) -> Vec<String> {
    let (token, waiter) = (format!("token {who}"), format!("waiter {who}"));
    let token = if tries { &*token } else { "" };
    let hour = HOUR_US.to_string();
    let more = [&*hour, &hour, LONG];
    let ballot = ballot.map(|number| (number, &more[..]));
    script(ASK, 3, &[token, LONG, &waiter, ticket, LONG, LONG], ballot)
}

fn leaves(who: u64, kind: &str, has_place: bool, ballot: Option<u64>) -> Vec<String> {
    let (token, waiter) = (format!("token {who}"), format!("waiter {who}"));
    let waiter = if has_place { &*waiter } else { "" };
    let hour = HOUR_US.to_string();
    let more = [&*hour, LONG];
    script(
        LEAVE,
        3,
        &[&token, waiter, kind, LONG, LONG, "free:"],
        ballot.map(|number| (number, &more[..])),
    )
}

/// A step of a client, of another one, or of chance. Tickets and stamps order in the same way on all
/// masters, since tickets are far below any clock.
fn chosen(rng: &mut Rng, now: u64) -> Vec<String> {
    let who = rng.within(0..4);
    let token = format!("token {who}");
    let ticket = *rng.pick(&["", "", "", "3", "5", "7"]);
    let away = rng.pick(&[0, 0, 5, 9, 2 * HOUR_US]);
    let numbers = [None, None, Some(now + away), Some(now - away)];
    let ballot = *rng.pick(&numbers);
    let hour = HOUR_US.to_string();
    // Of a block, the first number is sent as well.
    let first = ballot.map_or(0, |number| number - rng.pick(&[3, HOUR_US])).to_string();
    let more = [&*hour, &hour, LONG, &first];
    let block = ballot.map(|number| (number, &more[..*rng.pick(&[3, 4])]));
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    match rng.within(0..20) {
        0..4 => asks(who, false, ticket, ballot),
        4..8 => asks(who, true, ticket, ballot),
        8..10 => leaves(who, "try", rng.chance(70), ballot),
        10 => leaves(who, "place", rng.chance(90), ballot),
        11 | 12 => leaves(who, "hold", rng.chance(70), ballot),
        13 => script(TOP_UP, 1, &[&token, LONG], None),
        14 => script(EXTEND, 1, &[&token, LONG], None),
        15 => script(ACQUIRE, 1, &[&token, LONG, *rng.pick(&["0", "1"])], block),
        16 => words(&["SET", "r", *rng.pick(&["", "theirs", &token]), "NX", "PX", LONG]),
        17 => words(&["DEL", *rng.pick(&["r", "r", "fence", "alive"])]),
        18 => words(&["ZREM", "alive", &format!("waiter {who}")]),
        _ => words(&["ZADD", "alive", "XX", "1", &format!("waiter {who}")]),
    }
}

/// What two masters with their own clocks answer alike: neither lives nor stamps.
fn without_times(answer: Answer) -> Answer {
    match answer {
        Answer::List(parts) => {
            let times = |place: usize| matches!(place, 1 | 3 | 4);
            let kept = parts.into_iter().enumerate().filter(|(place, _)| !times(*place));
            Answer::List(kept.map(|(_, part)| part).collect())
        }
        other => other,
    }
}

#[test]
fn an_embedded_master_does_what_a_real_one_does() {
    const STEPS: usize = 1_000;
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let masters = runtime.block_on(async { quorumlock::embedded::Masters::start(1).unwrap() });
    let server = Server::start();
    let (mut real, mut embedded) = (Master::of(&server), Master::at(&masters[0].url()));
    let mut rng = Seed::from_env("QUORUMLOCK_SEED").rng();
    let mut reasons = std::collections::BTreeSet::new();
    let now = real.now();
    for step in 0..STEPS {
        if step % 60 == 0 {
            for master in [&mut real, &mut embedded] {
                assert_eq!(master.ask(&["FLUSHALL"]), Answer::Okay);
            }
        }
        let words = chosen(&mut rng, now);
        let [answer, expected] =
            [&mut embedded, &mut real].map(|master| without_times(master.does(&words)));
        let shown = [&words[..1], &words[2..]].concat();
        assert_eq!(answer, expected, "{shown:?}");
        assert_eq!(embedded.stands(), real.stands(), "{shown:?}");
        if let (true, Answer::List(parts)) = (words[1] == ASK, answer) {
            reasons.insert(parts[0].number());
        }
    }
    assert_eq!(reasons.into_iter().collect::<Vec<_>>(), [-3, -2, -1, 0, 2]);
}

/// Returns the places whose lives are longer than a release leaves them.
fn long_lived(master: &mut Master) -> usize {
    let most = (master.now() / 1_000 + LONGER / 2 + 60_000).to_string();
    master.ask(&["ZRANGEBYSCORE", "alive", &most, "+inf"]).flat().len()
}

#[test]
fn what_shortens_the_places_does_it_on_both() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let masters = runtime.block_on(async { quorumlock::embedded::Masters::start(1).unwrap() });
    let server = Server::start();
    for mut master in [Master::of(&server), Master::at(&masters[0].url())] {
        for by in [leaves(9, "hold", false, None), asks(300, false, "", None)] {
            master.ask(&["FLUSHALL"]);
            for number in 0..258 {
                let place = format!("waiter {number:03}");
                let far = (master.now() / 1_000 + LONGER).to_string();
                master.ask(&["ZADD", "queue", &number.to_string(), &place]);
                master.ask(&["ZADD", "alive", &far, &place]);
            }
            assert_eq!(long_lived(&mut master), 258);
            master.does(&by);
            assert_eq!(long_lived(&mut master), 0);
        }
    }
}

#[test]
fn without_one_of_its_rights_a_question_writes_nothing() {
    let server = Server::start();
    let mut real = Master::of(&server);
    let sets = ["zadd", "zrem", "zscore", "zrange", "zrangebyscore", "zrank", "zcard"];
    for right in sets.into_iter().chain(["time", "get", "pexpire", "pttl"]) {
        for tries in [false, true] {
            real.fill();
            let before = real.stands();
            assert_eq!(
                real.ask(&["ACL", "SETUSER", "default", &format!("-{right}")]),
                Answer::Okay
            );
            let answer = real.does(&asks(4, tries, "7", None));
            real.ask(&["ACL", "SETUSER", "default", "+@all"]);
            assert!(matches!(answer, Answer::Error(_)), "{answer:?} without {right}");
            assert_eq!(real.stands(), before, "without {right}");
        }
    }
}

/// A dead waiter is first: a script that dropped it again and again would never end.
#[test]
fn without_one_of_its_rights_a_release_deletes_and_comes_to_an_end() {
    let server = Server::start();
    let mut real = Master::of(&server);
    for right in ["zrem", "zscore", "zrange", "time", "set", "publish"] {
        for kind in ["try", "place", "hold"] {
            real.fill();
            assert_eq!(real.ask(&["SET", "r", "token 9"]), Answer::Okay);
            real.ask(&["ACL", "SETUSER", "default", &format!("-{right}")]);
            let answer = real.does(&leaves(9, kind, true, None));
            real.ask(&["ACL", "SETUSER", "default", "+@all"]);
            assert_eq!(answer, Answer::Int(1), "without {right}");
            let next = if right == "publish" {
                Answer::Text("quorumlock:next:waiter 2".into())
            } else {
                Answer::Nil
            };
            assert_eq!(real.stands()[0], next, "without {right}");
        }
    }
}

/// A master that may not write, since it has too few replicas, is asked to drop a dead waiter, too.
#[test]
fn a_release_comes_to_an_end_where_nothing_is_written() {
    let server = Server::start();
    let mut real = Master::of(&server);
    real.fill();
    let before = real.stands();
    assert_eq!(real.ask(&["CONFIG", "SET", "min-replicas-to-write", "1"]), Answer::Okay);
    assert_eq!(real.does(&leaves(9, "hold", true, None)), Answer::Int(0));
    assert_eq!(real.stands(), before);
}

#[test]
fn without_memory_a_question_writes_nothing_and_a_release_hands_on() {
    let server = Server::start();
    let mut real = Master::of(&server);
    real.fill();
    assert_eq!(real.ask(&["SET", "r", "token 9"]), Answer::Okay);
    let before = real.stands();
    assert_eq!(real.ask(&["CONFIG", "SET", "maxmemory", "1"]), Answer::Okay);
    for tries in [false, true] {
        let answer = real.does(&asks(4, tries, "7", None));
        assert!(matches!(&answer, Answer::Error(error) if error.contains("OOM")), "{answer:?}");
    }
    assert_eq!(real.stands(), before);
    let now = real.now();
    assert_eq!(real.does(&leaves(9, "hold", false, Some(now))), Answer::Int(1));
    let next = Answer::Text("quorumlock:next:waiter 2".into());
    // Once it has deleted, it may write.
    assert_eq!(real.stands()[..2], [next, Answer::Text(now.to_string())]);
}

#[test]
fn what_is_of_another_type_is_an_error_and_nothing_is_written() {
    let server = Server::start();
    let mut real = Master::of(&server);
    let now = real.now();
    for key in KEYS {
        real.ask(&["FLUSHALL"]);
        assert_eq!(real.ask(&["RPUSH", key, "x"]), Answer::Int(1));
        for tries in [false, true] {
            let answer = real.does(&asks(1, tries, "", Some(now)));
            assert!(
                matches!(&answer, Answer::Error(error) if error.contains("WRONGTYPE")),
                "{answer:?}"
            );
            assert_eq!(real.ask(&["DBSIZE"]), Answer::Int(1), "{key}");
        }
    }
}

//! Every script, with each of its rights denied: it has its whole effect or none, and leaves no key that
//! never expires.

use super::*;
use crate::coordinator::wire::{
    ACQUIRE_READ, EXTEND, EXTEND_READ, RELEASE, RELEASE_ALL, RELEASE_READ, SHORTEN, TOP_UP,
};

const MARK: &str = "quorumlock:shared";
const READERS: &str = "readers";
/// Ends of readers that live, in ms of the master's clock, and of one that is dead.
const SOON: &str = "1000500";
const LATE: &str = "1009000";
const DEAD: &str = "999000";

/// What is on the master before the script runs: commands.
type Before = &'static [&'static [&'static str]];

/// A script, and what it is called with.
struct Case {
    script: &'static str,
    keys: &'static [&'static str],
    args: &'static [&'static str],
    before: Before,
}

const fn case(
    script: &'static str,
    keys: &'static [&'static str],
    args: &'static [&'static str],
    before: Before,
) -> Case {
    Case { script, keys, args, before }
}

const HELD: &[&str] = &["SET", "r", "me", "PX", "5000"];
const HELD_TOO: &[&str] = &["SET", "s", "me", "PX", "5000"];
const SHARED: &[&str] = &["SET", "r", MARK, "PX", "8000"];
const READ: &[&[&str]] = &[
    SHARED,
    &["ZADD", READERS, SOON, "me", LATE, "other", DEAD, "gone"],
    &["PEXPIRE", READERS, "10000"],
];
const READ_ALONE: &[&[&str]] =
    &[SHARED, &["ZADD", READERS, SOON, "me", DEAD, "gone"], &["PEXPIRE", READERS, "1500"]];
const READ_BY_OTHERS: &[&[&str]] =
    &[SHARED, &["ZADD", READERS, LATE, "other", DEAD, "gone"], &["PEXPIRE", READERS, "10000"]];
const KEPT: &[&[&str]] = &[&["SET", "r", "quorumlock:next:waiter", "PX", "5000"]];
/// The mark was deleted by hand.
const UNMARKED: &[&[&str]] = &[&["ZADD", READERS, LATE, "other"], &["PEXPIRE", READERS, "10000"]];

fn cases() -> Vec<Case> {
    const LOCK: &[&str] = &["r"];
    const BOTH: &[&str] = &["r", "s"];
    const FENCED: &[&str] = &["r", "s", "fence r", "fence s"];
    const BESIDE: &[&str] = &["r", READERS, "hint"];
    const SHARES: &[&str] = &["r", READERS];
    const BALLOT: &[&str] = &["me", "2000", "0", "1000000000", "1000000", "1000000", "9000"];
    const RAISES: &[&str] = &["me", "1000000000", "1000000", "9000"];
    let mut all = vec![
        case(ACQUIRE, BOTH, &["me", "2000", "0"], &[]),
        case(ACQUIRE, BOTH, &["me", "2000", "1"], KEPT),
        case(ACQUIRE, BOTH, &["me", "2000", "0"], &[HELD]),
        case(ACQUIRE, FENCED, BALLOT, &[]),
        case(EXTEND, BOTH, &["me", "9000"], &[HELD, HELD_TOO]),
        case(RELEASE, LOCK, &["me"], &[HELD]),
        case(RELEASE_ALL, BOTH, &["me"], &[HELD, HELD_TOO]),
        case(RELEASE_ALL, FENCED, RAISES, &[]),
        case(TOP_UP, LOCK, &["me", "2000"], KEPT),
        case(TOP_UP, LOCK, &["me", "2000"], &[]),
        case(SHORTEN, BOTH, &["me", "700"], &[HELD, HELD_TOO]),
        case(SHORTEN, BOTH, &["me", "0"], &[HELD, HELD_TOO]),
    ];
    for before in [&[][..], &[HELD], READ, READ_ALONE, READ_BY_OTHERS, KEPT, UNMARKED] {
        for in_spite in [&["me", "2000", "0"], &["me", "2000", "1"]] {
            all.push(case(ACQUIRE_READ, BESIDE, in_spite, before));
        }
        all.push(case(EXTEND_READ, SHARES, &["me", "2000"], before));
        all.push(case(RELEASE_READ, SHARES, &["me", "free:"], before));
    }
    all
}

const COMMANDS: [&str; 14] = [
    "get",
    "set",
    "del",
    "pttl",
    "pexpire",
    "time",
    "publish",
    "zadd",
    "zrem",
    "zscore",
    "zrange",
    "zremrangebyscore",
    "zrangebyscore",
    "zcard",
];

/// Returns each key with its value and its life.
fn everything(master: &mut Master) -> Vec<(String, Reply, Reply)> {
    let keys: Vec<String> =
        master.machine.keys(NOW).map(|key| String::from_utf8(key.to_vec()).unwrap()).collect();
    let mut all = Vec::new();
    for key in keys {
        let value = match key.as_str() {
            READERS => master.ask(&pack(&["ZRANGE", READERS, "0", "-1", "WITHSCORES"])),
            key => master.ask(&pack(&["GET", key])),
        };
        all.push((key.clone(), value, master.ask(&pttl(&key))));
    }
    all.sort_by(|one, other| one.0.cmp(&other.0));
    all
}

fn run(case: &Case, denied: Option<&str>) -> (Reply, Vec<(String, Reply, Reply)>) {
    let mut master = Master::new();
    for command in case.before {
        assert!(master.ask(&pack(command)).error().is_none());
    }
    master.machine.deny(denied.as_slice()).unwrap();
    let count = case.keys.len().to_string();
    let words: Vec<&str> = ["EVAL", case.script, &count]
        .into_iter()
        .chain(case.keys.iter().copied())
        .chain(case.args.iter().copied())
        .collect();
    let answer = master.ask(&pack(&words));
    master.machine.deny(&[]).unwrap();
    (answer, everything(&mut master))
}

#[test]
fn without_a_right_a_script_does_all_or_nothing_and_leaves_nothing_forever() {
    for case in cases() {
        let whole = run(&case, None);
        let nothing = run(&Case { script: "return 0", ..case }, None).1;
        let mut errors = 0;
        for right in COMMANDS {
            let (answer, after) = run(&case, Some(right));
            let Case { script, before, args, .. } = &case;
            let what = format!("{script}\n{args:?} without {right}, before {before:?}");
            match answer.error() {
                Some(error) => {
                    assert!(error.to_string().contains("can't run this command"), "{error}");
                    assert_eq!(after, nothing, "{what}");
                    errors += 1;
                }
                None => assert_eq!((&answer, &after), (&whole.0, &whole.1), "{what}"),
            }
            let forever = after.iter().find(|(.., left)| *left == Reply::Int(-1));
            assert_eq!(forever, None, "{what}");
        }
        assert!(errors > 0, "no right is needed: {}", case.script);
    }
}

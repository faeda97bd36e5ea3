//! Every script, with each of its rights denied: it has its whole effect or none, and leaves no key that
//! never expires.

use super::*;
use crate::wire::{
    ACQUIRE_READ, AGREE, EXTEND, EXTEND_READ, RELEASE, RELEASE_ALL, RELEASE_READ, SHORTEN, TOP_UP,
    WAITLIST, WITHDRAW,
};

const MARK: &str = "quorumlock:shared";
const READERS: &str = "readers";
const AGREEMENT: &str = "agreement";
const LIST: &str = "list";
const DUE: &str = "due";
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
const NODES: &str = "n1 n2 n3";
const OURS: &str = "lists\nn1 n2 n3\n";
const MINE: &str = "by me lists\nn1 n2 n3\n";
const THEIRS: &str = "by other lists\nn1 n2 n3\n";
const NUMBERS: &[&str] =
    &["HSET", AGREEMENT, "max_ttl", "30000", "window back", "2000", "window ahead", "2000"];
/// This client's note, and what has lapsed.
const NOTED: &[&[&str]] = &[
    NUMBERS,
    &[
        "HSET",
        AGREEMENT,
        OURS,
        LATE,
        MINE,
        LATE,
        "by gone lists\nn1 n2 n3\n",
        DEAD,
        "run old",
        DEAD,
    ],
    &["PEXPIRE", AGREEMENT, "9000"],
];
const NOTED_BESIDE: &[&[&str]] = &[
    NUMBERS,
    &["HSET", AGREEMENT, OURS, LATE, MINE, SOON, THEIRS, LATE, "run before", LATE],
    &["PEXPIRE", AGREEMENT, "9000"],
];
const NOTED_FOR_LONGER: &[&[&str]] = &[
    NUMBERS,
    &["HSET", AGREEMENT, OURS, LATE, MINE, LATE, THEIRS, SOON],
    &["PEXPIRE", AGREEMENT, "9000"],
];
/// A hash of another application.
const FOREIGN: &[&[&str]] = &[
    &["HSET", AGREEMENT, "lists of mine", "soon", "since", "yesterday"],
    &["PEXPIRE", AGREEMENT, "9000"],
];
/// One of an older version, which is not due.
const LISTED: &[&[&str]] = &[&["ZADD", LIST, "5", "other"], &["PEXPIRE", LIST, "6000"]];
const LISTED_AND_DUE: &[&[&str]] = &[
    &["ZADD", LIST, "5", "other", "6", "gone"],
    &["ZADD", DUE, LATE, "other", DEAD, "gone"],
    &["PEXPIRE", LIST, "6000"],
    &["PEXPIRE", DUE, "6000"],
];
const LISTED_AND_HELD: &[&[&str]] =
    &[HELD, &["ZADD", LIST, "5", "other", "9", "waiter"], &["PEXPIRE", LIST, "6000"]];
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
    for before in [&[][..], &[HELD], LISTED, LISTED_AND_DUE, LISTED_AND_HELD] {
        for waits in [
            &["wait", "free:", "", "waiter", "", "20", "9000", "9", "60000", "250", "0"],
            &["wait", "free:", "", "waiter", "7", "20", "9000", "9", "60000", "250", "0"],
        ] {
            all.push(case(WAITLIST, &["r", LIST, DUE], waits, before));
        }
    }
    for before in [&[][..], &[HELD], &[HELD, HELD_TOO], LISTED, LISTED_AND_DUE, LISTED_AND_HELD] {
        for seeks in [
            &["wait", "free:", "all", "waiter", "", "20", "9000", "9", "60000", "250", "0"],
            &["wait", "free:", "all", "waiter", "7", "20", "9000", "9", "60000", "250", "0"],
        ] {
            all.push(case(WAITLIST, &["r", "s", LIST, DUE], seeks, before));
        }
    }
    const ASKS: &[&str] = &["45000", "30000", "2000", "2000", "me", "run", "before", "n1 n2 n3"];
    for before in [&[][..], NOTED, NOTED_BESIDE, FOREIGN] {
        all.push(case(AGREE, &[AGREEMENT], ASKS, before));
    }
    for before in [NOTED, NOTED_BESIDE, NOTED_FOR_LONGER] {
        all.push(case(WITHDRAW, &[AGREEMENT], &["me", "0", NODES], before));
        all.push(case(WITHDRAW, &[AGREEMENT], &["me", "700", NODES], before));
    }
    all
}

const COMMANDS: [&str; 19] = [
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
    "hget",
    "hgetall",
    "hset",
    "hdel",
    "zrank",
];

/// Returns each key with its value and its life.
fn everything(master: &mut Master) -> Vec<(String, Reply, Reply)> {
    let keys: Vec<String> =
        master.machine.keys(NOW).map(|key| String::from_utf8(key.to_vec()).unwrap()).collect();
    let mut all = Vec::new();
    for key in keys {
        let value = match key.as_str() {
            READERS | LIST | DUE => master.ask(&pack(&["ZRANGE", &key, "0", "-1", "WITHSCORES"])),
            AGREEMENT => unlapsed(master),
            key => master.ask(&pack(&["GET", key])),
        };
        let left = match (key.as_str(), master.ask(&pttl(&key))) {
            // Each of its fields has an end of its own.
            (AGREEMENT, Reply::Int(1..)) => Reply::Int(0),
            (_, left) => left,
        };
        all.push((key, value, left));
    }
    all.sort_by(|first, second| first.0.cmp(&second.0));
    all
}

/// Returns what of the agreement has not lapsed.
fn unlapsed(master: &mut Master) -> Reply {
    let Reply::Array(fields) = master.ask(&pack(&["HGETALL", AGREEMENT])) else {
        panic!("not a hash")
    };
    let lives = |field: &&[Reply]| field[1].text() != Some(DEAD);
    let mut fields: Vec<&[Reply]> = fields.chunks(2).filter(lives).collect();
    fields.sort_by_key(|field| field[0].text().map(str::to_owned));
    Reply::Array(fields.concat())
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
        assert!(whole.0.error().is_none(), "{:?} before {:?}", whole.0, case.before);
        let nothing = run(&Case { script: "return 0", ..case }, None).1;
        let mut errors = 0;
        // Without that, any waiter may try: `where_calls_are_denied_any_waiter_may_try`.
        let changes = |right: &&str| !(case.script == WAITLIST && *right == "publish");
        for right in COMMANDS.into_iter().filter(changes) {
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

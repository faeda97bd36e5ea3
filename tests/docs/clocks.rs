//! Upper bounds on real time, which a busy machine breaks: outside of `tests/alone` they only become fewer. Counted are
//! assertions, and timeouts that are unwrapped. `eventually` is not, since it ends what would never end.

use crate::source::{Token, files, tokens};
use std::collections::{BTreeMap, BTreeSet};
use std::io;

/// How many assertions of each file fail if real time takes too long. A number may only fall, and no file may
/// join.
const RECORDED: [(&str, usize); 25] = [
    ("benches/peers/src/delay/mod.rs", 1),
    ("benches/peers/src/workloads/idle.rs", 1),
    ("cli/tests/command/tls.rs", 1),
    ("tests/embedded/in_the_way.rs", 1),
    ("tests/embedded/rw_lock.rs", 2),
    ("tests/redis/elections.rs", 1),
    ("tests/redis/interop/python.rs", 1),
    ("tests/redis/interop/storm.rs", 1),
    ("tests/redis/preflight.rs", 1),
    ("tests/redis/server_kinds.rs", 1),
    ("tests/redis/shutdown.rs", 5),
    ("tests/redis/support_works.rs", 1),
    ("tests/redis/threads/ending.rs", 1),
    ("tests/redis/ties.rs", 1),
    ("tests/redis/tls/life.rs", 1),
    ("tests/redis/turns/dead.rs", 1),
    ("tests/redis/web_service.rs", 4),
    ("tests/support/clock.rs", 1),
    ("tests/support/conformance/letting_go.rs", 2),
    ("tests/support/conformance/sharing.rs", 7),
    ("tests/support/conformance/turns.rs", 5),
    ("tests/support/postgresql.rs", 1),
    ("tests/support/psql.rs", 1),
    ("tests/support/rolling.rs", 1),
    ("tests/support/server.rs", 1),
];

/// Folders of tests on real clocks. Those in the room `alone` run one at a time.
const FOLDERS: [&str; 7] =
    ["benches/peers", "cli", "core/src", "embedded/src", "proof/simulation", "src", "tests"];

fn texts(tokens: &[Token]) -> Vec<&str> {
    tokens.iter().map(|token| token.text.as_str()).collect()
}

/// Returns the index behind the sign that closes what opens at `open`.
fn behind(words: &[&str], open: usize) -> usize {
    let mut depth = 0_usize;
    for (at, word) in words.iter().enumerate().skip(open) {
        match *word {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth = depth.saturating_sub(1),
            _ => continue,
        }
        if depth == 0 {
            return at + 1;
        }
    }
    words.len()
}

/// Counts the comparisons in an assertion that fail if one of these durations, or an elapsed time, is too long.
fn bounds(assertion: &[&str], durations: &BTreeSet<&str>) -> usize {
    let is_duration = |word: &str| durations.contains(word);
    let now = |words: &[&str]| {
        words.ends_with(&["elapsed", "(", ")"]) || words.ends_with(&["now", "(", ")"])
    };
    let below = (1..assertion.len()).filter(|at| {
        assertion[*at] == "<" && (is_duration(assertion[at - 1]) || now(&assertion[..*at]))
    });
    let within = assertion.windows(4).filter(|four| {
        four[..3] == ["contains", "(", "&"] && (is_duration(four[3]) || four[3] == "elapsed")
    });
    below.count() + within.count()
}

/// Counts the assertions of a source that bound real time from above.
fn upper_bounds(source: &str) -> usize {
    let tokens = tokens(source);
    let words = texts(&tokens);
    let (mut count, mut is_virtual, mut durations) = (0, false, BTreeSet::new());
    for at in 0..words.len() {
        match words[at..] {
            ["#", "[", "test", ..] => is_virtual = false,
            ["#", "[", "tokio", "::", "test", ..] => {
                is_virtual = words[at..behind(&words, at + 1)].contains(&"start_paused");
            }
            ["start_in_virtual_time", "(", ..] => is_virtual = true,
            ["fn", ..] => durations.clear(),
            ["let", ..] => {
                let ends = words[at..].iter().position(|word| *word == ";").unwrap_or(0);
                let (pattern, value) = words[at..at + ends].split_at(
                    words[at..at + ends].iter().position(|word| *word == "=").unwrap_or(0),
                );
                let is_last = value.windows(3).any(|three| three == ["elapsed", "(", ")"])
                    && !value.contains(&"{");
                if is_last {
                    durations.extend(pattern.iter().filter(|word| **word != "let"));
                }
            }
            ["assert", "!", "(", ..] if !is_virtual => {
                let assertion = &words[at + 2..behind(&words, at + 2)];
                count += usize::from(bounds(assertion, &durations) > 0);
            }
            ["timeout", "(", ..] if !is_virtual && (at == 0 || words[at - 1] != ".") => {
                let ends = &words[behind(&words, at + 1)..];
                let unwrapped = ["unwrap", "expect"].map(|end| [".", "await", ".", end, "("]);
                count += usize::from(unwrapped.iter().any(|end| ends.starts_with(end)));
            }
            _ => {}
        }
    }
    count
}

#[test]
fn upper_bounds_on_real_time_become_fewer() -> io::Result<()> {
    let mut found = BTreeMap::new();
    for folder in FOLDERS {
        for (path, text) in files(folder)? {
            let count = upper_bounds(&text);
            if count > 0 && !path.starts_with("tests/alone") && !path.starts_with("tests/docs") {
                found.insert(path.to_string_lossy().into_owned(), count);
            }
        }
    }
    let recorded = BTreeMap::from(RECORDED.map(|(path, count)| (path.to_owned(), count)));
    let table: String = found.iter().map(|(path, n)| format!("    ({path:?}, {n}),\n")).collect();
    let more = found.iter().any(|(path, count)| recorded.get(path).is_none_or(|most| count > most));
    assert!(!more, "take virtual time, or the room `alone`; RECORDED is outdated:\n{table}");
    assert_eq!(found, recorded, "fewer: lower RECORDED to\n{table}");
    Ok(())
}

#[test]
fn each_form_of_an_upper_bound_is_found() {
    for bound in [
        "assert!(began.elapsed() < LONG, \"late\");",
        "let took = began.elapsed(); assert!(took < LONG);",
        "let (first, last) = (a.elapsed(), b.elapsed()); assert!(last <= LONG);",
        "let took = began.elapsed(); assert!((SHORT..LONG).contains(&took));",
        "assert!(Instant::now() <= due, \"late\");",
        "tokio::time::timeout(SOON, waiter).await.expect(\"served\");",
        "assert!(\n    took_part && began.elapsed() <= LONG,\n);",
    ] {
        let test = format!("#[tokio::test]\nasync fn ends() {{ {bound} }}");
        assert_eq!(upper_bounds(&test), 1, "{test}");
        assert_eq!(upper_bounds(&test.replace("test]", "test(start_paused = true)]")), 0, "{test}");
    }
}

#[test]
fn a_lower_bound_and_the_end_of_a_loop_are_no_upper_bounds() {
    for other in [
        "assert!(began.elapsed() >= LONG);",
        "let took = began.elapsed(); assert!(took > LONG);",
        "while began.elapsed() < LONG { assert!(is_held()); }",
        "assert!(timeout(SHORT, waiter).await.is_err());",
        "redlock.acquire(\"r\").timeout(SHORT).await.unwrap();",
        "assert!(count < 3); let count = began.elapsed();",
    ] {
        assert_eq!(upper_bounds(&format!("#[test] fn ends() {{ {other} }}")), 0, "{other}");
    }
}

//! The last scene of `make demo`: a holder that was paused writes late, to a store that checks fencing tokens, or does
//! not.

use crate::support::example;
use std::process::Command;

/// Plays to the end. Returns the exit code, and the output as one line, since long news are folded.
fn play(options: &[&str]) -> (Option<i32>, String) {
    let output = Command::new(example::program("failover")).args(options).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    (output.status.code(), text.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// Returns the number that follows `before`.
fn number(text: &str, before: &str) -> u64 {
    let (_, rest) = text.split_once(before).unwrap_or_else(|| panic!("no {before:?}: {text}"));
    let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    rest[..digits].parse().unwrap_or_else(|error| panic!("{before:?}, {error}: {text}"))
}

/// Returns the fencing tokens of worker 1 and worker 2.
fn tokens(text: &str) -> (u64, u64) {
    let first = number(text, "worker 1 has the lock, with fencing token ");
    let second = number(text, "worker 2 has the lock, with fencing token ");
    assert!(first < second, "{text}");
    (first, second)
}

#[test]
fn the_late_write_of_the_demonstration_is_refused_and_without_the_fence_another_is_lost() {
    let ((_, fenced), (code, unfenced)) = std::thread::scope(|scope| {
        let unfenced = scope.spawn(|| play(&["--without-fence"]));
        (play(&[]), unfenced.join().unwrap())
    });

    // The verdict as a whole also depends on how busy the machine is.
    let (late, seen) = tokens(&fenced);
    let refusal =
        format!("the store refuses this: token {late} is stale, since the store has seen {seen}");
    assert!(fenced.contains(&refusal), "{fenced}");
    assert!(fenced.contains("the account keeps the 50 that worker 2 wrote"), "{fenced}");
    assert!(fenced.contains("ok late write refused"), "{fenced}");

    tokens(&unfenced);
    assert!(unfenced.contains("the store checks no token, and accepts this"), "{unfenced}");
    assert!(unfenced.contains("worker 2's write is LOST"), "{unfenced}");
    assert_eq!(number(&unfenced, "out of 100, and the account has "), 90);
    assert!(unfenced.contains("BAD late write accepted"), "{unfenced}");
    assert_eq!(code, Some(1));
}

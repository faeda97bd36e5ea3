//! A holder that is stopped (SIGSTOP) past its deadline resumes, notices nothing and writes: the
//! example `fenced_store`, run as its readers run it. With tokens the late write is refused.
//! Without them the damage is done, and shown.

use crate::support::example;
use std::process::Command;

/// Runs the example; returns its exit code and its output.
fn fenced_store(arguments: &[&str]) -> (Option<i32>, String) {
    let output = Command::new(example::program("fenced_store")).args(arguments).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let complaints = String::from_utf8_lossy(&output.stderr);
    (output.status.code(), format!("{said}{complaints}"))
}

/// Asserts what every play has: B entered while A was stopped, and both went on to their writes.
fn assert_played(said: &str) {
    for scene in [
        "A  reads 100; the lock is good for ",
        "-- A is stopped (SIGSTOP)",
        "B  reads 100; the lock is good for ",
        "B  has written 50",
        "-- A goes on (SIGCONT)",
        // A is notified in the end.
        "A  lets go: lost \"account:42\"",
    ] {
        assert!(said.contains(scene), "{scene:?} is not in:\n{said}");
    }
}

#[test]
fn a_fenced_holder_that_was_stopped_is_refused_its_late_write() {
    let (code, said) = fenced_store(&[]);
    assert_eq!(code, Some(0), "{said}");
    assert_played(&said);
    assert!(said.contains("A  is refused: "), "{said}");
    assert!(said.contains("GOOD: the account has 50"), "{said}");
}

#[test]
fn an_unfenced_holder_that_was_stopped_overwrites_later_data() {
    let (code, said) = fenced_store(&["--unfenced"]);
    assert_eq!(code, Some(1), "{said}");
    assert_played(&said);
    assert!(said.contains("A  has written 90"), "{said}");
    assert!(said.contains("BAD: 60 were taken out of 100, and the account has 90"), "{said}");
}

//! A holder that is stopped (SIGSTOP) past its deadline resumes, notices nothing and writes: the
//! example `fenced_store`, run as its readers run it. With tokens the late write is refused.
//! Without them the damage is done, and shown.

use crate::support::example;
use std::process::Command;

/// Runs the example; returns its exit code and its output.
fn fenced_store(arguments: &[&str]) -> (Option<i32>, String) {
    let output = Command::new(example::program("fenced_store")).args(arguments).output().unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    let complaints = String::from_utf8_lossy(&output.stderr);
    (output.status.code(), format!("{stdout}{complaints}"))
}

/// Asserts what every play has: B entered while A was stopped, and both went on to their writes.
fn assert_played(output: &str) {
    for scene in [
        "A  reads 100; the lock is good for ",
        "-- A is stopped (SIGSTOP)",
        "B  reads 100; the lock is good for ",
        "B  has written 50",
        "-- A goes on (SIGCONT)",
        // A is notified in the end.
        "A  lets go: lost \"account:42\"",
    ] {
        assert!(output.contains(scene), "{scene:?} is not in:\n{output}");
    }
}

#[test]
fn a_fenced_holder_that_was_stopped_is_refused_its_late_write() {
    let (code, output) = fenced_store(&[]);
    assert_eq!(code, Some(0), "{output}");
    assert_played(&output);
    assert!(output.contains("A  is refused: "), "{output}");
    assert!(output.contains("GOOD: the account has 50"), "{output}");
}

#[test]
fn an_unfenced_holder_that_was_stopped_overwrites_later_data() {
    let (code, output) = fenced_store(&["--unfenced"]);
    assert_eq!(code, Some(1), "{output}");
    assert_played(&output);
    assert!(output.contains("A  has written 90"), "{output}");
    assert!(output.contains("BAD: 60 were taken out of 100, and the account has 90"), "{output}");
}

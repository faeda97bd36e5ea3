//! The command: what it prints, and its exit codes.

use std::path::{Path, PathBuf};
use std::process::Command;

const RECORDED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/recorded.edn");

fn run(arguments: &[&str]) -> (Option<i32>, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_judge")).args(arguments).output().unwrap();
    let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    (output.status.code(), text)
}

/// Writes a file with this text, for one test.
fn file(name: &str, text: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, text).unwrap();
    path
}

#[test]
fn what_a_run_of_chaos_has_recorded_is_accepted() {
    let (code, text) = run(&[RECORDED]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("PORCUPINE: ACCEPTED: "), "{text}");
    for part in ["lock r", "lock p0", "lock w0", "lock t0", "fence r", "store r"] {
        assert!(text.contains(&format!("    {part}")), "{part}: {text}");
    }
}

/// The recorded history, with every hold's release and deadline after the whole run.
#[test]
fn a_rejected_history_fails() {
    let recorded = std::fs::read_to_string(RECORDED).unwrap();
    let without = recorded.replace(":until ", ":until 9");
    let without: String = without
        .lines()
        .filter(|line| !line.contains(":f :release"))
        .map(|line| format!("{line}\n"))
        .collect();
    let path = file("rejected.edn", &without);
    let (code, text) = run(&[path.to_str().unwrap()]);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("REJECTED, after ") && text.contains("PORCUPINE: REJECTED"), "{text}");
}

#[test]
fn unknown_fails() {
    let (code, text) = run(&[RECORDED, "0"]);
    assert_eq!(code, Some(3), "{text}");
    assert!(text.contains("PORCUPINE: UNKNOWN, which is no acceptance"), "{text}");
    assert!(text.contains("UNKNOWN, no answer within the time limit"), "{text}");
}

#[test]
fn a_file_that_is_no_history_fails_and_names_the_line() {
    let path = file("torn.edn", "{:type :info, :process :nemesis}\n{:type :inv");
    let (code, text) = run(&[path.to_str().unwrap()]);
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("nothing was judged") && text.contains("torn.edn: line 2: "), "{text}");
    for arguments in [&["/no/such/file"][..], &[], &[RECORDED, "soon"]] {
        assert_eq!(run(arguments).0, Some(2), "{arguments:?}");
    }
}

#[test]
fn a_history_without_operations_is_not_accepted() {
    let path = file("empty.edn", "{:type :info, :process :nemesis}\n");
    let (code, text) = run(&[path.to_str().unwrap()]);
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("has no hold and no write"), "{text}");
}

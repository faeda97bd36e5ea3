//! `docs/recordings/run.txt` is what a second `quorumlock run` prints while another client holds the
//! lock.

use crate::cli::{self, Running, run};
use crate::doctor_shown::on_a_terminal;
use crate::support::masters::Masters;
use crate::support::normalised::{without_addresses, without_times};
use crate::support::poll::eventually_blocking;
use std::process::Command;
use std::thread;

/// One command of the recording, and what it printed.
fn recorded(command: &str) -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/recordings/run.txt");
    let file = std::fs::read_to_string(path).unwrap();
    let (_, rest) = file.split_once(&format!("$ quorumlock {command}\n")).expect(command);
    rest.split("\n$ ").next().unwrap().trim_end().to_owned()
}

/// Replaces what differs from run to run.
fn comparable(text: &str, masters: &Masters) -> String {
    let text = without_addresses(text, masters);
    // A master that was not waited for has no latency.
    let text = text.replace("\"latency_us\":null", "\"latency_us\":1");
    let lines: Vec<String> = text.lines().map(without_times).collect();
    // The masters' times differ by a tenth of a second at most.
    let lines = lines.into_iter().map(|line| line.replace("<time> to <time>", "<time>"));
    let lines: Vec<String> = lines.collect();
    let mut in_number = false;
    let mut shown = String::new();
    // How many attempts there were, and the numbers of JSON.
    for letter in lines.join("\n").chars() {
        let continues = in_number && letter == '.';
        if letter.is_ascii_digit() && !in_number {
            shown.push('1');
        } else if !letter.is_ascii_digit() && !continues {
            shown.push(letter);
        }
        in_number = letter.is_ascii_digit() || continues;
    }
    shown
}

/// As it was recorded; half of its timeout shows the same.
const RECORDED: &str = "run --timeout 2s nightly -- true";
const LINE: &str = "run --timeout 1s nightly -- true";

/// How a second run is started, and what it has shown.
type Second = fn(&Masters) -> String;

#[test]
fn a_second_run_is_shown_as_recorded() {
    let piped: Second = |masters| refused(&mut cli::on(masters, &[])).stderr;
    let in_json: Second = |masters| refused(&mut cli::on(masters, &["--json"])).stderr;
    let on_a_terminal: Second = |masters| {
        let shown = on_a_terminal(masters.urls(), LINE, &[]);
        assert_eq!(shown.code, Some(111), "{shown:?}");
        shown.stdout
    };
    // Each waits alone: how many wait is shown.
    thread::scope(|scope| {
        for (command, second) in [
            (RECORDED.to_owned(), on_a_terminal),
            (format!("{RECORDED} 2>&1 | cat"), piped),
            (format!("--json {RECORDED}"), in_json),
        ] {
            scope.spawn(move || assert_recorded(&command, second));
        }
    });
}

fn refused(command: &mut Command) -> cli::Finished {
    let refused = run(command.args(LINE.split(' ')));
    assert_eq!(refused.code, Some(111), "{refused:?}");
    refused
}

fn assert_recorded(command: &str, second: Second) {
    let masters = Masters::start(3);
    let hold = ["run", "--label", "web-3", "nightly", "--", "sleep", "600"];
    let _holder = Running::start(&mut cli::on(&masters, &hold));
    let is_held = || run(&mut cli::on(&masters, &["inspect", "nightly"])).stdout.contains("web-3");
    eventually_blocking("web-3 has the lock", cli::PATIENCE, is_held);
    let (then, now) = (recorded(command), second(&masters).trim_end().to_owned());
    assert_eq!(comparable(&then, &masters), comparable(&now, &masters), "{command}:\n{now}");
}

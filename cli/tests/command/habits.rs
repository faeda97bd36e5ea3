//! What users of other programs type first, and what they read first: each leads to the right words.

use crate::cli::{self, PATIENCE, bare, over, run};
use crate::doctor::COMMANDS;
use crate::doctor_shown::{on_a_terminal, without_escapes};
use crate::support::masters::Masters;
use crate::support::poll::eventually_blocking;
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::time::Duration;

#[test]
fn words_of_other_programs_lead_to_those_of_this_one() {
    for (arguments, tip) in [
        (&["run", "foo", "ls"][..], "; did you mean: run foo -- ls (see"),
        (&["run", "--ttl", "9s", "foo", "ls", "-l"], "; did you mean: run foo -- ls ... (see"),
        (&["elect", "foo", "serve", "--port", "80"], "; did you mean: elect foo -- serve ... (see"),
        (&["lock", "foo"], "; tip: use run (see"),
        (&["status"], "; tip: use doctor (see"),
        (&["version"], "; tip: use --version (see"),
        (&["unlock", "foo"], "; tip: use force-release (see"),
        (&["run", "-w", "5", "foo", "--", "ls"], "; tip: use --timeout (see"),
        (&["run", "--wait", "5s", "foo", "--", "ls"], "; tip: use --timeout (see"),
        (&["run", "foo", "-c", "ls"], "; tip: use -- sh -c (see"),
    ] {
        let output = run(bare().args(arguments));
        assert_eq!((output.code, output.stderr.lines().count()), (Some(114), 1), "{output:?}");
        assert!(output.stderr.contains(tip), "{arguments:?}: {output:?}");
        assert_eq!(output.stderr.matches("; tip: ").count(), tip.matches("; tip: ").count());
    }
    for words in [&["run", "foo"][..], &["run", "foo", "-x", "--", "ls"], &["run", "--ttl", "9s"]] {
        let output = run(bare().args(words));
        assert!(!output.stderr.contains("did you mean"), "{words:?}: {output:?}");
    }
    let hidden = run(bare().args(["run", "foo", "redis://:hunter2@a"]));
    assert!(!hidden.stderr.contains("hunter2"), "{hidden:?}");
}

/// A terminal has 80 columns at least, and little more than 60 lines.
#[test]
fn the_help_of_no_command_is_longer_than_a_screen() {
    for command in COMMANDS {
        for columns in ["80", "100"] {
            let help = run(bare().env("COLUMNS", columns).args([command, "--help"]));
            let lines = help.stdout.lines().count();
            assert!((4..=60).contains(&lines), "{command} at {columns}: {lines}");
        }
    }
}

#[test]
fn help_and_manual_have_the_exit_codes_that_apply_and_no_others() {
    let help = |command: &str| run(bare().args([command, "--help"])).stdout;
    let man = |command: &str| run(bare().args(["man", command])).stdout;
    for (command, applies, others) in [
        ("run", &["111", "112", "113", "127", "128+n"][..], &["1", "3", "4"][..]),
        ("doctor", &["1", "3", "4", "112"], &["111", "113", "126"]),
        ("ask", &["1", "112"], &["3", "4", "111", "113"]),
        ("list", &["112", "114", "115"], &["1", "3", "111", "113", "127"]),
        ("elect", &["113", "126"], &["1", "111", "112"]),
    ] {
        let (help, man) = (help(command), man(command));
        let has = |code: &str| {
            let shown = help.contains(&format!("\n  {code:5}  "));
            assert_eq!(shown, man.contains(&format!("\\fB{code}\\fR\n")), "{command} {code}");
            shown
        };
        assert!(applies.iter().all(|code| has(code)), "{command}: {help}");
        assert!(!others.iter().any(|code| has(code)), "{command}: {help}");
    }
    assert!(help("completions").find("Exit codes").is_none());
}

#[test]
fn a_setting_that_cannot_work_is_114_from_an_option_and_115_from_anywhere_else() {
    let files = tempfile::tempdir().unwrap();
    let file = files.path().join("c.toml");
    let node = ["--node", "redis://127.0.0.1:1"];
    for (setting, value, option) in [
        ("ttl", "60s", "--ttl"),
        ("ttl", "1ms", "--ttl"),
        ("lock_delay", "60s", "--lock-delay"),
        ("max_hold", "1s", "--max-hold"),
        ("label", "a\tb", "--label"),
    ] {
        let words = ["run", "r", "--", "true"];
        let by_option = run(bare().args(node).args(["run", option, value, "r", "--", "true"]));
        assert_eq!(by_option.code, Some(114), "{option} {value}: {by_option:?}");
        let variable = format!("QUORUMLOCK_{}", setting.to_uppercase());
        let by_variable = run(bare().args(node).env(variable, value).args(words));
        assert_eq!(by_variable.code, Some(115), "{setting}: {by_variable:?}");
        std::fs::write(&file, format!("{setting} = {value:?}\n")).unwrap();
        let by_file = run(bare().args(node).arg("--config").arg(&file).args(words));
        assert_eq!(by_file.code, Some(115), "{setting}: {by_file:?}");
    }
    for words in [
        &["run", "--min-hold", "60s", "r", "--", "true"][..],
        &["elect", "--ttl", "60s", "r", "--", "true"],
        &["elect", "--value", "a\tb", "r", "--", "true"],
    ] {
        let output = run(bare().args(node).args(words));
        assert_eq!(output.code, Some(114), "{words:?}: {output:?}");
    }
    let json = ["--json", "run", "--ttl", "60s", "r", "--", "true"];
    let value: Value = serde_json::from_str(&run(bare().args(node).args(json)).stderr).unwrap();
    assert_eq!((&value["error"], &value["field"]), (&"usage".into(), &"ttl".into()), "{value}");
    let twice = ["--node", "redis://127.0.0.1:1", "--node", "redis://127.0.0.1:1", "list"];
    assert_eq!(run(bare().args(twice)).code, Some(114));
    let urls = ["redis://127.0.0.1:1", "redis://127.0.0.1:1"];
    assert_eq!(run(over(urls).arg("list")).code, Some(115));
}

/// Nothing changes, so nothing is written that could show it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn watch_in_a_pipe_ends_when_its_reader_has() {
    let masters = Masters::start(3);
    let redlock = masters.builder().operation_timeout(Duration::from_secs(1));
    let redlock = redlock.connect().await.unwrap();
    let _held = redlock.acquire("r").keep_alive().await.unwrap();
    let start = |options: &[&str]| {
        let mut watch = cli::on(&masters, options).stdout(Stdio::piped()).spawn().unwrap();
        let mut reader = BufReader::new(watch.stdout.take().unwrap());
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        assert!(line.contains("\"r\""), "{line}");
        (watch, reader)
    };
    let (mut goes_on, _reader) = start(&["watch", "-i", "100ms"]);
    let ends = [&["watch"][..], &["watch", "--json", "-i", "1h"]].map(start);
    for mut watch in ends.map(|(watch, _reader)| watch) {
        let ended = || watch.try_wait().unwrap().is_some();
        eventually_blocking("it ends without a reader", PATIENCE, ended);
    }
    // It has looked often whether it has one.
    assert_eq!(goes_on.try_wait().unwrap(), None);
    goes_on.kill().unwrap();
    goes_on.wait().unwrap();
}

#[test]
fn the_table_of_doctor_fits_a_narrow_terminal() {
    let masters = Masters::start(3);
    masters.kill(2);
    for columns in [40, 60, 80] {
        let run = format!("{} doctor", env!("CARGO_BIN_EXE_quorumlock"));
        let script = format!("\"stty cols {columns} rows 40; {run}\"");
        let output = on_a_terminal(masters.urls(), &format!("--version; sh -c {script}"), &[]);
        let shown = without_escapes(&output.stdout);
        let widest = shown.lines().map(|line| line.chars().count()).max().unwrap();
        assert!(widest <= columns, "{columns}: {widest}\n{shown}");
        let words = shown.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            words.contains("VOTES") && words.contains("start it, or fix its address"),
            "{shown}"
        );
        assert_eq!(words.contains("CLOCK"), columns >= 80, "{shown}");
    }
}

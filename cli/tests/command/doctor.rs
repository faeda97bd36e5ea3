//! `quorumlock doctor`, completions and manual.

use crate::cli::{self, bare, run};
use crate::support::masters::Masters;
use crate::support::server::Server;
use crate::support::witness;
use serde_json::Value;

fn doctor<U: AsRef<str>>(urls: impl IntoIterator<Item = U>) -> (cli::Finished, Value) {
    let urls: Vec<String> = urls.into_iter().map(|url| url.as_ref().to_owned()).collect();
    let plain = run(cli::over(&urls).arg("doctor"));
    let json = run(cli::over(&urls).args(["doctor", "--json"]));
    assert_eq!((json.code, &*json.stderr), (plain.code, ""), "{json:?}");
    (plain, serde_json::from_str(&json.stdout).unwrap())
}

/// Returns the severity and the finding for the node at `place`.
fn found(value: &Value, place: usize) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let findings = value["nodes"][place]["findings"].as_array().unwrap();
    findings.iter().map(|finding| (text(&finding["severity"]), text(&finding["finding"]))).collect()
}

#[track_caller]
fn assert_failure(output: &cli::Finished, value: &Value, place: usize, finding: &str) {
    assert_eq!((output.code, &value["ok"]), (Some(1), &false.into()), "{output:?}");
    let failures: Vec<_> =
        found(value, place).into_iter().filter(|(how, _)| how == "failure").collect();
    assert!(failures.iter().any(|(_, text)| text.contains(finding)), "{finding}: {failures:?}");
    let shows = |line: &str| line.starts_with("failure: ") && line.ends_with(&failures[0].1);
    assert!(output.stdout.lines().any(shows), "{output:?}");
}

#[tokio::test]
async fn five_good_masters_are_fit_and_nothing_is_left_there() {
    let masters = Masters::start(5);
    let (output, value) = doctor(masters.urls());
    assert_eq!((output.code, &*output.stderr), (Some(0), ""), "{output:?}");
    assert!(output.stdout.ends_with("\n\nok: 5 of 5 masters are fit\n"), "{output:?}");
    assert!(output.stdout.starts_with("MASTER "), "{output:?}");
    assert_eq!((&value["ok"], &value["can_acquire_in_ms"]), (&true.into(), &0.into()));
    for node in value["nodes"].as_array().unwrap() {
        assert_eq!((&node["fit"], &node["role"]), (&true.into(), &"master".into()));
        assert!(node["round_trip_us"].is_u64() && node["uptime_s"].is_u64(), "{node}");
        assert!(node["version"].is_string() && node["clock_offset_us"].is_i64(), "{node}");
    }
    witness::assert_no_keys_now(&masters).await;
}

#[test]
fn a_replica_a_duplicate_and_a_dead_master_are_failures() {
    let masters = Masters::start(3);
    let port = masters[0].port().to_string();
    let replica = Server::start_with(&["--replicaof", "127.0.0.1", &port]);
    let (output, value) = doctor([masters[1].url(), replica.url()]);
    assert_failure(&output, &value, 1, "a replica of 127.0.0.1");

    let twice = masters[1].url().replace("127.0.0.1", "localhost");
    let (output, value) = doctor([masters[1].url(), masters[2].url(), twice]);
    let same = [0, 2].into_iter().flat_map(|place| found(&value, place));
    assert!(
        same.into_iter().any(|(_, text)| text.starts_with("the same server as ")),
        "{output:?}"
    );
    assert_eq!(output.code, Some(1));

    masters.kill(2);
    let (output, value) = doctor([masters[1].url(), masters[2].url()]);
    assert_failure(&output, &value, 1, "not reachable (Connection refused");
    assert!(output.stdout.contains("\n    start it, or fix its address"), "{output:?}");
    assert!(
        output.stdout.ends_with("not ok: 1 of 2 masters are fit, which is no quorum\n"),
        "{output:?}"
    );
}

#[test]
fn eviction_is_a_failure_and_missing_persistence_a_warning() {
    let evicting =
        Server::start_with(&["--maxmemory", "50mb", "--maxmemory-policy", "allkeys-lru"]);
    let (output, value) = doctor([evicting.url()]);
    assert_failure(&output, &value, 0, "maxmemory-policy allkeys-lru");

    let forgetful = Server::start();
    let (output, value) = doctor([forgetful.url()]);
    assert_eq!(output.code, Some(0), "{output:?}");
    let warning = ("warning".to_owned(), "may lose keys in a restart (appendonly no)".to_owned());
    assert!(found(&value, 0).contains(&warning), "{value}");
    assert!(output.stdout.contains("turn restart_guard on"), "{output:?}");
}

#[test]
fn a_wrong_password_is_a_failure_and_not_shown() {
    let closed = Server::start_with(&["--requirepass", "right"]);
    let (output, value) = doctor([closed.url().replace("://", "://:hunter2@")]);
    assert_failure(&output, &value, 0, "refuses this client");
    assert!(!format!("{output:?} {value}").contains("hunter2"), "{output:?}");
    let (output, _) = doctor([closed.url().replace("://", "://:right@")]);
    assert_eq!(output.code, Some(0), "{output:?}");
}

pub(crate) const COMMANDS: [&str; 10] = [
    "run",
    "elect",
    "inspect",
    "list",
    "watch",
    "ask",
    "force-release",
    "doctor",
    "completions",
    "man",
];

#[test]
fn completions_name_every_command_without_masters() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let output = run(bare().args(["completions", shell]));
        assert_eq!((output.code, &*output.stderr), (Some(0), ""), "{shell}");
        for command in COMMANDS {
            assert!(output.stdout.contains(command), "{shell}: {command}");
        }
    }
}

/// Returns every long option of `--help`.
fn options(arguments: &[&str]) -> Vec<String> {
    let output = run(bare().args(arguments).arg("--help"));
    assert_eq!((output.code, &*output.stderr), (Some(0), ""), "{arguments:?}");
    let words = output.stdout.lines().filter(|line| line.trim_start().starts_with('-'));
    let words =
        words.filter_map(|line| line.split_whitespace().find(|word| word.starts_with("--")));
    words.map(|word| word.trim_end_matches(',').to_owned()).collect()
}

#[test]
fn the_cli_page_of_the_docs_has_every_option_and_no_other() {
    let page =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/cli.md")).unwrap();
    let row = |line: &str| Some(line.strip_prefix("| `--")?.split(['`', ' ']).next()?.to_owned());
    let mut documented: Vec<String> =
        page.lines().filter_map(row).map(|name| format!("--{name}")).collect();
    let mut known: Vec<String> = COMMANDS.iter().flat_map(|command| options(&[command])).collect();
    known.extend(options(&[]));
    known.retain(|option| option != "--help");
    for list in [&mut documented, &mut known] {
        list.sort_unstable();
        list.dedup();
    }
    assert_eq!(documented, known);
    for command in COMMANDS {
        assert!(page.contains(&format!("`quorumlock {command}")), "{command}");
    }
}

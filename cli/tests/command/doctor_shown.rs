//! How `quorumlock doctor` shows what it has found: each finding once, in 80 columns, in colours on
//! a terminal; and the time until a quorum may vote.

use crate::cli::{self, PATIENCE, Running, run};
use crate::support::masters::Masters;
use crate::support::poll::eventually_blocking;
use crate::support::server::Server;
use serde_json::Value;
use std::process::{Command, Stdio};

/// Runs the command on a terminal, and returns what that has received, stderr included.
pub(crate) fn on_a_terminal<U: AsRef<str>>(
    urls: impl IntoIterator<Item = U>,
    arguments: &str,
    variables: &[(&str, &str)],
) -> cli::Finished {
    let like = cli::over(urls);
    let mut command = Command::new("script");
    for (name, value) in like.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command.env_remove("NO_COLOR").env("TERM", "xterm").env("SHELL", "/bin/sh");
    command.envs(variables.iter().copied());
    let line = format!("{} {arguments}", env!("CARGO_BIN_EXE_quorumlock"));
    command.args(["-qfec", &line, "/dev/null"]).stdin(Stdio::piped());
    let output = Running::start(&mut command).finish();
    cli::Finished { stdout: output.stdout.replace("\r\n", "\n"), ..output }
}

/// Removes the colours.
pub(crate) fn without_escapes(text: &str) -> String {
    ["\x1b[31m", "\x1b[32m", "\x1b[33m", "\x1b[0m"]
        .iter()
        .fold(text.to_owned(), |text, code| text.replace(code, ""))
}

#[test]
fn a_finding_of_several_masters_is_one_line_with_their_names() {
    let masters = Masters::start(5);
    masters.kill(1);
    masters.kill(3);
    let output = run(&mut cli::on(&masters, &["doctor"]));
    let (second, fourth) = (masters[1].addr(), masters[3].addr());
    let failure = format!(
        "\nfailure: {second}, {fourth}: not reachable (Connection refused (os error 111))\n"
    );
    assert!(output.stdout.contains(&failure), "{output:?}");
    assert_eq!(output.stdout.matches("not reachable").count(), 1, "{output:?}");
    assert_eq!(output.stdout.matches("may lose keys in a restart").count(), 1, "{output:?}");
    let first = output.stdout.lines().find(|line| line.contains(": ")).unwrap();
    assert!(first.starts_with("failure: "), "failures first: {output:?}");
    assert!(output.stdout.ends_with("\n\nnot ok: 3 of 5 masters are fit\n"), "{output:?}");
    assert_eq!(output.code, Some(1));
}

/// With this `max_ttl`, masters vote once they report an uptime of two seconds; with 1s, of three.
pub(crate) const BRIEF: &str = "900ms";

pub(crate) fn guarded<'a>(command: &'a mut Command, max_ttl: &str) -> &'a mut Command {
    command.env("QUORUMLOCK_RESTART_GUARD", "on").env("QUORUMLOCK_TTL", BRIEF);
    command.env("QUORUMLOCK_FENCING_WINDOW_BACK", "250ms");
    command.env("QUORUMLOCK_FENCING_WINDOW_AHEAD", "250ms");
    command.env("QUORUMLOCK_MAX_TTL", max_ttl)
}

#[test]
fn while_all_masters_warm_up_doctor_ends_with_112_and_says_how_long() {
    let masters = Masters::start(5);
    let plain = run(guarded(&mut cli::on(&masters, &["doctor"]), "20h"));
    assert_eq!((plain.code, &*plain.stderr), (Some(112), ""), "{plain:?}");
    let verdict = "\n\nnot yet: 5 of 5 masters are fit, and a quorum may vote in ";
    assert!(plain.stdout.contains(verdict), "{plain:?}");
    assert_eq!(plain.stdout.matches("note: all 5 masters: started ").count(), 1, "{plain:?}");
    assert_eq!(plain.stdout.matches(" in 20 h 1").count(), 5 + 1 + 1, "{plain:?}");

    let json = run(guarded(&mut cli::on(&masters, &["doctor", "--json"]), "20h"));
    let value: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!((json.code, &value["ok"]), (Some(112), &false.into()), "{value}");
    assert_eq!(value["can_acquire"], false);
    let minute = 60_000;
    assert!(value["can_acquire_in_ms"].as_u64().unwrap() > 9 * minute, "{value}");
    for node in value["nodes"].as_array().unwrap() {
        assert_eq!(node["fit"], true, "{node}");
        assert!(node["votes_in_ms"].as_u64().unwrap() > 9 * minute, "{node}");
    }
}

#[test]
fn doctor_ends_with_0_as_soon_as_a_quorum_may_vote() {
    let masters = Masters::start(3);
    let doctor = || run(guarded(&mut cli::on(&masters, &["doctor"]), BRIEF));
    let fit = || doctor().code == Some(0);
    eventually_blocking("a quorum may vote", PATIENCE, fit);
    let ran = run(guarded(&mut cli::on(&masters, &["run", "-n", "r", "--", "true"]), BRIEF));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    // They have not started at the same moment.
    let all_vote = || doctor().stdout.matches("  yes ").count() == masters.len();
    eventually_blocking("all masters vote", PATIENCE, all_vote);
    // Two that vote are a quorum: the third one is only noted.
    masters[2].restart();
    let output = doctor();
    assert_eq!(output.code, Some(0), "{output:?}");
    assert!(output.stdout.ends_with("\n\nok: 3 of 3 masters are fit\n"), "{output:?}");
}

#[test]
fn on_a_terminal_every_line_fits_80_columns_however_long_names_are() {
    let masters = Masters::start(2);
    let evicting = Server::start_with(&["--maxmemory", "9mb", "--maxmemory-policy", "allkeys-lru"]);
    let mapped = |url: String| url.replace("127.0.0.1", "[::ffff:127.0.0.1]");
    let long = format!("unix:///tmp/{}redis.sock", "a-directory/".repeat(4));
    let urls = masters.urls().into_iter().map(mapped).chain([long.clone()]);
    let mut urls: Vec<String> = urls.collect();
    let lines_fit = |urls: &[String], command: &str, guard: &str| {
        let output = on_a_terminal(urls, command, &[("QUORUMLOCK_RESTART_GUARD", guard)]);
        let shown = without_escapes(&output.stdout);
        let longest = shown.lines().map(|line| line.chars().count()).max();
        assert!(longest <= Some(80), "{command}: {longest:?}: {shown}");
    };
    urls.push(evicting.url());
    lines_fit(&urls, "doctor", "on");
    lines_fit(&urls, "doctor", "off");
    let output = on_a_terminal(&urls, "doctor", &[]);
    let shown = without_escapes(&output.stdout);
    assert!(shown.starts_with("MASTER "), "{shown}");
    // The name goes on in the next rows of its column.
    let first = |line: &str| line.split(' ').next().map(str::to_owned);
    let column: String = shown.lines().filter_map(first).collect();
    assert!(column.contains(&long["unix://".len()..]), "{shown}");
    assert_eq!(output.code, Some(1), "{shown}");
}

#[test]
fn colors_are_for_terminals_unless_asked_for_otherwise() {
    let masters = Masters::start(1);
    let on_a_terminal = |arguments, variables: &[_]| {
        on_a_terminal(masters.urls(), arguments, variables).stdout.contains("\x1b[3")
    };
    assert!(on_a_terminal("doctor", &[]));
    assert!(on_a_terminal("doctor", &[("NO_COLOR", "")]));
    assert!(!on_a_terminal("doctor", &[("NO_COLOR", "1")]));
    assert!(!on_a_terminal("doctor", &[("TERM", "dumb")]));
    assert!(!on_a_terminal("--color never doctor", &[]));
    assert!(on_a_terminal("doctor --color always", &[("NO_COLOR", "1")]));
    assert!(!on_a_terminal("doctor --json", &[]));
    let piped = |arguments: &[&str]| run(&mut cli::on(&masters, arguments)).stdout.contains('\x1b');
    assert!(!piped(&["doctor"]) && !piped(&["doctor", "--color", "auto"]));
    assert!(piped(&["doctor", "--color", "always"]));
    assert!(!piped(&["doctor", "--color", "always", "--json"]));
    let wrong = run(&mut cli::on(&masters, &["doctor", "--color", "sometimes"]));
    assert_eq!(wrong.code, Some(114), "{wrong:?}");
    assert!(wrong.stderr.contains("auto, always, never"), "{wrong:?}");
}

//! `quorumlock run` without a lock: the reason is reported by code and in one line.

use crate::cli::{self, Told, bare, shell, told};
use crate::support::masters::Masters;
use quorumlock::Redlock;
use serde_json::Value;
use std::time::Duration;

fn holder(masters: &Masters) -> quorumlock::RedlockBuilder {
    masters.builder().label("worker-7").operation_timeout(Duration::from_secs(1))
}

async fn held(masters: &Masters) -> (Redlock, quorumlock::Guard) {
    let redlock = holder(masters).connect().await.unwrap();
    let guard = redlock.acquire("r").keep_alive().await.unwrap();
    (redlock, guard)
}

/// Asserts that it ended with `code`, printed nothing on stdout, and this line on stderr.
#[track_caller]
fn assert_refused(told: &Told, code: i32, line: &str) {
    assert_eq!((told.code, &*told.stdout), (Some(code), ""), "{told:?}");
    assert_eq!(told.stderr, format!("quorumlock: {line}\n"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lock_that_is_held_gives_111_and_says_by_whom() {
    let masters = Masters::start(3);
    let _held = held(&masters).await;
    for options in [&["--no-wait"][..], &["-n"], &["--wait", "100ms"]] {
        let told = told(&mut shell(&masters, options, "echo ran"));
        assert_eq!((told.code, &*told.stdout), (Some(111), ""), "{told:?}");
        let (line, nodes) = told.stderr.split_once('\n').unwrap();
        assert!(line.starts_with("quorumlock: \"r\" is held by worker-7, expires in "), "{line}");
        assert_eq!(nodes.lines().count(), 3, "{nodes}");
        for (node, url) in nodes.lines().zip(masters.urls()) {
            let address = url.trim_start_matches("redis://");
            assert!(node.starts_with(&format!("  {address}")), "{node}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_code_for_a_lock_that_is_held_is_the_users_if_they_want() {
    let masters = Masters::start(3);
    let _held = held(&masters).await;
    let told = told(&mut shell(&masters, &["--json", "--no-wait", "-E", "0"], "echo ran"));
    assert_eq!((told.code, &*told.stdout), (Some(0), ""), "{told:?}");
    let value: Value = serde_json::from_str(&told.stderr).unwrap();
    assert_eq!((&value["error"], &value["exit"]), (&"held".into(), &0.into()));
    assert!(value["message"].as_str().unwrap().contains("worker-7"), "{value}");
    assert_eq!(value["nodes"].as_array().unwrap().len(), 3, "{value}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lock_that_is_held_and_no_error_is_told_only_to_who_asks() {
    let masters = Masters::start(3);
    let _held = held(&masters).await;
    let quiet = told(&mut shell(&masters, &["--no-wait", "-E", "0"], "echo ran"));
    assert_eq!((quiet.code, &*quiet.stdout, &*quiet.stderr), (Some(0), "", ""));
    let verbose = told(&mut shell(&masters, &["-v", "--no-wait", "-E", "0"], "echo ran"));
    assert_eq!((verbose.code, &*verbose.stdout), (Some(0), ""), "{verbose:?}");
    assert!(verbose.stderr.contains("\"r\" is held by worker-7, expires in "), "{verbose:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_waits_gets_the_lock_when_it_is_released() {
    let masters = Masters::start(3);
    let (_redlock, guard) = held(&masters).await;
    let mut waits = shell(&masters, &["--wait-forever"], "echo ran");
    let waiting = cli::Running::start(&mut waits);
    guard.release().await;
    let told = waiting.told();
    assert_eq!((told.code, &*told.stdout, &*told.stderr), (Some(0), "ran\n", ""));
}

#[test]
fn without_a_quorum_it_is_112_and_told_what_each_master_says() {
    let masters = Masters::start(5);
    (0..3).for_each(|node| masters.kill(node));
    let refused = told(&mut shell(&masters, &["--no-wait"], "echo ran"));
    assert_eq!((refused.code, &*refused.stdout), (Some(112), ""), "{refused:?}");
    let lines: Vec<_> = refused.stderr.lines().collect();
    assert!(lines[0].starts_with("quorumlock: no quorum for \"r\": "), "{lines:?}");
    assert_eq!(lines.len(), 6, "{lines:?}");
    assert!(lines[1..4].iter().all(|line| line.contains("down (Connection refused")), "{lines:?}");
    // The user's code for a lock that is held does not apply to an outage.
    let other = told(&mut shell(&masters, &["--no-wait", "-E", "9"], "echo ran"));
    assert_eq!(other.code, Some(112));
}

#[test]
fn masters_that_have_just_started_are_told_as_such_with_the_setting_that_changes_it() {
    let masters = Masters::start(3);
    let mut command = shell(&masters, &["--no-wait"], "echo ran");
    let told = told(command.env("QUORUMLOCK_RESTART_GUARD", "on"));
    assert_eq!(told.code, Some(112));
    assert!(told.stderr.contains("see restart_guard in the configuration"), "{told:?}");
    assert!(!told.stderr.contains("RedlockBuilder"), "{told:?}");
}

#[test]
fn a_command_that_is_not_there_or_no_program_asks_for_no_lock() {
    // No server listens there: a command that asked would report that.
    let run = |program: &str| {
        told(bare().args(["--node", "redis://127.0.0.1:1", "run", "r", "--", program]))
    };
    assert_refused(&run("no-such-program"), 127, "no-such-program: command not found");
    assert_refused(&run(""), 127, "\"\": command not found");
    assert_refused(&run("./no/such/file"), 127, "./no/such/file: no such file");
    assert_refused(&run("/etc/passwd"), 126, "/etc/passwd: not an executable file");
    assert_refused(&run("/"), 126, "/: not an executable file");
}

#[test]
fn a_script_whose_interpreter_is_missing_is_told_and_the_lock_is_released() {
    use std::os::unix::fs::PermissionsExt;
    let masters = Masters::start(3);
    let files = tempfile::tempdir().unwrap();
    let script = files.path().join("script");
    std::fs::write(&script, "#!/no/such/interpreter\n").unwrap();
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    let run = || told(cli::on(&masters, &["run", "--no-wait", "r", "--"]).arg(&script));
    for _ in 0..2 {
        let told = run();
        assert_eq!(told.code, Some(127), "{told:?}");
        let problem = "its interpreter is missing, or it is gone by now: No such \
                       file or directory (os error 2)";
        let line = format!("quorumlock: {}: {problem}\n", script.display());
        assert_eq!(told.stderr, line);
    }
}

#[test]
fn each_typical_mistake_has_its_line() {
    for (arguments, line) in [
        (
            &["run", "r"][..],
            "the following required arguments were not provided: <COMMAND>..., behind --",
        ),
        (
            &["run", "r", "true"],
            "the following required arguments were not provided: <COMMAND>..., behind --",
        ),
        (
            &["run", "--wait", "10", "r", "--", "true"],
            "invalid value '10' for '--wait <DURATION>': a unit is missing: write 10s or 10ms",
        ),
        (
            &["run", "--ttl", "soon", "r", "--", "true"],
            "invalid value 'soon' for '--ttl <DURATION>': expected number at 0: write it like 10s, 500ms or \"1m 30s\"",
        ),
        (
            &["run", "--no-wait", "--wait", "1s", "r", "--", "true"],
            "the argument '--no-wait' cannot be used with '--wait <DURATION>'",
        ),
        (
            &["run", "--tll", "1s", "r", "--", "true"],
            "unexpected argument '--tll' found; tip: a similar argument exists: '--ttl'; tip: to pass '--tll' as a value, use '-- --tll'",
        ),
        (
            &["inspekt", "r"],
            "unrecognized subcommand 'inspekt'; tip: a similar subcommand exists: 'inspect'",
        ),
        (&["inspect"], "the following required arguments were not provided: <RESOURCE>..."),
        (
            &["bench", "--cycles", "0"],
            "invalid value '0' for '--cycles <CYCLES>': 0 is not in 1..=100000",
        ),
    ] {
        let help = match arguments[0] {
            "inspekt" => "quorumlock --help".to_owned(),
            command => format!("quorumlock {command} --help"),
        };
        assert_refused(&told(bare().args(arguments)), 114, &format!("{line} (see {help})"));
    }
    let none = told(&mut bare());
    assert_eq!((none.code, none.stderr.lines().count()), (Some(114), 1), "{none:?}");
    assert!(none.stderr.contains("run, inspect"), "{none:?}");
}

#[test]
fn settings_that_cannot_work_are_told_by_their_names() {
    let node = ["--node", "redis://127.0.0.1:1"];
    let run = |options: &[&str]| {
        let mut command = bare();
        told(command.args(["run"]).args(node).args(options).args(["r", "--", "true"]))
    };
    assert_refused(
        &run(&["--ttl", "40s"]),
        115,
        "ttl: 40s is above max_ttl (30s): shorten it, or raise max_ttl",
    );
    assert_refused(
        &run(&["--max-hold", "5s"]),
        115,
        "max_hold: 5s is below the ttl (10s): lengthen it, or shorten the ttl",
    );
    let reserved = told(bare().args(node).args(["run", "quorumlock:x", "--", "true"]));
    assert_refused(
        &reserved,
        114,
        "resource: \"quorumlock:x\" contains \"quorumlock:\", which is reserved: rename it",
    );
    let none = told(bare().args(["run", "r", "--", "true"]));
    assert_refused(
        &none,
        115,
        "no masters: name each with --node, or all of them in QUORUMLOCK_NODES or under `nodes` in the file of --config",
    );
}

#[test]
fn masters_are_named_by_option_environment_or_file_and_options_win() {
    let masters = Masters::start(3);
    let files = tempfile::tempdir().unwrap();
    let file = files.path().join("quorumlock.toml");
    let nodes =
        masters.urls().iter().map(|url| format!("\"{url}\"")).collect::<Vec<_>>().join(", ");
    std::fs::write(&file, format!("nodes = [{nodes}]\nrestart_guard = \"off\"\n")).unwrap();
    let run = ["run", "r", "--", "true"];
    assert_eq!(told(bare().arg("--config").arg(&file).args(run)).code, Some(0));
    assert_eq!(told(bare().env("QUORUMLOCK_CONFIG", &file).args(run)).code, Some(0));
    let nowhere = ["--node", "redis://127.0.0.1:1", "run", "--no-wait", "r", "--", "true"];
    let told = told(bare().env("QUORUMLOCK_CONFIG", &file).args(nowhere));
    assert_eq!(told.code, Some(112), "{told:?}");
}

#[test]
fn a_wrong_password_is_told_and_no_password_is_shown() {
    let masters = Masters::start_with(3, &["--requirepass", "right"]);
    let wrong =
        masters.urls().iter().map(|url| url.replace("://", "://:hunter2@")).collect::<Vec<_>>();
    for json in [&[][..], &["--json"]] {
        let told = told(cli::over(&wrong).args(["run", "-v", "r"]).args(json).args(["--", "true"]));
        assert_eq!(told.code, Some(115), "{told:?}");
        assert!(told.stderr.contains("WRONGPASS") || told.stderr.contains("password"), "{told:?}");
        assert!(!told.stderr.contains("hunter2"), "{told:?}");
    }
}

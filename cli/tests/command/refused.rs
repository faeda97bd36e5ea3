//! `quorumlock run` without a lock: the reason is reported by code and in one line.

use crate::cli::{self, Finished, bare, run, shell};
use crate::support::masters::Masters;
use quorumlock::Redlock;
use serde_json::Value;
use std::process::Command;
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
fn assert_refused(output: &Finished, code: i32, line: &str) {
    assert_eq!((output.code, &*output.stdout), (Some(code), ""), "{output:?}");
    assert_eq!(output.stderr, format!("quorumlock: {line}\n"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lock_that_is_held_gives_111_and_says_by_whom() {
    let masters = Masters::start(3);
    let _held = held(&masters).await;
    for options in [&["--no-wait"][..], &["-n"], &["--timeout", "100ms"]] {
        let output = run(&mut shell(&masters, options, "echo ran"));
        assert_eq!((output.code, &*output.stdout), (Some(111), ""), "{output:?}");
        let (line, nodes) = output.stderr.split_once('\n').unwrap();
        assert!(line.starts_with("quorumlock: \"r\" is held by worker-7, expires in "), "{line}");
        assert!(nodes.starts_with("  all 3 masters  held by worker-7, expires in "), "{nodes}");
        assert_eq!(nodes.lines().count(), 1, "{nodes}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_code_for_a_lock_that_is_held_is_the_users_if_they_want() {
    let masters = Masters::start(3);
    let _held = held(&masters).await;
    let output = run(&mut shell(&masters, &["--json", "--no-wait", "-E", "0"], "echo ran"));
    assert_eq!((output.code, &*output.stdout), (Some(0), ""), "{output:?}");
    let value: Value = serde_json::from_str(&output.stderr).unwrap();
    assert_eq!((&value["error"], &value["exit"]), (&"held".into(), &0.into()));
    assert!(value["message"].as_str().unwrap().contains("worker-7"), "{value}");
    assert_eq!((&value["resource"], &value["holder"]["label"]), (&"r".into(), &"worker-7".into()));
    let left = value["remaining_ms"].as_u64().unwrap();
    assert!(left <= 10_000 && value["attempts"] == 1 && value["waited_ms"].is_u64(), "{value}");
    let nodes = value["nodes"].as_array().unwrap();
    assert_eq!(nodes.len(), 3, "{value}");
    for (node, server) in nodes.iter().zip(masters.iter()) {
        assert_eq!(node["node"], server.addr().to_string(), "{value}");
        assert_eq!(
            (&node["answer"], &node["holder"]["label"]),
            (&"held".into(), &"worker-7".into())
        );
        assert!(node["remaining_ms"].as_u64().unwrap() <= 10_000, "{value}");
    }
    // A quorum has answered before the attempt was over.
    assert!(nodes.iter().filter(|node| node["latency_us"].is_u64()).count() >= 2, "{value}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lock_that_is_held_and_no_error_is_reported_only_on_request() {
    let masters = Masters::start(3);
    let _held = held(&masters).await;
    let quiet = run(&mut shell(&masters, &["--no-wait", "-E", "0"], "echo ran"));
    assert_eq!((quiet.code, &*quiet.stdout, &*quiet.stderr), (Some(0), "", ""));
    let verbose = run(&mut shell(&masters, &["-v", "--no-wait", "-E", "0"], "echo ran"));
    assert_eq!((verbose.code, &*verbose.stdout), (Some(0), ""), "{verbose:?}");
    assert!(verbose.stderr.contains("\"r\" is held by worker-7, expires in "), "{verbose:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_waiter_gets_the_lock_when_it_is_released() {
    let masters = Masters::start(3);
    let (_redlock, guard) = held(&masters).await;
    let mut waits = shell(&masters, &["--no-timeout"], "echo ran");
    let waiting = cli::Running::start(&mut waits);
    guard.release().await.unwrap();
    let output = waiting.finish();
    assert_eq!((output.code, &*output.stdout, &*output.stderr), (Some(0), "ran\n", ""));
}

#[test]
fn without_a_quorum_it_is_112_with_the_answer_of_each_master() {
    let masters = Masters::start(5);
    (0..3).for_each(|node| masters.kill(node));
    let refused = run(&mut shell(&masters, &["--no-wait"], "echo ran"));
    assert_eq!((refused.code, &*refused.stdout), (Some(112), ""), "{refused:?}");
    let lines: Vec<_> = refused.stderr.lines().collect();
    let begins = "quorumlock: no quorum for \"r\": 2 of 5 masters may vote, 3 needed ";
    assert!(lines[0].starts_with(begins), "{lines:?}");
    assert_eq!(lines.len(), 3, "{lines:?}");
    assert!(
        lines[1].starts_with("  3 of 5 masters ") && lines[1].contains("  down ("),
        "{lines:?}"
    );
    let [fourth, fifth] = [3, 4].map(|node| masters[node].addr());
    assert_eq!(lines[2], format!("  {fourth}, {fifth}  could have granted"));
    // The user's code for a lock that is held does not apply to an outage.
    let other = run(&mut shell(&masters, &["--no-wait", "-E", "9"], "echo ran"));
    assert_eq!(other.code, Some(112));
}

#[test]
fn without_a_quorum_json_has_the_answer_of_each_master() {
    let masters = Masters::start(3);
    (1..3).for_each(|node| masters.kill(node));
    let output = run(&mut shell(&masters, &["--json", "--no-wait"], "echo ran"));
    let value: Value = serde_json::from_str(&output.stderr).unwrap();
    assert_eq!((&value["error"], &value["resource"]), (&"no_quorum".into(), &"r".into()));
    assert_eq!((&value["attempts"], &value["ready_in_ms"]), (&1.into(), &Value::Null));
    let nodes = value["nodes"].as_array().unwrap();
    // It was not asked, since it would not have been enough.
    assert_eq!(nodes[0]["answer"], "available", "{value}");
    for node in &nodes[1..] {
        assert_eq!((&node["answer"], &node["latency_us"]), (&"down".into(), &Value::Null));
        assert!(node["said"].as_str().unwrap().starts_with("down (Connection refused"), "{value}");
    }
}

#[test]
fn a_setting_that_cannot_work_is_a_field_in_json() {
    let json = |command: &mut Command| -> Value {
        serde_json::from_str(&run(command.arg("--json")).stderr).unwrap()
    };
    let node = ["--node", "redis://127.0.0.1:1"];
    let set = json(bare().args(node).args(["inspect", "quorumlock:x"]));
    assert_eq!((&set["error"], &set["field"]), (&"usage".into(), &"resource".into()));
    assert!(set["problem"].as_str().unwrap().contains("which is reserved"), "{set}");
    let files = tempfile::tempdir().unwrap();
    let file = files.path().join("quorumlock.toml");
    std::fs::write(&file, "\nttl = 10\n").unwrap();
    let read = json(bare().arg("--config").arg(&file).args(["inspect", "r"]));
    assert_eq!((&read["error"], &read["field"]), (&"configuration".into(), &"ttl".into()));
    assert_eq!((&read["file"], &read["line"]), (&file.to_str().unwrap().into(), &2.into()));
}

#[test]
fn the_error_for_fresh_masters_names_the_restart_guard_setting() {
    let masters = Masters::start(3);
    let mut command = shell(&masters, &["--no-wait"], "echo ran");
    let output = run(command.env("QUORUMLOCK_RESTART_GUARD", "on"));
    assert_eq!(output.code, Some(112));
    assert!(output.stderr.contains("or see restart_guard"), "{output:?}");
    assert!(!output.stderr.contains("RedlockBuilder"), "{output:?}");
}

#[test]
fn a_command_that_is_not_there_or_no_program_asks_for_no_lock() {
    // No server listens there: a command that asked would report that.
    let lock_for = |program: &str| {
        run(bare().args(["--node", "redis://127.0.0.1:1", "run", "r", "--", program]))
    };
    assert_refused(&lock_for("no-such-program"), 127, "no-such-program: command not found");
    assert_refused(&lock_for(""), 127, "\"\": command not found");
    assert_refused(&lock_for("./no/such/file"), 127, "./no/such/file: no such file");
    assert_refused(&lock_for("/etc/passwd"), 126, "/etc/passwd: not an executable file");
    assert_refused(&lock_for("/"), 126, "/: not an executable file");
}

#[test]
fn of_a_command_in_path_that_is_not_executable_the_exit_says_so() {
    let files = tempfile::tempdir().unwrap();
    std::fs::write(files.path().join("plain"), "").unwrap();
    std::fs::create_dir(files.path().join("folder")).unwrap();
    for command in ["run", "elect"] {
        let found = |program: &str| {
            let line = ["--node", "redis://127.0.0.1:1", command, "r", "--", program];
            run(bare().env("PATH", files.path()).args(line))
        };
        assert_refused(&found("plain"), 126, "plain: not an executable file");
        assert_refused(&found("folder"), 127, "folder: command not found");
    }
}

#[test]
fn a_missing_interpreter_is_reported_and_the_lock_is_released() {
    use std::os::unix::fs::PermissionsExt;
    let masters = Masters::start(3);
    let files = tempfile::tempdir().unwrap();
    let script = files.path().join("script");
    std::fs::write(&script, "#!/no/such/interpreter\n").unwrap();
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    let lock = || run(cli::on(&masters, &["run", "--no-wait", "r", "--"]).arg(&script));
    for _ in 0..2 {
        let output = lock();
        assert_eq!(output.code, Some(127), "{output:?}");
        let problem = "its interpreter is missing, or it is gone by now: No such \
                       file or directory (os error 2)";
        let line = format!("quorumlock: {}: {problem}\n", script.display());
        assert_eq!(output.stderr, line);
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
            "the following required arguments were not provided: <COMMAND>..., behind --; did you mean: run r -- true",
        ),
        (
            &["run", "--timeout", "10", "r", "--", "true"],
            "invalid value '10' for '--timeout <DURATION>': time unit needed, for example 10sec or 10ms: write it like 10s, 500ms or \"1m 30s\"",
        ),
        (
            &["run", "--ttl", "soon", "r", "--", "true"],
            "invalid value 'soon' for '--ttl <DURATION>': expected number at 0: write it like 10s, 500ms or \"1m 30s\"",
        ),
        (
            &["run", "--no-wait", "--timeout", "1s", "r", "--", "true"],
            "the argument '--no-wait' cannot be used with '--timeout <DURATION>'",
        ),
        (
            &["run", "--tll", "1s", "r", "--", "true"],
            "unexpected argument '--tll' found; tip: a similar argument exists: '--ttl'",
        ),
        (&["run", "--wiat", "3s", "r", "--", "true"], "unexpected argument '--wiat' found"),
        (&["elect", "-n", "r", "--", "true"], "unexpected argument '-n' found"),
        (
            &["run", "--timeout", "-3s", "r", "--", "true"],
            "invalid value '-3s' for '--timeout <DURATION>': expected number at 0: write it like 10s, 500ms or \"1m 30s\"",
        ),
        (
            &["run", "--timeout", "--fair", "r", "--", "true"],
            "invalid value '--fair' for '--timeout <DURATION>': expected number at 0: write it like 10s, 500ms or \"1m 30s\"",
        ),
        (&["rnu", "r"], "unrecognized subcommand 'rnu'; tip: use run"),
        (
            &["inspekt", "r"],
            "unrecognized subcommand 'inspekt'; tip: a similar subcommand exists: 'inspect'",
        ),
        (&["inspect"], "the following required arguments were not provided: <RESOURCE>..."),
        (
            &["inspect", "--permits", "0", "r"],
            "invalid value '0' for '--permits <N>': 0 is not in 1..=64",
        ),
    ] {
        let help = match arguments[0] {
            "inspekt" | "rnu" => "quorumlock --help".to_owned(),
            command => format!("quorumlock {command} --help"),
        };
        assert_refused(&run(bare().args(arguments)), 114, &format!("{line} (see {help})"));
    }
    let none = run(&mut bare());
    assert_eq!((none.code, none.stderr.lines().count()), (Some(114), 1), "{none:?}");
    assert!(none.stderr.contains("run, elect, inspect"), "{none:?}");
}

#[test]
fn settings_that_cannot_work_are_reported_by_name() {
    let node = ["--node", "redis://127.0.0.1:1"];
    let with = |options: &[&str]| {
        let mut command = bare();
        run(command.args(["run"]).args(node).args(options).args(["r", "--", "true"]))
    };
    assert_refused(
        &with(&["--ttl", "40s"]),
        114,
        "ttl: 40s is above max_ttl (30s): shorten it, or raise max_ttl",
    );
    assert_refused(
        &with(&["--max-hold", "5s"]),
        114,
        "max_hold: 5s is below the ttl (10s): lengthen it, or shorten the ttl",
    );
    let reserved = run(bare().args(node).args(["run", "quorumlock:x", "--", "true"]));
    assert_refused(
        &reserved,
        114,
        "resource: \"quorumlock:x\" contains \"quorumlock:\", which is reserved: rename it",
    );
    let none = run(bare().args(["run", "r", "--", "true"]));
    assert_refused(
        &none,
        115,
        "no masters: name each with --node, or all of them in QUORUMLOCK_NODES or under `nodes` in the file of --config or QUORUMLOCK_CONFIG, ~/.config/quorumlock/config.toml or /etc/quorumlock/config.toml",
    );
}

#[test]
fn options_name_masters_over_the_environment_and_the_file() {
    let masters = Masters::start(3);
    let files = tempfile::tempdir().unwrap();
    let file = files.path().join("quorumlock.toml");
    let nodes =
        masters.urls().iter().map(|url| format!("\"{url}\"")).collect::<Vec<_>>().join(", ");
    std::fs::write(&file, format!("nodes = [{nodes}]\nrestart_guard = \"off\"\n")).unwrap();
    let words = ["run", "r", "--", "true"];
    assert_eq!(run(bare().arg("--config").arg(&file).args(words)).code, Some(0));
    assert_eq!(run(bare().env("QUORUMLOCK_CONFIG", &file).args(words)).code, Some(0));
    let nowhere = ["--node", "redis://127.0.0.1:1", "run", "--no-wait", "r", "--", "true"];
    let output = run(bare().env("QUORUMLOCK_CONFIG", &file).args(nowhere));
    assert_eq!(output.code, Some(112), "{output:?}");
}

#[test]
fn a_file_in_the_users_folder_is_read_if_no_masters_are_named() {
    let masters = Masters::start(3);
    let files = tempfile::tempdir().unwrap();
    let folder = files.path().join("quorumlock");
    std::fs::create_dir(&folder).unwrap();
    let file = folder.join("config.toml");
    let nodes =
        masters.urls().iter().map(|url| format!("\"{url}\"")).collect::<Vec<_>>().join(", ");
    std::fs::write(&file, format!("nodes = [{nodes}]\nrestart_guard = \"off\"\n")).unwrap();
    let with = |change: fn(&mut Command) -> &mut Command| {
        let mut command = bare();
        command.env("XDG_CONFIG_HOME", files.path());
        run(change(&mut command).args(["run", "-v", "-n", "r", "--", "true"]))
    };
    let used = format!("quorumlock: settings from {}\n", file.display());
    let by_default = with(|command| command);
    assert_eq!(by_default.code, Some(0), "{by_default:?}");
    assert_eq!(
        by_default.stderr,
        format!("{used}quorumlock: acquired \"r\"\nquorumlock: released \"r\"\n")
    );
    // A variable that names no masters does not turn it off.
    let with_variable = with(|command| command.env("QUORUMLOCK_TTL", "9s"));
    assert_eq!(with_variable.code, Some(0), "{with_variable:?}");
    for named in [
        with(|command| command.env("QUORUMLOCK_NODES", "redis://127.0.0.1:1")),
        with(|command| command.args(["--node", "redis://127.0.0.1:1"])),
    ] {
        assert_eq!(named.code, Some(112), "{named:?}");
        assert!(!named.stderr.contains("settings from"), "{named:?}");
    }
    let other = with(|command| command.args(["--config", "/no/such/file"]));
    assert_eq!(other.code, Some(115), "{other:?}");
    let line = "quorumlock: settings from /no/such/file\nquorumlock: /no/such/file: cannot be read";
    assert!(other.stderr.starts_with(line), "{other:?}");
}

#[test]
fn a_wrong_password_is_reported_and_no_password_is_shown() {
    let masters = Masters::start_with(3, &["--requirepass", "right"]);
    let wrong =
        masters.urls().iter().map(|url| url.replace("://", "://:hunter2@")).collect::<Vec<_>>();
    for json in [&[][..], &["--json"]] {
        let output =
            run(cli::over(&wrong).args(["run", "-v", "r"]).args(json).args(["--", "true"]));
        assert_eq!(output.code, Some(115), "{output:?}");
        assert!(
            output.stderr.contains("WRONGPASS") || output.stderr.contains("password"),
            "{output:?}"
        );
        assert!(!output.stderr.contains("hunter2"), "{output:?}");
    }
}

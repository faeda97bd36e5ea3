//! The configuration and the commands in `docs/operations.md` do what that page says.

use crate::support::page::blocks;
use crate::support::prelude::*;
use quorumlock::preflight::{FindingKind, Severity};
use quorumlock::{Redlock, RedlockBuilder, RestartGuard};
use redis::{Client, Cmd, FromRedisValue, cmd};
use std::collections::HashMap;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

const PAGE: &str = include_str!("../../docs/operations.md");
/// The page names this file for masters that keep what they have granted.
const DURABLE: &str = include_str!("../../docs/deploy/redis.conf");
const USERS: &str = include_str!("../../docs/deploy/users.acl");

/// Returns the settings of a redis.conf; the test has its own address settings.
fn settings(conf: &str) -> Vec<(&str, &str)> {
    let lines = conf.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let pairs = lines.map(|line| line.split_once(' ').expect("a name and a value"));
    let (address, settings): (Vec<_>, Vec<_>) =
        pairs.partition(|(name, _)| ["bind", "port"].contains(name));
    assert!(!address.is_empty(), "{conf}");
    settings
}

/// Starts a server with the page's file, and with the users that it names.
fn start(conf: &str) -> Server {
    let directory = tempfile::tempdir().unwrap();
    let (file, users) = (directory.path().join("redis.conf"), directory.path().join("users.acl"));
    std::fs::write(&users, USERS).unwrap();
    let lines = settings(conf).into_iter().map(|(name, value)| format!("{name} {value}\n"));
    let lines = lines.collect::<String>().replace(USERS_FILE, users.to_str().unwrap());
    std::fs::write(&file, lines).unwrap();
    Server::start_with(&["--include", file.to_str().unwrap()])
}

const USERS_FILE: &str = "/etc/quorumlock/users.acl";

/// Asks as the user that only looks.
async fn look<T: FromRedisValue>(server: &Server, command: &Cmd) -> T {
    let url = server.url().replace("//", "//operator:change-me-too@");
    let mut connection = witness::connect(&Client::open(url).unwrap()).await.unwrap();
    command.query_async(&mut connection).await.unwrap()
}

fn as_shown(value: &str) -> String {
    match value.strip_suffix("mb") {
        Some(megabytes) => (megabytes.parse::<u64>().unwrap() << 20).to_string(),
        None => value.trim_matches('"').to_owned(),
    }
}

#[tokio::test]
async fn both_configurations_are_taken_as_they_stand_and_are_fit() {
    assert!(PAGE.contains("`docs/deploy/redis.conf`"));
    for (conf, is_durable) in [(blocks(PAGE, "conf")[0], false), (DURABLE, true)] {
        let server = start(conf);
        for (name, value) in settings(conf).into_iter().filter(|(name, _)| *name != "aclfile") {
            let shown: HashMap<String, String> =
                look(&server, cmd("CONFIG").arg("GET").arg(name)).await;
            assert_eq!(shown.get(name), Some(&as_shown(value)), "{name}");
        }
        let url = server.url().replace("//", "//locks:change-me@");
        // A busy machine answers late.
        let (ttl, late) = (Duration::from_secs(20), Duration::from_secs(2));
        let builder = || {
            Redlock::builder().node(&*url).ttl(ttl).operation_timeout(late).connect_timeout(late)
        };
        let report = builder().preflight().await.unwrap();
        let preflight = &report;
        assert!(preflight.is_ok(), "{preflight}");
        let findings: Vec<_> = preflight.into_iter().flat_map(|node| &node.findings).collect();
        assert!(findings.iter().all(|finding| finding.severity == Severity::Note), "{preflight}");
        let forgets = |kind: &FindingKind| matches!(kind, FindingKind::Forgets { .. });
        assert_eq!(
            findings.iter().any(|finding| forgets(&finding.kind)),
            !is_durable,
            "{preflight}"
        );

        let trusting = builder().restart_guard(RestartGuard::TrustPersistence).connect().await;
        match (trusting, is_durable) {
            // Even though the server has only just started.
            (Ok(redlock), true) => assert!(redlock.try_acquire("orders:42").await.is_ok()),
            (Err(_), false) => {}
            (other, _) => panic!("{conf}: {other:?}"),
        }
    }
}

#[test]
fn redis_cli_commands_of_the_page_work_as_it_says() {
    let server = start(DURABLE);
    let port = server.port().to_string();
    let lines = blocks(PAGE, "sh").into_iter().flat_map(str::lines);
    let (mut password, mut typed) = ("", 0);
    for line in lines {
        if let Some(rest) = line.strip_prefix("export REDISCLI_AUTH=") {
            password = rest.split(' ').next().unwrap();
        }
        if !line.starts_with("redis-cli ") {
            continue;
        }
        typed += 1;
        let (command, shows) = line.split_once('#').unwrap_or((line, ""));
        let mut words = command.split_whitespace().skip(1).collect::<Vec<_>>();
        let host = words.iter().position(|word| *word == "10.0.0.1").expect("the host");
        words[host] = "127.0.0.1";
        let mut command = Command::new("redis-cli");
        command.args(["-p", &port]).args(words).env("REDISCLI_AUTH", password);
        let output = command.output().unwrap();
        let shown = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && !is_refused(&shown), "{line}: {shown}");
        let words = shows.split([' ', ',']).filter(|word| word.contains(['_', ':']));
        words.for_each(|word| assert!(shown.contains(word), "{line}: {shown}"));
    }
    assert!(typed >= 4);
}

fn is_refused(shown: &str) -> bool {
    ["ERR", "NOPERM", "NOAUTH", "WRONGPASS"].iter().any(|word| shown.contains(word))
}

/// What the table of the symptoms looks at on a master.
#[test]
fn the_operator_may_look_at_whatever_a_symptom_leads_to() {
    let server = start(DURABLE);
    let table = PAGE.split_once("| symptom |").expect("the table of symptoms").1;
    let rows = table.lines().skip(2).take_while(|line| line.starts_with('|'));
    let looks = rows.filter_map(|row| row.split('|').nth(3));
    let spans = looks.flat_map(|look| look.split('`').skip(1).step_by(2));
    let is_command =
        |word: &str| word.len() > 2 && word.bytes().all(|byte| byte.is_ascii_uppercase());
    let mut typed = Vec::new();
    for span in spans {
        let line = span.strip_prefix("redis-cli ").unwrap_or(span);
        let first = line.split(' ').next().unwrap();
        if !is_command(first) && line == span {
            continue;
        }
        let mut command = Command::new("redis-cli");
        command.args(["-p", &server.port().to_string(), "--user", "operator"]);
        command.args(line.split(' ')).env("REDISCLI_AUTH", "change-me-too");
        let output = command.output().unwrap();
        let shown = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && !is_refused(&shown), "{line}: {shown}");
        typed.push(line);
    }
    for line in ["LATENCY LATEST", "ACL LOG", "SLOWLOG GET", "TIME", "PING", "--scan"] {
        assert!(typed.contains(&line), "{line}: {typed:?}");
    }
}

/// Ends a client as a kill of its process does: nothing of it runs any more.
async fn is_killed_after_an_acquire(builder: RedlockBuilder) {
    let process = std::thread::spawn(|| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let redlock = runtime.block_on(async {
            let redlock = builder.connect().await.unwrap();
            redlock.acquire("r").await.unwrap().release().await.unwrap();
            redlock
        });
        drop(runtime);
        drop(redlock);
    });
    tokio::task::spawn_blocking(|| process.join().unwrap()).await.unwrap();
}

/// A client with a mistaken `max_ttl` was killed, and its notes would stand for days.
#[tokio::test]
async fn the_agreement_can_be_deleted_as_the_page_says_once_no_client_runs() {
    let section = PAGE.split_once("## Deleting the agreement").expect("the section").1;
    let command = blocks(section, "sh")[0].trim();
    let words = command.split_whitespace().skip_while(|word| *word != "DEL");
    let [delete, key] = words.collect::<Vec<_>>()[..] else { panic!("{command}") };

    let masters = Masters::start(3);
    let builder = || Redlock::builder().nodes(masters.urls()).restart_guard(RestartGuard::Off);
    let days = Duration::from_secs(3 * 86_400);
    let mistaken = builder().max_ttl(days).allow_long_max_ttl(true);
    is_killed_after_an_acquire(mistaken).await;
    let refused = builder().connect().await.unwrap_err().to_string();
    assert!(refused.contains("delete the key quorumlock:agreement on each master"), "{refused}");
    for server in masters.iter() {
        assert_eq!(witness::ask::<i64>(server, cmd(delete).arg(key)).await, Ok(1));
    }
    let redlock = builder().connect().await.unwrap();
    redlock.acquire("r").await.unwrap().release().await.unwrap();
}

#[test]
fn each_message_among_the_symptoms_is_one_of_ours() {
    let table = PAGE.split_once("| symptom |").expect("the table of symptoms").1;
    let rows = table.lines().skip(2).take_while(|line| line.starts_with('|'));
    let symptoms = rows.map(|row| row.split('|').nth(1).unwrap());
    let quoted: Vec<&str> =
        symptoms.flat_map(|symptom| symptom.split('"').skip(1).step_by(2)).collect();
    assert!(quoted.len() > 5, "{quoted:?}");
    let mut sources = Vec::new();
    for folder in ["src", "core/src"] {
        read_all(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder), &mut sources);
    }
    for message in quoted {
        let is_ours = sources.iter().any(|text| text.contains(message));
        assert!(is_ours, "no source says {message:?}");
    }
}

/// `docs/observability.md` is compared with the code.
#[test]
fn the_metrics_of_the_page_are_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let named = PAGE.split("`quorumlock_").skip(1).map(|rest| rest.split('`').next().unwrap());
    let named: Vec<&str> = named.collect();
    assert!(!named.is_empty());
    let there = std::fs::read_to_string(root.join("docs/observability.md")).unwrap();
    for name in named {
        assert!(there.contains(&format!("`quorumlock_{name}`")), "no metric quorumlock_{name}");
    }
}

/// Reads the sources in a folder and below; pages are not sources.
fn read_all(folder: &Path, texts: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            read_all(&path, texts);
        } else if path.extension().is_some_and(|suffix| suffix == "rs") {
            texts.push(std::fs::read_to_string(path).unwrap());
        }
    }
}

/// `docs/cli.md` is compared with the program, and the commands on other pages with `docs/cli.md`.
#[test]
fn the_command_has_what_the_documents_type() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let Ok(page) = std::fs::read_to_string(root.join("docs/cli.md")) else { return };
    let texts = [
        "docs/coming-from.md",
        "docs/cookbook.md",
        "docs/deploying-masters.md",
        "docs/faq.md",
        "docs/guide.md",
        "docs/one-managed-redis.md",
        "docs/operations.md",
        "README.md",
    ]
    .map(|path| std::fs::read_to_string(root.join(path)).unwrap());
    let spans =
        texts.iter().flat_map(|text| text.split('`').skip(1).step_by(2).chain(text.lines()));
    let mut typed = 0;
    for line in spans {
        let Some((_, rest)) = line.split_once("quorumlock ") else { continue };
        let mut words = rest.split(" -- ").next().unwrap().split_whitespace();
        let command = words.next().unwrap_or("");
        if !["run", "inspect", "list", "watch", "force-release", "doctor", "bench"]
            .contains(&command)
        {
            continue;
        }
        typed += 1;
        assert!(page.contains(&format!("quorumlock {command}")), "{line}");
        for option in words.filter(|word| word.starts_with("--")) {
            let option = option.trim_end_matches(['`', ',', '.', ':']);
            assert!(page.contains(&format!("`{option}")), "docs/cli.md has no {option}: {line}");
        }
    }
    assert!(typed > 5);
}

//! `quorumlock doctor --may-stop`: whether a master may be stopped now, by what the others would still
//! have.

use crate::cli::{self, Finished, PATIENCE, Running, run};
use crate::doctor_shown::{BRIEF, guarded};
use crate::support::masters::Masters;
use crate::support::normalised::without_times;
use crate::support::poll::eventually;
use crate::support::witness;
use quorumlock::{Redlock, Released, embedded};
use redis::cmd;
use serde_json::Value;
use std::ffi::OsStr;
use std::process::Command;
use std::time::Duration;

const PAGE: &str = include_str!("../../../docs/operations.md");

const LONG: Duration = Duration::from_secs(30);

fn node(masters: &Masters, place: usize) -> String {
    masters[place].addr().to_string()
}

/// Returns the printed answer and the object in the JSON, which have the same exit code.
#[track_caller]
fn asked(node: &str, of: &dyn Fn() -> Command) -> (Finished, Value) {
    // At the same time: what is asked about may pass.
    let [plain, json] = [&[][..], &["--json"]]
        .map(|format| Running::start(of().args(["doctor", "--may-stop", node]).args(format)))
        .map(Running::finish);
    assert_eq!((json.code, &*json.stderr), (plain.code, ""), "{json:?} {plain:?}");
    let value: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(value["ok"], plain.code == Some(0), "{value}");
    assert_eq!(value["may_stop"]["node"], node, "{value}");
    (plain, value["may_stop"].clone())
}

#[track_caller]
fn assert_answer(masters: &Masters, place: usize, code: i32, reason: &str) -> Value {
    let (plain, value) = asked(&node(masters, place), &|| cli::over(masters.urls()));
    assert_answered(&plain, &value, code, reason);
    value
}

#[track_caller]
fn assert_answered(plain: &Finished, value: &Value, code: i32, reason: &str) {
    assert_eq!(plain.code, Some(code), "{plain:?}");
    let (head, answer) = match code {
        0 => ("may stop", "yes"),
        3 => ("may not stop", "no"),
        _ => ("not known", "not_known"),
    };
    let line = plain.stdout.lines().find_map(|line| line.strip_prefix(&format!("{head}: ")));
    assert_eq!(line, value["reason"].as_str(), "{plain:?}");
    assert!(line.is_some_and(|line| line.contains(reason)), "{reason}: {plain:?}");
    assert_eq!(value["answer"], answer, "{value}");
}

async fn client(masters: &Masters) -> Redlock {
    masters.builder().operation_timeout(Duration::from_secs(1)).label("me").connect().await.unwrap()
}

/// Waits until every master has the key.
async fn everywhere(masters: &Masters, key: &str) {
    let all = async || witness::holders(masters, key).await.len() == masters.len();
    eventually("every master has it", PATIENCE, all).await;
}

/// Makes some masters forget these keys.
async fn forget(masters: &Masters, places: &[usize], keys: &[&str]) {
    for place in places {
        let deleted: i64 = witness::ask(&masters[*place], cmd("DEL").arg(keys)).await.unwrap();
        assert_eq!(deleted, i64::try_from(keys.len()).unwrap(), "{keys:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_of_three_may_stop_while_the_others_vote_and_have_the_keys() {
    let masters = Masters::start(3);
    let redlock = client(&masters).await;
    let _guard = redlock.acquire("orders:42").ttl(LONG).await.unwrap();
    everywhere(&masters, "orders:42").await;
    for place in 0..3 {
        let reason = "2 of 3 masters may vote, and no lock loses its quorum of keys (1 found)";
        let value = assert_answer(&masters, place, 0, reason);
        assert_eq!((&value["locks"], &value["quorum_in_ms"]), (&1.into(), &0.into()), "{value}");
        assert_eq!(
            (&value["losing"], &value["not_known"]),
            (&Value::Array(vec![]), &Value::Array(vec![]))
        );
    }
}

#[tokio::test]
async fn a_look_changes_nothing_at_a_master() {
    let masters = Masters::start(3);
    for arguments in [&["--inspect-only"][..], &["--may-stop", &node(&masters, 0)]] {
        let looked = run(cli::on(&masters, &["doctor"]).args(arguments));
        assert_eq!((looked.code, &*looked.stderr), (Some(0), ""), "{looked:?}");
        for master in masters.iter() {
            let persistence = witness::info(master, "persistence").await;
            assert_eq!(persistence["rdb_changes_since_last_save"], "0", "{arguments:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_answer_on_the_page_is_what_the_command_prints() {
    let masters = Masters::start(5);
    let builder = masters.builder().operation_timeout(Duration::from_secs(1));
    let redlock = builder.label("worker-7").connect().await.unwrap();
    let _guards = [
        redlock.acquire("orders:42").ttl(LONG).await.unwrap(),
        redlock.acquire("orders:43").ttl(LONG).await.unwrap(),
    ];
    everywhere(&masters, "orders:42").await;
    everywhere(&masters, "orders:43").await;
    forget(&masters, &[0, 1], &["orders:42"]).await;
    let command = "$ quorumlock doctor --may-stop 10.0.0.3:6379\n";
    let recorded = PAGE.split_once(command).unwrap().1.split("```").next().unwrap();
    let printed = run(&mut cli::on(&masters, &["doctor", "--may-stop", &node(&masters, 2)]));
    let (_, answer) = printed.stdout.rsplit_once("\n\n").unwrap();
    let answer = answer.replace(&node(&masters, 2), "10.0.0.3:6379");
    assert_eq!(without_times(&answer), without_times(recorded));
}

/// With a `restart` that is over at once.
#[test]
fn the_script_on_the_page_goes_from_one_to_the_next_and_ends_if_the_answer_is_not_known() {
    let (masters, folder) = (Masters::start(5), tempfile::tempdir().unwrap());
    let script = PAGE.split_once("```sh\nset -e\n").unwrap().1.split("```").next().unwrap();
    let nodes: Vec<String> = (0..5).map(|place| node(&masters, place)).collect();
    let listed = "10.0.0.1 10.0.0.2 10.0.0.3 10.0.0.4 10.0.0.5";
    assert!(script.contains(listed) && script.contains("sleep 10 "), "{script}");
    let script = script.replace(listed, &nodes.join(" ")).replace("sleep 10 ", "sleep 0 ");
    let ours = std::path::Path::new(env!("CARGO_BIN_EXE_quorumlock")).parent().unwrap();
    let path = format!("{}:{}", ours.display(), std::env::var("PATH").unwrap());
    let play = |environment: &[(&OsStr, &OsStr)]| {
        let mut shell = cli::beside(&masters, "sh");
        let script = format!("set -e\nrestart() {{ echo \"restarts $1\"; }}\n{script}");
        shell.args(["-c", &script]).env("PATH", &path).current_dir(&folder);
        run(shell.envs(environment.iter().copied()))
    };
    // The script waits until no master is reported as young.
    let mut young = Command::new("sh");
    let envs = guarded(&mut young, BRIEF).get_envs();
    let briefly: Vec<_> = envs.filter_map(|(name, value)| Some((name, value?))).collect();
    let played = play(&briefly);
    let restarts = played.stdout.lines().filter_map(|line| line.strip_prefix("restarts "));
    assert_eq!(restarts.collect::<Vec<_>>(), nodes, "{played:?}");
    assert_eq!(played.code, Some(0), "{played:?}");
    for master in masters.iter() {
        let denied = ["ACL", "SETUSER", "default", "-scan"];
        let mut cli = Command::new("redis-cli");
        cli.args(["-p", &master.port().to_string()]).args(denied);
        assert_eq!(run(&mut cli).stdout.trim(), "OK");
    }
    let ended = play(&briefly);
    assert!(ended.code != Some(0) && !ended.stdout.contains("restarts"), "{ended:?}");
}

#[test]
fn with_one_of_three_down_neither_of_the_others_may_stop() {
    let masters = Masters::start(3);
    masters.kill(2);
    for place in 0..2 {
        let value =
            assert_answer(&masters, place, 3, "1 of 3 masters may vote, which is no quorum");
        assert_eq!(
            (&value["quorum_in_ms"], &value["locks"]),
            (&Value::Null, &Value::Null),
            "{value}"
        );
    }
    assert_answer(&masters, 2, 0, "2 of 3 masters may vote, and no lock loses");
}

/// The masters are embedded, so their ages do not go by how long the commands take.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_master_that_warms_up_is_waited_for() {
    const DAY: Duration = Duration::from_secs(24 * 3600);
    let masters = embedded::Masters::start(3).unwrap();
    let urls = masters.urls();
    let ask = |place: usize| {
        asked(urls[place].strip_prefix("redis://").unwrap(), &|| {
            let mut command = cli::over(urls.clone());
            guarded(&mut command, "1h");
            command
        })
    };
    assert_eq!(ask(0).0.code, Some(0), "all may vote");
    masters[2].set_uptime(Duration::ZERO);
    let (plain, value) = ask(0);
    assert_answered(
        &plain,
        &value,
        3,
        "1 of 3 masters may vote, which is no quorum; a quorum may vote in ",
    );
    assert!(value["quorum_in_ms"].as_u64().unwrap() > 0, "{value}");
    // It has no vote that could be lost.
    assert_eq!(ask(2).0.code, Some(0));
    masters[2].set_uptime(DAY);
    assert_eq!(ask(0).0.code, Some(0), "the others are a quorum again");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lock_on_three_of_five_keeps_each_of_the_three() {
    let masters = Masters::start(5);
    let redlock = client(&masters).await;
    let (_held, _other) = (
        redlock.acquire("orders:42").ttl(LONG).await.unwrap(),
        redlock.acquire("orders:43").ttl(LONG).await.unwrap(),
    );
    everywhere(&masters, "orders:42").await;
    everywhere(&masters, "orders:43").await;
    forget(&masters, &[0, 1], &["orders:42"]).await;
    for place in [2, 3, 4] {
        let reason = "1 of 2 locks would have no quorum of keys";
        let value = assert_answer(&masters, place, 3, reason);
        let losing = &value["losing"];
        assert_eq!(
            (&losing[0]["resource"], &losing[0]["holder"]),
            (&"orders:42".into(), &"me".into())
        );
        assert_eq!(losing[0]["held_on"].as_array().unwrap().len(), 3, "{value}");
        assert_eq!(losing.as_array().unwrap().len(), 1, "{value}");
    }
    let plain = run(&mut cli::on(&masters, &["doctor", "--may-stop", &node(&masters, 2)]));
    let names = |line: &str| line.starts_with("    \"orders:42\" is held by me, expires in ");
    assert!(
        plain.stdout.lines().any(|line| names(line) && line.ends_with("on 3 of 5 masters")),
        "{plain:?}"
    );
    for place in [0, 1] {
        assert_answer(&masters, place, 0, "no lock loses its quorum of keys (2 found)");
    }
}

/// The mark of the readers is on all masters, one of the readers on three.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_reader_needs_a_quorum_of_its_own() {
    let masters = Masters::start(5);
    let (redlock, other) = (client(&masters).await, client(&masters).await);
    let _first = redlock.rw_lock("table").read().ttl(LONG).await.unwrap();
    everywhere(&masters, "table").await;
    forget(&masters, &[0, 1], &["table", "quorumlock:readers:table"]).await;
    let _second = other.rw_lock("table").read().ttl(LONG).await.unwrap();
    everywhere(&masters, "table").await;
    let value = assert_answer(&masters, 2, 3, "1 of 1 locks would have no quorum of keys");
    assert_eq!(value["losing"][0]["readers"].as_array().unwrap().len(), 2, "{value}");
    assert_answer(&masters, 0, 0, "no lock loses");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_permit_counts_as_a_lock_and_work_that_has_ended_does_not() {
    let masters = Masters::start(5);
    let redlock = client(&masters).await;
    let _permit = redlock.semaphore("import", 1).acquire().ttl(LONG).await.unwrap();
    let key = "quorumlock:permit:0:import";
    let keys = witness::keys(&masters[0]).await.unwrap();
    let key = keys.iter().find(|name| name.ends_with("import")).map_or(key, |key| key.as_str());
    everywhere(&masters, key).await;
    forget(&masters, &[0, 1], &[key]).await;
    let value = assert_answer(&masters, 2, 3, "1 of 1 locks would have no quorum of keys");
    assert_eq!(value["losing"][0]["slot"], 0, "{value}");
    forget(&masters, &[2, 3, 4], &[key]).await;

    let guard = redlock.acquire("backup").ttl(LONG).min_hold(LONG).await.unwrap();
    everywhere(&masters, "backup").await;
    assert_eq!(guard.release().await, Ok(Released::Confirmed));
    let ended = async || {
        let values = witness::values(&masters, "backup").await;
        values.iter().flatten().filter(|value| value.starts_with("quorumlock:done:")).count() == 5
    };
    eventually("every master has the mark", PATIENCE, ended).await;
    forget(&masters, &[0, 1], &["backup"]).await;
    assert_answer(&masters, 2, 0, "no lock loses its quorum of keys (1 found)");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_masters_do_not_say_is_not_known() {
    let masters = Masters::start(3);
    let redlock = client(&masters).await;
    let _guard = redlock.acquire("r").ttl(LONG).await.unwrap();
    everywhere(&masters, "r").await;
    let ask = async |rules: &[&str]| {
        for master in masters.iter() {
            let mut grant = cmd("ACL");
            grant.arg("SETUSER").arg("looker").arg(&["reset", "on", ">pw", "~*", "&*", "+@all"]);
            witness::ask::<()>(master, grant.arg(rules)).await.unwrap();
        }
        let urls = masters.urls().into_iter().map(|url| url.replace("//", "//looker:pw@"));
        let urls: Vec<String> = urls.collect();
        asked(&node(&masters, 0), &|| cli::over(&urls))
    };
    let (plain, value) = ask(&["-scan"]).await;
    let reason = "the list may lack locks, too few masters can be scanned: ";
    assert_answered(&plain, &value, 4, reason);
    assert!(plain.stdout.contains("SCAN is denied"), "{plain:?}");
    let (plain, value) = ask(&[]).await;
    assert_answered(&plain, &value, 0, "(1 found)");
    assert!(!format!("{plain:?}").contains("pw"), "{plain:?}");
}

/// Without the right to see them, readers may be on any masters.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn readers_that_no_master_shows_are_not_known() {
    let masters = Masters::start(3);
    let redlock = client(&masters).await;
    let _reads = redlock.rw_lock("table").read().ttl(LONG).await.unwrap();
    everywhere(&masters, "table").await;
    for master in masters.iter() {
        let mut grant = cmd("ACL");
        let rules = ["on", ">pw", "~*", "&*", "+@all", "-zrange"];
        witness::ask::<()>(master, grant.arg("SETUSER").arg("looker").arg(&rules)).await.unwrap();
    }
    let urls = masters.urls().into_iter().map(|url| url.replace("//", "//looker:pw@"));
    let urls: Vec<String> = urls.collect();
    let (plain, value) = asked(&node(&masters, 0), &|| cli::over(&urls));
    let reason = "too few masters say whether 1 of 1 locks have a quorum of keys";
    assert_answered(&plain, &value, 4, reason);
    assert_eq!(value["not_known"][0]["resource"], "table", "{value}");
    assert!(plain.stdout.contains("\n    \"table\" is read by others, "), "{plain:?}");
}

#[test]
fn of_two_lists_each_has_to_keep_its_quorum() {
    let masters = Masters::start(5);
    let urls = masters.urls();
    let of = || {
        let mut command = cli::over(&urls[..3]);
        command.env("QUORUMLOCK_JOINT_WITH", urls[2..].join(","));
        command
    };
    let code = |place| asked(&node(&masters, place), &of).0.code;
    assert_eq!([0, 2, 4].map(code), [Some(0); 3]);
    masters.kill(4);
    assert_eq!([0, 1, 2, 3, 4].map(code), [Some(0), Some(0), Some(3), Some(3), Some(0)]);
}

#[test]
fn a_master_that_is_none_of_them_is_a_mistake_that_names_them() {
    let masters = Masters::start(3);
    let urls: Vec<String> = masters.urls();
    let secret: Vec<String> = urls.iter().map(|url| url.replace("//", "//:hunter2@")).collect();
    let failed =
        run(cli::over(&secret).args(["doctor", "--may-stop", "redis://:hunter2@10.9.9.9"]));
    assert_eq!((failed.code, &*failed.stdout), (Some(114), ""), "{failed:?}");
    let known: Vec<String> = (0..3).map(|place| node(&masters, place)).collect();
    let line = format!(
        "quorumlock: --may-stop names none of the masters, which are {}\n",
        known.join(", ")
    );
    assert_eq!(failed.stderr, line);
    let as_configured = ["doctor", "--may-stop", &urls[0]];
    assert_eq!(run(cli::over(&urls).args(as_configured)).code, Some(0));
}

/// The runbook forbids to take one away then, whatever the masters have at this moment.
#[test]
fn while_one_list_takes_over_from_another_the_answer_is_for_a_restart_alone() {
    let masters = Masters::start(5);
    let (old, new) = (masters.urls()[..3].join(","), masters.urls()[2..].join(","));
    let ask = |joint: &str| {
        let mut doctor = cli::over([&new]);
        run(doctor.env("QUORUMLOCK_JOINT_WITH", joint).args([
            "doctor",
            "--may-stop",
            &node(&masters, 2),
        ]))
    };
    let note = "\n    for a moment, for a restart: one list takes over from another";
    let (joint, alone) = (ask(&old), ask(""));
    assert_eq!((joint.code, alone.code), (Some(0), Some(0)), "{joint:?} {alone:?}");
    assert!(joint.stdout.contains(note) && !alone.stdout.contains(note), "{joint:?} {alone:?}");
}

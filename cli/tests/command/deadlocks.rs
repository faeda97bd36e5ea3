//! Clients that wait for each other, as `list`, `watch` and `doctor --deadlocks` report them.

use crate::cli::{self, Finished, PATIENCE, Running, run};
use crate::support::masters::Masters;
use crate::support::poll::eventually_blocking;
use quorumlock::{AcquireError, Guard, Redlock};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::time::Duration;
use tokio::task::JoinHandle;

const LONG: Duration = Duration::from_secs(30);

const FOUND: &str = "possibly a deadlock: the holder of ";

/// A client that holds one lock, and waits for another.
struct Client {
    redlock: Redlock,
    guard: Guard,
    waits: JoinHandle<Result<Guard, AcquireError>>,
}

async fn holder(masters: &Masters, holds: &str) -> (Redlock, Guard) {
    let patient = masters.builder().operation_timeout(Duration::from_secs(1));
    let redlock = patient.label(format!("of-{holds}")).connect().await.unwrap();
    let guard = redlock.acquire(holds).ttl(LONG).keep_alive().await.unwrap();
    (redlock, guard)
}

impl Client {
    fn waiting_for((redlock, guard): (Redlock, Guard), others: &[&str]) -> Self {
        let acquire = redlock.acquire_all(others).ttl(LONG).timeout(PATIENCE);
        Self { waits: tokio::spawn(acquire.into_future()), redlock, guard }
    }
}

fn json_lines(printed: &Finished) -> Vec<Value> {
    printed.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Two clients, each of which waits for what the other holds, and a third that only waits.
async fn two_and_one(masters: &Masters) -> [Client; 3] {
    let [a, b, c] =
        [holder(masters, "a").await, holder(masters, "b").await, holder(masters, "c").await];
    // One of several resources is free.
    let waits = [(a, &["b"][..]), (b, &["0", "a"]), (c, &["a"])];
    let all = waits.map(|(client, others)| Client::waiting_for(client, others));
    let waiting = || {
        let listed = json_lines(&run(&mut cli::on(masters, &["list", "--json"])));
        listed.iter().map(|lock| lock["waiting"].clone()).eq([json!(2), json!(1), json!(0)])
    };
    eventually_blocking("each is known to wait, and counts once", PATIENCE, waiting);
    all
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn waiters_for_each_other_are_found_and_nothing_is_broken() {
    let masters = Masters::start(3);
    let [a, b, c] = two_and_one(&masters).await;

    // A permit is in no cycle, whatever the name of its semaphore.
    let permit = c.redlock.semaphore("a", 2).acquire().ttl(LONG).await.unwrap();
    // Doctor looks twice, a second apart.
    let looks = [
        &["list"][..],
        &["list", "--json"],
        &["doctor", "--deadlocks"],
        &["doctor", "--deadlocks", "--json"],
    ];
    let looks = looks.map(|words| Running::start(&mut cli::on(&masters, words)));
    let [listed, as_json, doctor, in_json] = looks.map(Running::finish);
    permit.release().await.unwrap();

    let lines: Vec<&str> = listed.stdout.lines().filter(|line| line.starts_with(FOUND)).collect();
    let two = |line: &str| {
        line.contains("\"a\" (of-a) waits for \"b\"")
            && line.contains("\"b\" (of-b) waits for \"a\"")
    };
    assert!(lines.len() == 1 && two(lines[0]), "{listed:?}");
    let as_json = json_lines(&as_json);
    let of = |lock: &Value| lock["possible_deadlock"].as_array().map_or(0, Vec::len);
    let cycles: Vec<_> = as_json.iter().map(|lock| (lock["resource"].as_str(), of(lock))).collect();
    assert_eq!(
        cycles,
        [(Some("a"), 2), (Some("a"), 0), (Some("b"), 2), (Some("c"), 0)],
        "{as_json:?}"
    );
    assert!(as_json[1]["slot"].is_u64() && as_json[1]["possible_deadlock"].is_null());

    assert_eq!(doctor.code, Some(1), "{doctor:?}");
    assert_eq!(
        doctor.stdout.lines().filter(|line| line.starts_with(FOUND) && two(line)).count(),
        1
    );
    let found = &json_lines(&in_json)[0];
    assert_eq!((in_json.code, &found["ok"]), (Some(1), &json!(false)), "{in_json:?}");
    assert_eq!(found["deadlocks_known"], true, "{found}");
    let named = found["possible_deadlocks"][0].as_array().unwrap();
    assert!(
        named.len() == 2 && named.contains(&json!("a")) && named.contains(&json!("b")),
        "{found}"
    );

    // Each is reported once, behind the locks that were there at the first look.
    let watches = [&[][..], &["--json"]].map(|format| {
        let mut watch = cli::on(&masters, &["watch", "--interval", "100ms"]);
        watch.args(format).stdout(Stdio::piped()).spawn().unwrap()
    });
    for mut watch in watches {
        let lines = BufReader::new(watch.stdout.take().unwrap()).lines();
        let lines: Vec<String> = lines.take(4).map(Result::unwrap).collect();
        let last = &lines[3];
        match serde_json::from_str::<Value>(last) {
            Ok(value) => {
                assert_eq!(value["event"], "possible_deadlock", "{lines:?}");
                assert_eq!(value["resources"].as_array().unwrap().len(), 2, "{lines:?}");
            }
            Err(_) => assert!(last.contains(FOUND) && two(last), "{lines:?}"),
        }
        watch.kill().unwrap();
        watch.wait().unwrap();
    }

    // None of them was taken from its holder.
    for client in [&a, &b, &c] {
        client.guard.check().unwrap();
        assert!(!client.waits.is_finished());
    }
    a.waits.abort();
    b.guard.release().await.unwrap();
    c.waits.abort();
    b.waits.abort();
    let over = || {
        let doctor = run(&mut cli::on(&masters, &["doctor", "--deadlocks"]));
        let verdict = "no clients are known to wait for each other";
        doctor.code == Some(0) && doctor.stdout.trim_end().ends_with(verdict)
    };
    eventually_blocking("nothing is found once a waiter has given up", PATIENCE, over);
    a.guard.release().await.unwrap();
    c.guard.release().await.unwrap();
    for client in [a.redlock, b.redlock, c.redlock] {
        client.shutdown().await.unwrap();
    }
}

#[tokio::test]
async fn what_too_few_masters_can_show_is_not_known() {
    let masters = Masters::start(3);
    let (redlock, guard) = holder(&masters, "a").await;
    let mut urls = masters.urls();
    urls.truncate(1);
    let down = ["redis://127.0.0.1:1".to_owned(), "redis://127.0.0.1:2".to_owned()];
    let urls: Vec<String> = urls.into_iter().chain(down).collect();
    let doctor = run(cli::over(urls).args(["doctor", "--deadlocks"]));
    assert_eq!(doctor.code, Some(4), "{doctor:?}");
    assert!(doctor.stdout.contains("deadlocks: not known: "), "{doctor:?}");
    guard.release().await.unwrap();
    redlock.shutdown().await.unwrap();
}

//! `quorumlock bench`: how many tasks and cycles it runs, and where it does not measure at all.

use crate::cli::{self, run};
use crate::support::masters::Masters;
use crate::support::witness;
use serde_json::Value;

#[tokio::test]
async fn each_task_runs_every_cycle_on_a_resource_of_its_own() {
    let masters = Masters::start(3);
    let arguments = ["bench", "--tasks", "4", "--cycles", "10"];
    let plain = run(&mut cli::on(&masters, &arguments));
    assert_eq!((plain.code, &*plain.stderr), (Some(0), ""), "{plain:?}");
    assert!(plain.stdout.ends_with(" locks a second by 4 tasks\n"), "{plain:?}");
    let json = run(cli::on(&masters, &arguments).arg("--json"));
    let value: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(
        (&value["acquire"]["cycles"], &value["release"]["cycles"]),
        (&40.into(), &40.into())
    );
    assert_eq!((&value["tasks"], &value["fenced"]), (&4.into(), &false.into()));
    assert!(value["locks_per_second"].as_f64().unwrap() > 0.0, "{value}");
    witness::assert_no_keys_now(&masters).await;
}

#[tokio::test]
async fn with_fenced_the_locks_have_tokens_and_only_fences_stay() {
    let masters = Masters::start(3);
    let arguments = ["bench", "--fenced", "--tasks", "2", "--cycles", "5"];
    let plain = run(&mut cli::on(&masters, &arguments));
    assert_eq!((plain.code, &*plain.stderr), (Some(0), ""), "{plain:?}");
    assert!(plain.stdout.ends_with(" fenced locks a second by 2 tasks\n"), "{plain:?}");
    let keys = witness::keys(&masters[0]).await.unwrap();
    assert_eq!(keys.len(), 2, "{keys:?}");
    assert!(keys.iter().all(|key| key.starts_with("quorumlock:fence:")), "{keys:?}");
}

#[test]
fn bench_does_not_wait_for_masters_that_warm_up() {
    let masters = Masters::start(3);
    let waiting = run(cli::on(&masters, &["bench"]).env("QUORUMLOCK_RESTART_GUARD", "on"));
    assert_eq!((waiting.code, &*waiting.stdout), (Some(112), ""), "{waiting:?}");
    assert!(waiting.stderr.starts_with("quorumlock: no quorum may vote for "), "{waiting:?}");
}

#[test]
fn no_task_at_all_is_a_mistake_in_the_command_line() {
    let output = run(cli::bare().args(["bench", "--tasks", "0"]));
    assert_eq!(output.code, Some(114), "{output:?}");
    assert!(output.stderr.contains("--tasks"), "{output:?}");
}

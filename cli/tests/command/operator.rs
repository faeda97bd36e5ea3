//! The user `operator` of `docs/deploy/users.acl`, which may look at everything and change nothing.

use crate::cli::{self, PATIENCE, run};
use crate::support::masters::Masters;
use crate::support::poll::eventually;
use crate::support::witness;
use redis::cmd;
use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::time::Duration;

const USERS: &str = include_str!("../../../docs/deploy/users.acl");
const PAGE: &str = include_str!("../../../docs/acl.md");

const LONG: Duration = Duration::from_secs(30);

/// Makes the users of the file. The default user stays as it is, for the witness.
async fn with_users() -> Masters {
    let masters = Masters::start(3);
    for line in USERS.lines().filter_map(|line| line.strip_prefix("user ")) {
        for master in masters.iter().filter(|_| !line.starts_with("default ")) {
            let mut user = cmd("ACL");
            user.arg("SETUSER").arg(line.split(' ').collect::<Vec<_>>());
            witness::ask::<()>(master, &user).await.unwrap();
        }
    }
    masters
}

fn as_operator(masters: &Masters) -> Vec<String> {
    let url = |url: String| url.replace("//", "//operator:change-me-too@");
    masters.urls().into_iter().map(url).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_operator_sees_all_that_the_commands_show() {
    let masters = with_users().await;
    let urls = as_operator(&masters);
    let holder = masters.builder().operation_timeout(Duration::from_secs(1)).label("worker-7");
    let redlock = holder.connect().await.unwrap();
    let _held = redlock.acquire("orders:42").ttl(LONG).await.unwrap();
    let _read = redlock.rw_lock("table").read().ttl(LONG).await.unwrap();
    for key in ["orders:42", "table"] {
        let all = async || witness::holders(&masters, key).await.len() == 3;
        eventually("every master has it", PATIENCE, all).await;
    }
    let first = masters[0].addr().to_string();
    for (arguments, shown) in [
        (&["inspect", "orders:42"][..], "held by worker-7"),
        (&["inspect", "table"], "read by worker-7"),
        (&["list"], "2 locks are held"),
        (&["doctor", "--inspect-only"], "ok: 3 of 3 masters are fit"),
        (&["doctor", "--may-stop", &first], "no lock loses its quorum of keys (2 found)"),
    ] {
        let looked = run(cli::over(&urls).args(arguments));
        assert_eq!((looked.code, &*looked.stderr), (Some(0), ""), "{arguments:?}: {looked:?}");
        assert!(looked.stdout.contains(shown), "{shown}: {looked:?}");
        assert!(!looked.stdout.contains("denied"), "{looked:?}");
    }
    let mut watch = cli::over(&urls).arg("watch").stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(watch.stdout.take().unwrap()).lines();
    let watched: Vec<String> = lines.take(2).map(Result::unwrap).collect();
    watch.kill().unwrap();
    watch.wait().unwrap();
    let held = |line: &String| line.contains("\"orders:42\" is held by worker-7");
    assert!(watched.iter().any(held), "{watched:?}");

    let refused = run(cli::over(&urls).args(["run", "-n", "r", "--", "true"]));
    assert_ne!(refused.code, Some(0), "{refused:?}");
    let taken = run(cli::over(&urls).args(["force-release", "--yes", "orders:42"]));
    assert_ne!(taken.code, Some(0), "{taken:?}");
    assert_eq!(witness::holders(&masters, "orders:42").await.len(), 3);
}

/// Sixteen findings, each with a right to grant, would lead the wrong way.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn doctor_tells_a_user_that_only_looks_how_to_look() {
    let masters = with_users().await;
    let line = "this user may not take locks: if it only looks, use --inspect-only\n\n";
    let looks = run(cli::over(as_operator(&masters)).arg("doctor"));
    assert!(looks.stdout.starts_with(line), "{looks:?}");
    let as_told = run(cli::over(as_operator(&masters)).args(["doctor", "--inspect-only"]));
    assert!(as_told.code == Some(0) && !as_told.stdout.contains(line), "{as_told:?}");
    let clients = masters.urls().into_iter().map(|url| url.replace("//", "//locks:change-me@"));
    let locks = run(cli::over(clients).arg("doctor"));
    assert!(!locks.stdout.contains(line), "{locks:?}");
}

/// With trust in what is on the disks, `ACL DRYRUN` is asked for, where the server has it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn doctor_as_the_user_locks_notes_what_only_the_operator_may_ask() {
    let masters = with_users().await;
    let arguments = ["CONFIG SET appendonly yes", "CONFIG SET appendfsync always"];
    for (master, line) in masters.iter().flat_map(|master| arguments.map(|line| (master, line))) {
        let mut words = line.split(' ');
        let mut set = cmd(words.next().unwrap());
        witness::ask::<()>(master, set.arg(words.collect::<Vec<_>>())).await.unwrap();
    }
    let doctor = |urls: Vec<String>, arguments: &[&str]| {
        let mut command = cli::over(urls);
        command.env("QUORUMLOCK_RESTART_GUARD", "trust-persistence").arg("doctor").args(arguments);
        run(&mut command)
    };
    let clients = masters.urls().into_iter().map(|url| url.replace("//", "//locks:change-me@"));
    let locks = doctor(clients.collect(), &[]);
    let operator = doctor(as_operator(&masters), &["--inspect-only"]);
    assert_eq!((locks.code, operator.code), (Some(0), Some(0)), "{locks:?} {operator:?}");
    assert!(!operator.stdout.contains("ACL DRYRUN"), "{operator:?}");
    // Whether it matters depends on the server.
    if masters[0].version().contains("v=7.") {
        assert!(locks.stdout.contains("note: all 3 masters: ACL DRYRUN is denied"), "{locks:?}");
    }
}

#[test]
fn the_page_of_rights_grants_what_the_file_does() {
    let rules = |line: &'static str| {
        let words = line.split(' ').filter(|word| word.starts_with('+'));
        words.collect::<Vec<_>>()
    };
    let line = |text: &'static str, begins: &str| {
        text.lines().find(|line| line.starts_with(begins)).expect("a line for the operator")
    };
    let page = line(PAGE, "ACL SETUSER operator ");
    assert_eq!(rules(page), rules(line(USERS, "user operator ")));
}

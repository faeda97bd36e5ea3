//! `quorumlock run --on-wanted`: what a command does for which another one waits; and `quorumlock ask`.

use crate::cli::{self, Finished, PATIENCE, Running, is_alive, pid_in, run, shell};
use crate::support::masters::Masters;
use crate::support::poll::eventually_blocking;
use crate::support::witness;
use quorumlock::Redlock;
use rustix::process::Signal;

/// A command that ends with 7 once it gets SIGTERM, and not before.
fn holder(masters: &Masters, options: &[&str]) -> (Running, tempfile::TempDir) {
    let files = tempfile::tempdir().unwrap();
    let ready = files.path().join("ready");
    let script = format!(
        "trap 'echo ended; exit 7' TERM; echo $$ > {}; while :; do sleep 0.05; done",
        ready.display()
    );
    let running = Running::start(&mut shell(masters, options, &script));
    pid_in(&ready);
    (running, files)
}

fn end(running: Running) -> Finished {
    running.finish()
}

#[tokio::test]
async fn a_command_that_heeds_others_ends_once_another_one_waits() {
    let masters = Masters::start(3);
    let (first, _files) = holder(&masters, &["--on-wanted", "term", "--verbose"]);
    let next = run(&mut shell(&masters, &["--no-timeout"], "echo ran"));
    assert_eq!((next.code, &*next.stdout, &*next.stderr), (Some(0), "ran\n", ""));
    let first = end(first);
    assert_eq!((first.code, &*first.stdout), (Some(7), "ended\n"), "{first:?}");
    assert!(first.stderr.contains("another client waits for \"r\""), "{first:?}");
    witness::assert_no_keys_now(&masters).await;
}

#[test]
fn a_command_that_heeds_no_other_keeps_the_lock() {
    // Most of it is waiting.
    std::thread::scope(|scope| {
        for options in [&[][..], &["--on-wanted", "ignore"]] {
            scope.spawn(move || keeps_the_lock(options));
        }
    });
}

fn keeps_the_lock(options: &[&str]) {
    let masters = Masters::start(3);
    let (first, files) = holder(&masters, options);
    let next = run(&mut shell(&masters, &["--timeout", "500ms"], "echo ran"));
    assert_eq!((next.code, &*next.stdout), (Some(111), ""), "{next:?}");
    assert!(is_alive(pid_in(&files.path().join("ready"))));
    first.signal(Signal::TERM);
    assert_eq!(end(first).code, Some(7));
}

#[test]
fn an_attempt_that_does_not_wait_asks_no_command_to_end() {
    let masters = Masters::start(3);
    let (first, files) = holder(&masters, &["--on-wanted", "term"]);
    let next = run(&mut shell(&masters, &["--no-wait"], "echo ran"));
    assert_eq!((next.code, &*next.stdout), (Some(111), ""), "{next:?}");
    std::thread::sleep(std::time::Duration::from_millis(300));
    assert!(is_alive(pid_in(&files.path().join("ready"))));
    first.signal(Signal::TERM);
    assert_eq!(end(first).code, Some(7));
}

#[test]
fn an_operator_asks_by_hand() {
    let masters = Masters::start(3);
    let ask = |options: &[&str]| run(cli::on(&masters, &["ask", "r"]).args(options));
    let free = ask(&[]);
    assert_eq!((free.code, &*free.stdout), (Some(0), "\"r\" is free: nothing was done\n"));
    let (deaf, _files) = holder(&masters, &["--label", "web-3"]);
    let asked = ask(&[]);
    assert_eq!(asked.code, Some(0), "{asked:?}");
    assert!(asked.stdout.starts_with("\"r\" is held by web-3, expires in "), "{asked:?}");
    assert!(asked.stdout.contains(": asked, and not given up within "), "{asked:?}");
    deaf.signal(Signal::TERM);
    assert_eq!(end(deaf).code, Some(7));

    let (heeds, _files) = holder(&masters, &["--on-wanted", "term"]);
    let asked = || ask(&["--json"]);
    // It listens from the moment when its command has begun.
    eventually_blocking("it is asked", PATIENCE, || asked().stdout.contains("\"processes\":1,"));
    assert_eq!(end(heeds).code, Some(7));
}

/// The ttl, half of which is much longer than this takes.
const TTL: std::time::Duration = std::time::Duration::from_secs(30);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_idle_is_given_up_at_once_and_a_guard_keeps_the_lock() {
    let masters = Masters::start(3);
    let redlock: Redlock = masters.builder().label("web-3").connect().await.unwrap();
    let guard = redlock.acquire("r").ttl(TTL).keep_warm(TTL).await.unwrap();
    // At first its process may not listen.
    let mut asked = None;
    eventually_blocking("it listens", PATIENCE, || {
        let text = asked.insert(run(&mut cli::on(&masters, &["ask", "r"])));
        text.code == Some(0)
    });
    assert!(guard.is_wanted() && guard.is_valid());
    let text = asked.unwrap();
    let json = run(&mut cli::on(&masters, &["ask", "r", "--json"]));
    assert_eq!(json.code, Some(0), "{json:?}");
    let json: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    assert!(text.stdout.starts_with("\"r\" is held by web-3, expires in "), "{text:?}");
    assert!(text.stdout.ends_with(": asked, and not given up within 500 ms\n"), "{text:?}");
    assert_eq!((&json["processes"], &json["given_up_ms"]), (&1.into(), &().into()), "{json}");
    assert!(guard.is_valid());

    // It has been asked for: this is a release.
    guard.release().await.unwrap();

    for format in [&["ask", "idle"][..], &["ask", "idle", "--json"]] {
        let asked = async || {
            // As often as it takes to pay: otherwise it would be released each time for a while.
            for _ in 0..3 {
                redlock
                    .acquire("idle")
                    .ttl(TTL)
                    .keep_warm(TTL)
                    .await
                    .unwrap()
                    .release()
                    .await
                    .unwrap();
            }
            run(&mut cli::on(&masters, format))
        };
        let mut printed = asked().await;
        // At first its process may not listen at the master of this key.
        for _ in 0..100 {
            if printed.code == Some(0) && !printed.stdout.contains("is free") {
                break;
            }
            printed = asked().await;
        }
        match serde_json::from_str::<serde_json::Value>(&printed.stdout) {
            Ok(json) => {
                let after = json["given_up_ms"].as_u64();
                assert!(after.is_some_and(|after| after < 500), "{json}");
                assert_eq!(json["was"]["holder"]["label"], "web-3", "{json}");
            }
            Err(_) => {
                let begins = "\"idle\" was held by web-3, expires in ";
                assert!(printed.stdout.starts_with(begins), "{printed:?}");
                assert!(printed.stdout.contains(": asked, and given up within "), "{printed:?}");
            }
        }
    }
    redlock.shutdown().await.unwrap();
    witness::assert_no_keys_now(&masters).await;
}

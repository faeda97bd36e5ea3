//! `list` and `watch` on terminals of any size: nothing wraps, and nothing scrolls.

use crate::cli::{self, PATIENCE, Terminal};
use crate::support::masters::Masters;
use crate::support::poll::eventually_blocking;
use quorumlock::{Guard, Redlock};
use std::time::Duration;

const HOME: &str = "\x1b[H";
const PROGRAM: &str = env!("CARGO_BIN_EXE_quorumlock");

async fn hold(masters: &Masters, count: usize) -> (Redlock, Vec<Guard>) {
    let patient = masters.builder().operation_timeout(Duration::from_secs(1));
    let redlock = patient.label("worker-7:4711").connect().await.unwrap();
    let mut guards = Vec::new();
    for number in 0..count {
        let name = format!("tenant:{number:02}:{}", "order".repeat(8));
        guards.push(redlock.acquire(name).ttl(Duration::from_secs(30)).await.unwrap());
    }
    (redlock, guards)
}

/// Removes colours, and what clears.
fn lines(shown: &str) -> Vec<String> {
    let mut text = shown.replace('\r', "");
    for code in ["\x1b[31m", "\x1b[32m", "\x1b[33m", "\x1b[0m", "\x1b[K", "\x1b[J"] {
        text = text.replace(code, "");
    }
    text.lines().map(str::to_owned).collect()
}

fn widest(lines: &[String]) -> usize {
    lines.iter().map(|line| line.chars().count()).max().unwrap_or_default()
}

/// Returns what `list` draws on a terminal of so many columns.
fn listed(masters: &Masters, columns: usize) -> Vec<String> {
    let script = format!("stty cols {columns} rows 20; {PROGRAM} list; echo END");
    let terminal = Terminal::start(masters, &script);
    let ended = || terminal.shown().contains("END\r\n");
    eventually_blocking("it ends", PATIENCE, ended);
    let shown = lines(&terminal.shown());
    let begin = shown.iter().position(|line| line.starts_with("RESOURCE")).expect("a table");
    let end = shown.iter().position(|line| line == "END").expect("an end");
    shown[begin..end].to_vec()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn list_uses_the_width_of_the_terminal_and_no_more() {
    let masters = Masters::start(3);
    let _held = hold(&masters, 3).await;
    let whole = format!("tenant:00:{}", "order".repeat(8));
    for (columns, is_whole) in [(200, true), (80, false), (60, false), (40, false)] {
        let shown = listed(&masters, columns);
        assert!(widest(&shown) <= columns, "{columns}: {shown:#?}");
        assert_eq!(shown.iter().any(|line| line.contains(&whole)), is_whole, "{shown:#?}");
        assert!(shown[0].contains("EXPIRES IN"), "{columns}: {shown:#?}");
        assert_eq!(shown.last().unwrap(), "3 locks are held", "{columns}");
    }
}

/// Returns the last frame of `watch` that is complete.
fn frame(terminal: &Terminal) -> Option<Vec<String>> {
    let shown = terminal.shown();
    let (rest, _) = shown.rsplit_once("\x1b[J")?;
    Some(lines(rest.rsplit_once(HOME)?.1))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn watch_stays_on_the_screen_and_follows_its_size() {
    let masters = Masters::start(3);
    let _held = hold(&masters, 30).await;
    // The next look is long after the end of the test: what is drawn again is drawn for the new size.
    let script = format!(
        "stty cols 100 rows 12; {PROGRAM} watch -i 1h & read x; \
                          stty cols 50 rows 20; read x; kill $!"
    );
    let mut terminal = Terminal::start(&masters, &script);
    eventually_blocking("it draws", PATIENCE, || frame(&terminal).is_some());
    let drawn = frame(&terminal).unwrap();
    // The last row is that of the cursor.
    assert_eq!(drawn.len(), 11, "{drawn:#?}");
    assert!(widest(&drawn) <= 100, "{drawn:#?}");
    assert!(drawn[0].ends_with("Z  (Ctrl-C ends)") && drawn[2].starts_with("RESOURCE"));
    let rest = drawn.iter().find(|line| line.starts_with('…')).expect("how many more");
    let rows = drawn.iter().filter(|line| line.starts_with("tenant:")).count();
    assert_eq!(*rest, format!("… and {} more: name a prefix", 30 - rows));
    assert_eq!(drawn.last().unwrap(), "30 locks are held");

    terminal.type_in(b"\n");
    let is_resized = || frame(&terminal).is_some_and(|drawn| drawn.len() == 19);
    eventually_blocking("it is drawn again", PATIENCE, is_resized);
    let drawn = frame(&terminal).unwrap();
    assert!(widest(&drawn) <= 50, "{drawn:#?}");
    terminal.type_in(b"\n");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_quorum_to_scan_no_number_is_claimed() {
    let masters = Masters::start(3);
    let _held = hold(&masters, 1).await;
    let script = format!("stty cols 100 rows 20; {PROGRAM} watch -i 200ms");
    let terminal = Terminal::start(&masters, &script);
    let ends_with = |text: &str| {
        frame(&terminal).is_some_and(|drawn| drawn.iter().any(|line| line.starts_with(text)))
    };
    eventually_blocking("it is seen", PATIENCE, || ends_with("1 lock is held"));
    assert!(terminal.shown().contains("\x1b[32mheld\x1b[0m"), "{}", terminal.shown());
    (1..3).for_each(|node| masters.kill(node));
    let maybe = "1 lock is held, maybe more: too few masters can be scanned";
    eventually_blocking("it says so", PATIENCE, || ends_with(maybe));
    for (arguments, expected) in [
        (&["list", "free"][..], "not known under \"free\": too few masters can be scanned\n"),
        (&["list", "--json", "free"], ""),
    ] {
        let listed = cli::run(&mut cli::on(&masters, arguments));
        assert_eq!((listed.code, &*listed.stdout), (Some(112), expected), "{listed:?}");
    }
}

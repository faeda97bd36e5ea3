//! Spans and events of real masters, and what they never contain.

use crate::capture::{Capture, Entry};
use crate::support::masters::{Masters, builder};
use crate::support::poll::eventually;
use crate::support::server::Server;
use crate::support::witness;
use quorumlock::{RedlockBuilder, Released};
use redis::cmd;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(60);
const SECRET: &str = "correct-horse-battery-staple";

/// Configures long timeouts, so that no master is given up only because the machine is busy.
fn patient(builder: RedlockBuilder) -> RedlockBuilder {
    let ttl = Duration::from_secs(30);
    builder.ttl(ttl).operation_timeout(PATIENCE / 10).connect_timeout(PATIENCE / 10)
}

/// Returns the span of one acquire and its events.
fn of_the_acquire(capture: &Capture) -> (Entry, Vec<Entry>) {
    let entries = capture.entries();
    let span = entries.iter().find(|entry| entry.is("acquire")).expect("a span").clone();
    let within = |entry: &&Entry| entry.event.kind == "event" && entry.span == span.span;
    let events = entries.iter().filter(within).cloned().collect();
    (span, events)
}

#[tokio::test]
async fn an_acquire_with_a_master_down_has_a_span_and_every_answer() {
    let masters = Masters::start(5);
    masters.kill(4);
    let (capture, _capturing) = Capture::set();
    let redlock = patient(masters.builder()).connect().await.unwrap();
    let guard = redlock.acquire("orders:42").timeout(PATIENCE).await.unwrap();

    let (span, events) = of_the_acquire(&capture);
    assert_eq!(span.field("resource"), "orders:42");
    assert_eq!(span.field("outcome"), "acquired");
    assert!(span.field("attempts").parse::<u32>().unwrap() >= 1, "{span:?}");
    assert!(span.field("waited_ms").parse::<f64>().unwrap() > 0.0, "{span:?}");
    let attempts: Vec<_> = events.iter().filter(|event| event.is("attempt")).collect();
    let won = attempts.last().expect("an attempt");
    assert_eq!((won.field("verdict"), won.field("attempt")), ("won", span.field("attempts")));
    let votes = won.field("votes");
    assert!(votes.matches(" granted after ").count() >= 3, "{votes}");
    for master in masters.iter() {
        assert!(votes.contains(&master.addr().to_string()), "{votes}");
    }
    assert!(votes.contains(&format!("{} down (", masters[4].addr())), "{votes}");
    assert!(events.last().is_some_and(|last| last.is("acquired")), "{events:?}");

    let down = capture.named("down");
    assert!(down.len() == 1 && down[0].field("node") == masters[4].addr().to_string(), "{down:?}");
    assert_eq!(capture.named("up").len(), 4);
    assert_eq!(guard.release().await, Ok(Released::Confirmed));
    assert_eq!(capture.named("released")[0].field("outcome"), "released");
}

#[tokio::test]
async fn a_loss_is_a_warning_that_has_its_reason() {
    let masters = Masters::start(3);
    let (capture, _capturing) = Capture::set();
    let redlock = masters.builder().ttl(Duration::from_secs(2)).connect().await.unwrap();
    let guard = redlock.acquire("orders:42").timeout(PATIENCE).keep_alive().await.unwrap();
    masters.kill(0);
    masters.kill(1);
    guard.lost().await;
    eventually("it is reported", PATIENCE, async || !capture.named("lost").is_empty()).await;
    let lost = capture.named("lost").remove(0);
    assert_eq!((lost.event.level.as_str(), lost.field("reason")), ("WARN", "lapsed"));
    assert_eq!(lost.field("resource"), "orders:42");
    assert!(lost.field("held_ms").parse::<f64>().unwrap() > 0.0, "{lost:?}");
}

#[tokio::test]
async fn healthy_operation_is_quiet_at_info_once_all_masters_are_up() {
    let masters = Masters::start(3);
    let (capture, _capturing) = Capture::set();
    let redlock = patient(masters.builder()).connect().await.unwrap();
    for _ in 0..20 {
        let guard = redlock.acquire("r").timeout(PATIENCE).await.unwrap();
        guard.extend().await.unwrap();
        assert_eq!(guard.release().await, Ok(Released::Confirmed));
    }
    redlock.shutdown().await.unwrap();
    let loud: Vec<_> =
        capture.entries().into_iter().filter(|entry| entry.event.level != "DEBUG").collect();
    assert!(loud.len() == 3 && loud.iter().all(|entry| entry.is("up")), "{loud:?}");
}

fn text(capture: &Capture) -> String {
    format!("{:#?}", capture.entries())
}

#[tokio::test]
async fn no_event_has_a_password() {
    let masters = Masters::start_with(3, &["--requirepass", SECRET]);
    let (capture, _capturing) = Capture::set();
    let with = |password: &str| {
        let urls =
            masters.iter().map(|master| master.url().replace("//", &format!("//:{password}@")));
        patient(builder().nodes(urls.collect::<Vec<_>>()))
    };
    let redlock = with(SECRET).connect().await.unwrap();
    let guard = redlock.acquire("r").timeout(PATIENCE).await.unwrap();
    masters.kill(0);
    eventually("it is reported", PATIENCE, async || !capture.named("down").is_empty()).await;
    drop(guard);
    masters[0].restart();
    let up = async || capture.named("up").len() >= 4;
    eventually("it is up again", PATIENCE, up).await;
    assert!(with("wrong-password").connect().await.is_err());
    eventually("it is reported", PATIENCE, async || !capture.named("unfit").is_empty()).await;
    let text = text(&capture);
    assert!(!text.contains(SECRET) && !text.contains("wrong-password"), "{text}");
}

/// A server's error can repeat what was sent to it, including the token.
#[tokio::test]
async fn no_event_has_a_whole_token() {
    let (good, also_good) = (Server::start(), Server::start());
    let odd = Server::start_with(&["--rename-command", "SET", ""]);
    let (capture, _capturing) = Capture::set();
    let redlock = patient(builder().nodes([&good, &also_good, &odd].map(Server::url)));
    let redlock = redlock.connect().await.unwrap();
    // Repeated until the answer of the odd master arrives in time.
    let repeated = async || {
        let guard = redlock.acquire("r").timeout(PATIENCE).await.unwrap();
        let token: String = witness::ask(&good, cmd("GET").arg("r")).await.unwrap_or_default();
        drop(guard);
        assert!(token.is_empty() || !text(&capture).contains(&token), "{token}");
        text(&capture).contains("unknown command")
    };
    eventually("the error is reported", PATIENCE, repeated).await;
    let votes = text(&capture);
    assert!(votes.contains('…'), "{votes}");
    let digits = votes.split(|letter: char| !letter.is_ascii_hexdigit());
    assert!(digits.map(str::len).max() < Some(32), "{votes}");
}

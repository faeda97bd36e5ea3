//! Everything that can be reported, on embedded masters: the tables have all of it, and nothing
//! else.

use crate::capture::Capture;
use crate::exposed::Exposed;
use crate::page;
use crate::support::poll::eventually;
use crate::support::witness;
use futures::FutureExt;
use metrics_exporter_prometheus::{PrometheusHandle, PrometheusRecorder};
use quorumlock::embedded::{Masters, Memory};
use quorumlock::{
    Credentials, ExtendError, FencingWindow, Guard, Redlock, RedlockBuilder, Released,
};
use redis::cmd;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Bound on each wait; a wait takes a second or two.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

const TTL: Duration = Duration::from_secs(3);

/// A password, which nothing shows.
const SECRET: &str = "hunter2";

pub(crate) fn recorder() -> PrometheusRecorder {
    let builder = metrics_exporter_prometheus::PrometheusBuilder::new();
    builder.set_buckets(&[0.1, 1.0, 10.0]).unwrap().build_recorder()
}

pub(crate) fn exposed(handle: &PrometheusHandle) -> Exposed {
    handle.run_upkeep();
    Exposed::parse(&handle.render())
}

/// Configures short ttls, so that a master that has started votes soon, but long enough for a busy
/// machine.
pub(crate) fn client(masters: &Masters) -> RedlockBuilder {
    let window = Duration::from_millis(100);
    let builder = masters
        .builder()
        .ttl(TTL)
        .max_ttl(TTL)
        .fencing_window(FencingWindow { back: window, ahead: window });
    // No master is given up only because the machine is busy.
    builder.operation_timeout(PATIENCE / 10).connect_timeout(PATIENCE / 10)
}

async fn ask(masters: &Masters, node: usize, command: &str) {
    let client = redis::Client::open(masters[node].url()).unwrap();
    let mut connection = witness::connect(&client).await.unwrap();
    let mut words = command.split(' ');
    let mut command = cmd(words.next().unwrap());
    command.arg(words.collect::<Vec<_>>());
    command.query_async::<()>(&mut connection).await.unwrap();
}

/// Returns how often this was reported for a master.
fn times(capture: &Capture, report: &str, master: &str) -> usize {
    capture.named(report).iter().filter(|entry| entry.field("node") == master).count()
}

/// Kills a master, and waits until both coordinators have reported it.
async fn kill(masters: &Masters, node: usize, capture: &Capture) {
    let name = name(masters, node);
    let before = times(capture, "down", &name);
    masters[node].kill();
    let reported = async || times(capture, "down", &name) >= before + 2;
    eventually("the loss is reported", PATIENCE, reported).await;
}

/// Restarts a killed master with its memory, and waits until it votes.
async fn revive(masters: &Masters, node: usize, capture: &Capture) {
    let name = name(masters, node);
    let before = times(capture, "up", &name);
    masters[node].restart(Memory::Kept).unwrap();
    let votes = async || times(capture, "up", &name) >= before + 2;
    eventually("it votes again", PATIENCE, votes).await;
}

async fn held(redlock: &Redlock, resource: &str) -> Guard {
    // Attempts on a busy machine may take longer than their ttl: repeated until one is won.
    redlock.acquire(resource).timeout(PATIENCE).keep_alive().await.unwrap()
}

/// Connects with credentials that expire, of a provider that fails while it is to.
pub(crate) async fn with_provider(masters: &Masters) -> (Redlock, Arc<AtomicBool>) {
    let fails = Arc::new(AtomicBool::new(false));
    let state = fails.clone();
    let provider = move |_| {
        let credentials = Credentials::password(SECRET).expires_in(Duration::from_millis(100));
        let fails = state.load(Ordering::SeqCst);
        std::future::ready(if fails { Err("the vault is sealed") } else { Ok(credentials) })
    };
    (client(masters).credentials(provider).connect().await.unwrap(), fails)
}

async fn renew(masters: &Masters, capture: &Capture) {
    let (redlock, fails) = with_provider(masters).await;
    for (now, name) in [(true, "credentials not renewed"), (false, "credentials renewed")] {
        fails.store(now, Ordering::SeqCst);
        eventually(name, PATIENCE, async || !capture.named(name).is_empty()).await;
    }
    redlock.shutdown().await.unwrap();
}

async fn play(masters: &Masters, capture: &Capture) {
    renew(masters, capture).await;
    let redlock = client(masters).connect().await.unwrap();
    let other = client(masters).connect().await.unwrap();

    // Acquires, one for each way in which they end. Those that may fail on a busy machine are
    // repeated.
    let contended = async || {
        let _guard = held(&redlock, "r").await;
        other.try_acquire("r").await.is_err_and(|error| error.is_contended())
    };
    eventually("contention", PATIENCE, contended).await;
    // A holder that is asked to give way.
    let wanted = async || {
        let guard = held(&redlock, "wanted").await;
        assert!(!guard.is_wanted());
        let waited = other.acquire("wanted").timeout(TTL / 6).await;
        waited.is_err() && guard.is_wanted()
    };
    eventually("a holder that is asked", PATIENCE, wanted).await;
    // A wait for another client, in turn, until its place and the time that is left are known.
    let waiting = async || {
        let _guard = held(&redlock, "waited for").await;
        let waited = other.acquire("waited for").fair(true).timeout(TTL / 6).await;
        let waiting = capture.named("waiting");
        let is_known = |field| waiting.iter().any(|entry| !entry.field(field).is_empty());
        waited.is_err() && is_known("left_ms") && is_known("ahead")
    };
    eventually("a wait", PATIENCE, waiting).await;
    // A keep-alive that reaches its end.
    while capture.named("cannot be extended").is_empty() {
        let acquire = redlock.acquire("kept").timeout(PATIENCE).keep_alive_for(TTL + TTL / 10);
        acquire.await.unwrap().lost().await;
    }
    assert!(redlock.acquire("").await.is_err(), "invalid");
    let mut given_up = other.acquire("r").timeout(PATIENCE).into_future();
    assert!((&mut given_up).now_or_never().is_none());
    drop(given_up);
    // The keep-alive tops up a master that has no key.
    while capture.named("topped up").is_empty() {
        let guard = held(&redlock, "r").await;
        ask(masters, 0, "DEL r").await;
        let topped_up = async || !capture.named("topped up").is_empty();
        tokio::select! {
            () = eventually("a top-up", PATIENCE, topped_up) => {}
            _ = guard.lost() => {}
        }
    }
    let released = async || held(&redlock, "r").await.release().await == Ok(Released::Confirmed);
    eventually("a release", PATIENCE, released).await;
    drop(held(&redlock, "r").await);
    // Each from the masters: a hold that is idle needs no attempt.
    let mut names = (0..).map(|number| format!("warm {number}"));
    let warm = async || {
        let acquire =
            redlock.acquire(names.next().unwrap()).lock_delay(Duration::ZERO).keep_warm(TTL);
        acquire.timeout(PATIENCE).await.unwrap().release().await.unwrap();
        capture.named("released").iter().any(|event| event.field("outcome") == "idle")
    };
    eventually("a lock that is idle", PATIENCE, warm).await;
    let idle_released = async || !capture.named("idle released").is_empty();
    eventually("it is released after its time", PATIENCE, idle_released).await;
    held(&redlock, "forgotten").await.forget();
    hand_over(masters, &redlock, &other).await;

    // A debt to a master that is down, which is then paid.
    let guard = held(&redlock, "owed").await;
    kill(masters, 0, capture).await;
    guard.release().await.unwrap();
    eventually("a debt", PATIENCE, async || !capture.named("owes deletions").is_empty()).await;
    revive(masters, 0, capture).await;
    eventually("no debt", PATIENCE, async || !capture.named("owes nothing").is_empty()).await;

    // No quorum: not extended, lost, not acquired, released without an answer. On a busy machine,
    // the guard may have expired before its release: repeated.
    let mut unconfirmed = false;
    while !unconfirmed {
        let (lapsing, released) = (held(&redlock, "lapsing").await, held(&redlock, "u").await);
        kill(masters, 0, capture).await;
        kill(masters, 1, capture).await;
        unconfirmed = matches!(released.release().await, Ok(Released::Unconfirmed(_)));
        let extended = lapsing.extend().await;
        assert!(matches!(extended, Err(ExtendError::Unextended(_) | ExtendError::Lost(_))));
        lapsing.lost().await;
        lapsing.release().await.unwrap_err();
        assert!(redlock.try_acquire("r").await.unwrap_err().is_no_quorum());
        revive(masters, 0, capture).await;
        revive(masters, 1, capture).await;
    }
    assert!(!capture.named("no quorum").is_empty() && !capture.named("quorum").is_empty());

    // A quorum that has forgotten.
    let guard = held(&redlock, "forgotten").await;
    for node in 0..3 {
        ask(masters, node, "DEL forgotten").await;
    }
    guard.lost().await;
    drop(guard);

    // One that has lost its memory, and one that evicts.
    kill(masters, 0, capture).await;
    masters[0].restart(Memory::Lost).unwrap();
    eventually("warming up", PATIENCE, async || !capture.named("warming up").is_empty()).await;
    ask(masters, 1, "CONFIG SET maxmemory 100mb").await;
    ask(masters, 1, "CONFIG SET maxmemory-policy allkeys-lru").await;
    kill(masters, 1, capture).await;
    masters[1].restart(Memory::Kept).unwrap();
    eventually("unfit", PATIENCE, async || !capture.named("unfit").is_empty()).await;

    // The end.
    let guard = held(&redlock, "to the end").await;
    redlock.shutdown().await.ok();
    guard.lost().await;
    assert!(redlock.acquire("r").await.is_err(), "closed");
    other.shutdown().await.ok();
}

/// A lock goes to another client. The next one comes too late.
async fn hand_over(masters: &Masters, redlock: &Redlock, other: &Redlock) {
    let adopted = async || match held(redlock, "given").await.detach().await {
        Ok(detached) => other.adopt(detached).await.is_ok(),
        Err(_) => false,
    };
    eventually("an adoption", PATIENCE, adopted).await;
    let lost = async || {
        let Ok(detached) = held(redlock, "late").await.detach().await else { return false };
        for node in 0..3 {
            ask(masters, node, "DEL late").await;
        }
        other.adopt(detached).await.is_err()
    };
    eventually("an adoption that comes too late", PATIENCE, lost).await;
}

pub(crate) fn name(masters: &Masters, node: usize) -> String {
    masters[node].url().replace("redis://", "")
}

#[tokio::test]
async fn all_that_is_reported_is_on_the_page_and_all_on_the_page_is_reported() {
    let recorder = recorder();
    let handle = recorder.handle();
    let _recording = metrics::set_default_local_recorder(&recorder);
    let (capture, _capturing) = Capture::set();
    let masters = Masters::start(3).unwrap();
    play(&masters, &capture).await;

    let page = page::events();
    let entries = capture.entries();
    assert!(!format!("{entries:?}").contains(SECRET), "a secret is shown");
    for entry in &entries {
        let fields = page.get(&entry.event).unwrap_or_else(|| panic!("not on the page: {entry:?}"));
        let unknown: Vec<_> =
            entry.fields.keys().filter(|field| !fields.contains(*field)).collect();
        assert!(unknown.is_empty(), "{:?} has no fields {unknown:?}", entry.event);
    }
    for (event, fields) in &page {
        let alike: Vec<_> = entries.iter().filter(|entry| entry.event == *event).collect();
        assert!(!alike.is_empty(), "never reported: {event:?}");
        let seen: BTreeSet<String> =
            alike.iter().flat_map(|entry| entry.fields.keys().cloned()).collect();
        assert_eq!(&seen, fields, "the fields of {event:?}");
    }

    let (page, exposed) = (page::metrics(), exposed(&handle));
    for sample in &exposed.samples {
        let metric = exposed.metric_of(sample);
        assert!(page.contains_key(&metric), "not on the page: {sample:?}");
        let sane = sample.value >= 0.0 && sample.value.is_finite();
        assert!(sane, "{sample:?}");
    }
    for (name, metric) in &page {
        assert_eq!(exposed.types.get(name), Some(&metric.kind), "{name}");
        let labels = exposed.labels_of(name);
        assert_eq!(labels.keys().collect::<Vec<_>>(), metric.labels.keys().collect::<Vec<_>>());
        for (label, values) in metric.labels.iter().filter(|(_, values)| !values.is_empty()) {
            let seen = labels.get(label).unwrap();
            let unknown: Vec<_> = seen.difference(values).collect();
            assert!(unknown.is_empty(), "{name} has {label}={unknown:?}");
            // A histogram shows only labels that have been measured.
            assert!(metric.kind == "histogram" || seen == values, "{name}: {label} is {seen:?}");
        }
    }

    // Events are counted, and a coordinator that has ended is in no gauge.
    let count = |name: &str, label: &str, value: &str| exposed.sum(name, &[(label, value)]);
    for outcome in ["acquired", "contended", "no_quorum", "invalid", "closed", "cancelled"] {
        assert!(count("quorumlock_acquires_total", "outcome", outcome) >= 1.0, "{outcome}");
        let waits = count("quorumlock_acquire_wait_seconds_count", "outcome", outcome);
        assert!(waits >= 1.0, "{outcome}");
    }
    for reason in ["lapsed", "closed"] {
        assert!(count("quorumlock_lost_locks_total", "reason", reason) >= 1.0, "{reason}");
    }
    for gauge in [
        "quorumlock_node_standing",
        "quorumlock_quorum",
        "quorumlock_owed_rollbacks",
        "quorumlock_credentials_not_renewed",
    ] {
        assert!(exposed.sum(gauge, &[]).abs() < 1e-6, "{gauge}");
    }
    let won = exposed.sum("quorumlock_acquires_total", &[("outcome", "acquired")]);
    let measured = exposed.sum("quorumlock_acquire_duration_seconds_count", &[]);
    assert!(measured >= won, "{won} were acquired, {measured} attempts were won");
}

/// Counts are the same whether a loss is noticed by a timer, an extension, or the guard itself.
#[tokio::test]
async fn a_lock_dropped_after_its_deadline_is_counted_as_lost_once() {
    let recorder = recorder();
    let handle = recorder.handle();
    let _recording = metrics::set_default_local_recorder(&recorder);
    let masters = Masters::start_in_memory(1).unwrap();
    let redlock = client(&masters).connect().await.unwrap();
    let guard = redlock.acquire("r").timeout(PATIENCE).await.unwrap();
    // This thread is also the driver's: it can't see the deadline pass.
    std::thread::sleep(guard.remaining() + Duration::from_millis(5));
    assert!(guard.check().is_err());
    drop(guard);
    redlock.shutdown().await.unwrap();
    let exposed = exposed(&handle);
    assert!((exposed.sum("quorumlock_lost_locks_total", &[]) - 1.0).abs() < 1e-6);
    assert!(
        (exposed.sum("quorumlock_releases_total", &[("outcome", "dropped")]) - 1.0).abs() < 1e-6
    );
    assert!((exposed.sum("quorumlock_hold_duration_seconds_count", &[]) - 1.0).abs() < 1e-6);
}

/// Two coordinators of one process, and both see all masters.
#[tokio::test]
async fn coordinators_of_a_process_add_up() {
    let recorder = recorder();
    let handle = recorder.handle();
    let _recording = metrics::set_default_local_recorder(&recorder);
    let masters = Masters::start_in_memory(3).unwrap();
    let redlock = client(&masters).connect().await.unwrap();
    let other = client(&masters).connect().await.unwrap();
    let voting = || exposed(&handle).sum("quorumlock_node_standing", &[("standing", "voting")]);
    let spare = || exposed(&handle).sum("quorumlock_quorum", &[("state", "spare")]);
    let are = |number: f64, expected: f64| (number - expected).abs() < 1e-6;
    eventually("both vote", PATIENCE, async || are(voting(), 6.0) && are(spare(), 2.0)).await;
    redlock.shutdown().await.unwrap();
    eventually("one is left", PATIENCE, async || are(voting(), 3.0) && are(spare(), 1.0)).await;
    other.shutdown().await.unwrap();
}

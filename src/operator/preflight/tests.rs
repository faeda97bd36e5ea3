//! The meaning of answers, without a server.

mod agreement;
mod distance;
mod permissions;
mod replay;
mod servers;
mod speed;
mod standing;

use super::judge::{compare, judge};
use super::question::{Heard, Question, TimeSample};
use super::*;
use quorumlock_core::coordinator::wire::Reply;
use quorumlock_core::coordinator::{RestartGuard, ServerFacts, SharedSettings};
use quorumlock_core::quorum::{FencingWindow, Instant, Membership};
use std::sync::Arc;
use std::time::Duration;

const CLOCKS: Duration = Duration::from_secs(4);
const NOW: Instant = Instant::from_nanos(1);
const STAYS_AWAY: Duration = Duration::from_secs(30);

/// Returns the options with which a master that has restarted stays away for that long.
fn options(restart_guard: RestartGuard) -> Options {
    let max_ttl = Duration::from_nanos(29_700_990_099); // without the drift
    let options = Options { restart_guard, max_ttl, ..Options::default() };
    assert_eq!((options.quarantine(), options.fencing_window.width()), (STAYS_AWAY, CLOCKS));
    options
}

fn shared() -> SharedSettings {
    SharedSettings {
        key: "agreement".into(),
        max_ttl: Duration::from_secs(20),
        window: FencingWindow::DEFAULT,
        masters: Vec::new(),
        lists: vec![vec!["b".into(), "a".into()], vec!["c".into()]],
        life: STAYS_AWAY,
        brief: STAYS_AWAY,
    }
}

fn judged_with(heard: &Heard, restart_guard: RestartGuard) -> NodePreflight {
    judge("n1".into(), heard, &options(restart_guard), &shared())
}

fn text(words: &str) -> Reply {
    Reply::Text(words.as_bytes().into())
}

fn map(fields: &[(&str, &str)]) -> Reply {
    Reply::Map(fields.iter().map(|(name, value)| (text(name), text(value))).collect())
}

/// Returns an error as it comes from the wire: `-CODE words`.
fn error(line: &str) -> Reply {
    Reply::Error(line.into())
}

fn heard<const N: usize>(answers: [(Question, Reply); N]) -> Heard {
    let hello = Some(map(&[("version", "7.0.15"), ("role", "master")]));
    Heard { hello, answers: answers.into(), ..Heard::default() }
}

fn judged(heard: &Heard) -> NodePreflight {
    judged_with(heard, RestartGuard::On)
}

/// Returns a preflight of one list.
fn of(nodes: Vec<NodePreflight>, findings: Vec<Finding>) -> Preflight {
    let membership = Membership::of(nodes.len().max(1)).unwrap();
    Preflight { nodes, findings, membership }
}

/// Returns a master that has said nothing.
fn unasked(name: &str) -> NodePreflight {
    NodePreflight::new(name.into(), &ServerFacts::default())
}

fn kinds(node: &NodePreflight) -> Vec<FindingKind> {
    node.findings.iter().map(|finding| finding.kind.clone()).collect()
}

/// Returns the findings from these answers, except that nothing was reported about eviction.
fn found<const N: usize>(answers: [(Question, Reply); N]) -> Vec<FindingKind> {
    let mut kinds = kinds(&judged(&heard(answers)));
    kinds.retain(|kind| *kind != FindingKind::EvictionUntold);
    kinds
}

#[test]
fn versions_before_6_2_are_too_old() {
    for (version, too_old) in [
        ("2.8.24", true),
        ("6.0.16", true),
        ("6.2.0", false),
        ("7.0.15", false),
        ("10.0.0", false),
        ("unstable", false),
    ] {
        let info = text(&format!("# Server\r\nredis_version:{version}\r\n"));
        let expected = too_old.then(|| FindingKind::TooOld(version.into()));
        assert_eq!(found([(Question::InfoServer, info)]), Vec::from_iter(expected), "{version}");
    }
}

#[test]
fn what_info_may_not_tell_comes_from_hello_and_config() {
    let denied = || error("NOPERM this user has no permissions to run the 'info' command");
    let node = judged(&heard([
        (Question::InfoServer, denied()),
        (Question::InfoReplication, denied()),
        (Question::InfoMemory, denied()),
        (Question::ConfigMemory, map(&[("maxmemory", "7"), ("maxmemory-policy", "allkeys-lfu")])),
    ]));
    assert_eq!((node.version.as_deref(), node.role), (Some("7.0.15"), Some(Role::Master)));
    let error = "NOPERM this user has no permissions to run the 'info' command".into();
    assert_eq!(
        kinds(&node),
        [
            FindingKind::Evicts { maxmemory: 7, policy: "allkeys-lfu".into() },
            FindingKind::Withheld { permission: Permission::Info, error },
        ]
    );
    let mut replica = heard([]);
    replica.hello = Some(map(&[("role", "replica")]));
    assert_eq!(kinds(&judged(&replica))[0], FindingKind::Replica(None));
}

#[test]
fn a_master_has_just_started_until_the_end_of_its_quarantine() {
    for (uptime, votes_in) in [(0, 30), (1, 30), (2, 29), (30, 1), (31, 0), (99, 0)] {
        let info = text(&format!("uptime_in_seconds:{uptime}\r\n"));
        let (uptime, votes_in) = (Duration::from_secs(uptime), Duration::from_secs(votes_in));
        let started = (!votes_in.is_zero())
            .then_some(FindingKind::JustStarted { uptime, votes_in: Some(votes_in) });
        assert_eq!(found([(Question::InfoServer, info)]), Vec::from_iter(started));
    }
}

#[test]
fn a_hidden_eviction_policy_is_found_unless_a_master_is_silent() {
    let mut silent = heard([]);
    assert_eq!(kinds(&judged(&silent)), [FindingKind::EvictionUntold]);
    silent.ended = Some(FindingKind::Silent("no answer".into()));
    assert_eq!(kinds(&judged(&silent)), [FindingKind::Silent("no answer".into())]);
}

#[test]
fn what_is_persisted_is_read_from_config_or_else_from_info() {
    let rewriting = |on, how, pauses| {
        let rewrite = ("no-appendfsync-on-rewrite", pauses);
        map(&[("appendonly", on), ("appendfsync", how), rewrite])
    };
    let config = |on, how| rewriting(on, how, "no");
    let info = |on| text(&format!("aof_enabled:{on}\r\n"));
    for (configured, informed, expected) in [
        (config("yes", "always"), info(1), Some(Persistence::EveryWrite)),
        (config("yes", "no"), info(1), Some(Persistence::Later(Some("no".into())))),
        (config("no", "always"), info(0), Some(Persistence::Nothing)),
        (rewriting("yes", "always", "yes"), info(1), Some(Persistence::NotInRewrites)),
        (
            rewriting("yes", "everysec", "yes"),
            info(1),
            Some(Persistence::Later(Some("everysec".into()))),
        ),
        (Reply::Nil, info(1), Some(Persistence::Later(None))),
        (Reply::Nil, info(0), Some(Persistence::Nothing)),
        (Reply::Nil, Reply::Nil, None),
    ] {
        let answers = [(Question::ConfigAppend, configured), (Question::InfoPersistence, informed)];
        assert_eq!(judged(&heard(answers)).persistence, expected);
    }
}

/// Returns the answer to `TIME` of a clock that shows these microseconds since 1970.
fn shows(micros: i64) -> Reply {
    let parts = [micros / 1_000_000, micros % 1_000_000].map(|part| text(&part.to_string()));
    Reply::Array(parts.into())
}

/// Returns a master that answers in 10 ms with its clock this far ahead of ours, in microseconds.
fn with_clock(ahead: i64) -> NodePreflight {
    let asked_at = Duration::from_secs(1_000);
    let round_trip = Duration::from_millis(10);
    let reply = shows(1_000_005_000 + ahead);
    let mut heard = heard([]);
    heard.times.push(TimeSample { asked: NOW, asked_at, round_trip, reply });
    judged(&heard)
}

#[test]
fn clocks_are_compared_at_the_middle_of_the_round_trip() {
    for (ahead, off) in [
        (0, false),
        (-1, false),
        (2_000_000, false),
        (2_000_001, true),
        (-2_000_000, false),
        (-2_000_001, true),
    ] {
        let node = with_clock(ahead);
        assert_eq!(node.clock.map(ClockOffset::as_micros), Some(ahead));
        let reported = kinds(&node).iter().any(|kind| matches!(kind, FindingKind::ClockOff(_)));
        assert_eq!(reported, off, "{ahead}");
    }
    let [ahead, behind] = [3_000_000, -3_000_000].map(ClockOffset);
    assert_eq!(FindingKind::ClockOff(ahead).to_string(), "its clock is 3 s ahead of this host's");
    assert_eq!(FindingKind::ClockOff(behind).to_string(), "its clock is 3 s behind this host's");
    assert_eq!((ahead.to_string(), behind.to_string()), ("3 s ahead".into(), "3 s behind".into()));
}

#[test]
fn the_quickest_answer_tells_the_time() {
    let mut heard = heard([]);
    for round_trip in [30, 10, 20].map(Duration::from_millis) {
        let asked_at = Duration::ZERO;
        heard.times.push(TimeSample { asked: NOW, asked_at, round_trip, reply: Reply::Nil });
    }
    let node = judged(&heard);
    assert_eq!((node.round_trip, node.clock), (Some(Duration::from_millis(10)), None));
}

#[test]
fn clocks_farthest_apart_are_named_if_they_exceed_the_bound() {
    let named = |name: &str, ahead| NodePreflight { node: name.into(), ..with_clock(ahead) };
    let spread = |least, most| {
        let mut nodes = [named("b", 0), named("a", least), named("c", most), unasked("d")];
        compare(&mut nodes, &options(RestartGuard::On))
    };
    assert_eq!(spread(-1_500_000, 2_500_000), []);
    let apart = FindingKind::ClocksApart {
        behind: "a".into(),
        ahead: "c".into(),
        by: Duration::from_micros(4_000_001),
        bound: CLOCKS,
    };
    let findings = spread(-1_500_000, 2_500_001);
    assert_eq!(findings, [Finding::from(apart)]);
    let report = of(Vec::new(), findings);
    assert!(!report.is_ok());
    assert_eq!(
        report.to_string(),
        "not ok: clocks are 4 s apart (0 of 0 masters are fit, which is no quorum)\nfailure: the clock of c is 4 s ahead of that of a, over 4 s: \
         keep their clocks synchronised (NTP)"
    );
    assert_eq!(compare(&mut [], &options(RestartGuard::On)), []);
}

#[test]
fn twins_are_reported_at_each_of_them_and_unknown_servers_are_none() {
    let named = |name: &str, run_id: Option<&str>| NodePreflight {
        run_id: run_id.map(Arc::from),
        ..unasked(name)
    };
    let mut nodes = [
        named("a", Some("1")),
        named("b", None),
        named("c", Some("1")),
        named("d", Some("2")),
        named("e", None),
        named("f", Some("1")),
    ];
    assert_eq!(compare(&mut nodes, &options(RestartGuard::On)), []);
    let twin = |of: &str| vec![FindingKind::SameServer(of.into())];
    let found: Vec<_> = nodes.iter().map(kinds).collect();
    assert_eq!(found, [twin("c"), vec![], twin("a"), vec![], vec![], twin("a")]);
}

#[test]
fn a_failure_of_the_whole_master_is_found_once_at_its_worst() {
    let loading = || error("LOADING Redis is loading the dataset in memory");
    let kinds = found([
        (Question::InfoMemory, loading()),
        (Question::Kill, loading()),
        (Question::LoadExtend, loading()),
        (Question::Set, loading()),
        (Question::Pttl, loading()),
    ]);
    let words = "LOADING Redis is loading the dataset in memory";
    assert_eq!(kinds, [FindingKind::Fails { permission: Permission::Set, error: words.into() }]);
    assert_eq!(Finding::from(kinds[0].clone()).severity, Severity::Failure);
}

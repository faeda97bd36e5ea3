//! Findings of `preflight()` at real masters: fit ones, unfit ones and silent ones. It leaves
//! nothing behind on any of them.
//! On a real clock: they say of themselves what only a server knows.

use crate::support::normalised::{without_ports, without_times};
use crate::support::prelude::*;
use quorumlock::preflight::Severity::{self, Failure, Note, Warning};
use quorumlock::preflight::{
    Finding, FindingKind, NodePreflight, Permission, Persistence, Preflight, Role,
};
use quorumlock::{
    FencingWindow, PreflightError, Redlock, RedlockBuilder, RestartGuard, WrongContext,
};
use redis::cmd;
use std::collections::BTreeMap;
use std::io;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};

const PATIENCE: Duration = Duration::from_secs(10);

fn over<T: AsRef<str>>(urls: impl IntoIterator<Item = T>) -> RedlockBuilder {
    Redlock::builder().nodes(urls.into_iter().map(|url| url.as_ref().to_owned()))
}

async fn preflight<T: AsRef<str>>(urls: impl IntoIterator<Item = T>) -> Preflight {
    over(urls).preflight().await.unwrap()
}

async fn of_one(server: &Server) -> NodePreflight {
    preflight([server.url()]).await.nodes()[0].clone()
}

/// Returns the findings of at least this severity.
fn kinds(node: &NodePreflight, least: Severity) -> Vec<FindingKind> {
    let worse = node.findings.iter().filter(|finding| finding.severity >= least);
    worse.map(|finding| finding.kind.clone()).collect()
}

/// Returns name and version as the server's program reports them.
fn of_its_program(server: &Server) -> String {
    let version = server.version().replace(" server v=", " ");
    version.split(' ').take(2).collect::<Vec<_>>().join(" ")
}

fn name_and_version(node: &NodePreflight) -> String {
    format!("{} {}", node.server.as_deref().unwrap(), node.version.as_deref().unwrap())
}

#[tokio::test]
async fn five_good_masters_are_fit_and_tell_what_they_are() {
    let masters = Masters::start(5);
    let report = preflight(masters.urls()).await;
    assert!(report.is_ok(), "{report}");
    // They have only just started.
    assert!(!report.can_acquire() && report.can_acquire_in().is_some(), "{report}");
    assert_eq!((report.nodes().len(), report.findings()), (5, &[][..]));
    for (node, server) in report.into_iter().zip(&*masters) {
        assert_eq!(kinds(node, Warning), [], "{node}");
        let info = witness::info(server, "server").await;
        assert_eq!(*node.node, server.addr().to_string());
        assert_eq!(name_and_version(node), of_its_program(server));
        assert_eq!(node.run_id.as_deref(), Some(&*info["run_id"]));
        assert_eq!((node.role, node.replicas), (Some(Role::Master), Some(0)));
        assert_eq!(node.persistence, Some(Persistence::Nothing));
        assert!(node.uptime.unwrap() < PATIENCE * 6, "{node}");
        assert!(node.round_trip.unwrap() > Duration::ZERO, "{node}");
        assert!(node.clock.unwrap().distance() < Duration::from_millis(500), "{node}");
    }
    witness::assert_no_keys_now(&masters).await;
}

#[tokio::test]
async fn a_connected_handle_asks_the_same_over_connections_of_its_own() {
    let masters = Masters::start(3);
    let builder = over(masters.urls()).key_prefix("app:").restart_guard(RestartGuard::Off);
    let redlock = builder.connect().await.unwrap();
    let guard = redlock.acquire("r").await.unwrap();
    let report = redlock.preflight().await.unwrap();
    assert!(report.is_ok(), "{report}");
    guard.check().unwrap();
    for server in &*masters {
        let keys = witness::keys(server).await.unwrap();
        assert!(keys.iter().all(|key| !key.contains("preflight")), "{keys:?}");
        let gone = async || witness::client_count(server).await == 1;
        eventually("only the lock's connection is left", PATIENCE, gone).await;
    }
    guard.release().await.unwrap();
    redlock.shutdown().await.unwrap();
    masters.kill(2);
    let report = redlock.preflight().await.unwrap();
    assert!(
        matches!(kinds(&report.nodes()[2], Failure)[..], [FindingKind::Unreachable(_)]),
        "{report}"
    );
}

#[tokio::test]
async fn a_replica_and_its_master_are_found() {
    let master = Server::start_for_a_replica();
    let replica = Server::start_with(&["--replicaof", "127.0.0.1", &master.port().to_string()]);
    let synced = async || {
        let info = witness::info(&replica, "replication").await;
        info["master_link_status"] == "up" && info["master_sync_in_progress"] == "0"
    };
    eventually("the replica is in sync", PATIENCE, synced).await;
    let attached = async || witness::info(&master, "replication").await["connected_slaves"] == "1";
    eventually("the master knows its replica", PATIENCE, attached).await;

    let report = preflight([master.url(), replica.url()]).await;
    let [of_master, of_replica] = report.nodes() else { panic!("{report}") };
    assert_eq!(kinds(of_master, Warning), [FindingKind::HasReplicas(1)]);
    assert!(of_master.is_ok());
    let name = master.addr().to_string().into();
    assert_eq!(kinds(of_replica, Warning), [FindingKind::Replica(Some(name))]);
    assert_eq!(of_replica.role, Some(Role::Replica));
    assert!(!report.is_ok());

    witness::ask::<()>(&replica, cmd("REPLICAOF").arg("NO").arg("ONE")).await.unwrap();
    let promoted = of_one(&replica).await;
    assert_eq!(promoted.role, Some(Role::Master));
    assert_eq!(kinds(&promoted, Warning), [FindingKind::Promoted]);
}

#[tokio::test]
async fn a_master_that_accepts_few_more_clients_is_found_before_it_is_full() {
    let server = Server::start_with(&["--maxclients", "10"]);
    let found = async || kinds(&of_one(&server).await, Warning);
    assert_eq!(found().await, []);
    let mut others = Vec::new();
    for _ in 0..8 {
        others.push(tokio::net::TcpStream::connect(server.addr()).await.unwrap());
    }
    // The connections that have just ended count until the server has seen it.
    let full = [FindingKind::NearlyFull { clients: 9, most: 10 }];
    eventually("it is nearly full", PATIENCE, async || found().await == full).await;
    drop(others);
    eventually("it has room again", PATIENCE, async || found().await.is_empty()).await;
}

#[tokio::test]
async fn one_server_under_two_names_is_a_failure_of_both() {
    let masters = Masters::start(2);
    let (url, other) = (masters[0].url(), masters[1].url());
    let report = preflight([url.clone(), other, url.replace("127.0.0.1", "localhost")]).await;
    let names: Vec<_> = report.into_iter().map(|node| node.node.clone()).collect();
    let found: Vec<_> = report.into_iter().map(|node| kinds(node, Warning)).collect();
    let same_as = |node: usize| vec![FindingKind::SameServer(names[node].clone())];
    assert_eq!(found, [same_as(2), vec![], same_as(0)]);
}

#[tokio::test]
async fn a_master_that_evicts_is_a_failure_and_one_that_is_full_too() {
    for (arguments, expected) in [
        (["100mb", "allkeys-lru"], Some("allkeys-lru")),
        (["100mb", "volatile-ttl"], Some("volatile-ttl")),
        (["100mb", "noeviction"], None),
        (["0", "allkeys-lru"], None),
    ] {
        let [limit, policy] = arguments;
        let server = Server::start_with(&["--maxmemory", limit, "--maxmemory-policy", policy]);
        let evicts =
            |policy: &str| FindingKind::Evicts { maxmemory: 100 << 20, policy: policy.into() };
        let expected: Vec<_> = expected.map(evicts).into_iter().collect();
        assert_eq!(kinds(&of_one(&server).await, Warning), expected, "{arguments:?}");
    }
    let full = Server::start_with(&["--maxmemory", "1", "--maxmemory-policy", "noeviction"]);
    let found = kinds(&of_one(&full).await, Warning);
    let [FindingKind::Fails { permission: Permission::Set, error }] = &found[..] else {
        panic!("{found:?}")
    };
    assert!(error.starts_with("OOM "), "{error}");
}

#[tokio::test]
async fn what_a_master_keeps_over_a_restart_is_reported() {
    let everysec = || Persistence::Later(Some("everysec".into()));
    for (arguments, expected) in [
        (&["--appendonly", "yes", "--appendfsync", "always"][..], Persistence::EveryWrite),
        (&["--appendonly", "yes", "--appendfsync", "everysec"], everysec()),
        (&["--save", "60", "1"], Persistence::Nothing),
    ] {
        let node = of_one(&Server::start_with(arguments)).await;
        assert_eq!(node.persistence, Some(expected.clone()));
        let stays_away = Duration::from_millis(30_302);
        let forgets =
            FindingKind::Forgets { persistence: expected.clone(), stays_away: Some(stays_away) };
        let found = kinds(&node, Note).contains(&forgets);
        assert_eq!(found, expected != Persistence::EveryWrite, "{node}");
        assert!(node.is_ok(), "{node}");
    }
}

#[tokio::test]
async fn a_master_that_is_down_keeps_no_other_from_being_asked() {
    let masters = Masters::start(3);
    masters.kill(1);
    let report = preflight(masters.urls()).await;
    let refused = FindingKind::Unreachable("Connection refused (os error 111)".into());
    let found: Vec<_> = report.into_iter().map(|node| kinds(node, Warning)).collect();
    assert_eq!(found, [vec![], vec![refused], vec![]]);
    assert!(!report.is_ok());
}

#[tokio::test]
async fn a_client_that_is_not_let_in_learns_why_and_no_secret_is_shown() {
    let locked = Server::start_with(&["--requirepass", "opensesame"]);
    let open = Server::start();
    let name = locked.url();
    let with = |login: &str| name.replace("//", &format!("//{login}@"));
    for (url, code) in [
        (name.clone(), "NOAUTH "),
        (with(":hunter2"), "WRONGPASS "),
        (with("nobody:hunter2"), "WRONGPASS "),
        (format!("{}/99", open.url()), "ERR DB index is out of range"),
    ] {
        let report = preflight([&url]).await;
        let found = kinds(&report.nodes()[0], Note);
        let [FindingKind::Rejected(cause)] = &found[..] else { panic!("{found:?}") };
        assert!(cause.starts_with(code), "{url}: {cause}");
        assert!(!format!("{report} {report:?}").contains("hunter2"));
    }
    let report = preflight([with(":opensesame")]).await;
    assert!(report.is_ok(), "{report}");
    assert!(!format!("{report} {report:?}").contains("opensesame"));
}

/// Makes a server in memory that answers `reply` to the first request, and nothing more.
async fn answers_once(reply: &'static str) -> io::Result<DuplexStream> {
    let (ours, mut theirs) = duplex(1 << 16);
    tokio::spawn(async move {
        let _greeted = theirs.read(&mut [0; 1024]).await;
        let _answered = theirs.write_all(reply.as_bytes()).await;
        let _until_it_goes = theirs.read_to_end(&mut Vec::new()).await;
    });
    Ok(ours)
}

#[tokio::test]
async fn an_unsupported_server_is_reported_without_the_password() {
    const OLD: &str = "-ERR unknown command `HELLO`, with args beginning with: `3`, `AUTH`, \
                       `default`, `hunter2`, \r\n";
    let greeted = |reply| {
        let via = move || answers_once(reply);
        Redlock::builder().node_with_connector("redis://:hunter2@master-1", via)
    };
    let report = greeted(OLD).preflight().await.unwrap();
    let found = kinds(&report.nodes()[0], Note);
    let [FindingKind::Rejected(cause)] = &found[..] else { panic!("{found:?}") };
    assert!(cause.contains("Redis 6.2 or later is needed"), "{cause}");
    assert!(!format!("{report} {report:?}").contains("hunter2"), "{report}");

    let report = greeted("HTTP/1.1 400 Bad Request\r\n\r\n").preflight().await.unwrap();
    let found = kinds(&report.nodes()[0], Note);
    let [FindingKind::NotRedis(cause)] = &found[..] else { panic!("{found:?}") };
    assert!(cause.starts_with("not a RESP3 reply: \""), "{cause}");
}

#[tokio::test]
async fn a_dial_that_panics_is_a_finding() {
    let panics = || async { if true { panic!("as intended") } else { answers_once("").await } };
    let report =
        Redlock::builder().node_with_connector("redis://m", panics).preflight().await.unwrap();
    let panicked = FindingKind::Unreachable("the dial panicked".into());
    assert_eq!(kinds(&report.nodes()[0], Note), [panicked]);
}

#[tokio::test]
async fn a_stopped_master_is_reported_after_three_operation_timeouts() {
    let masters = Masters::start(3);
    masters[2].stop();
    let began = Instant::now();
    let operation = Duration::from_millis(100);
    let report = over(masters.urls()).operation_timeout(operation).preflight().await.unwrap();
    let took = began.elapsed();
    let silent = FindingKind::Silent("no answer to HELLO within 300ms".into());
    assert_eq!(kinds(&report.nodes()[2], Note), [silent]);
    assert!(report.nodes()[..2].iter().all(NodePreflight::is_ok), "{report}");
    assert!(took >= operation * 3 && took < PATIENCE, "{took:?}");
    masters[2].cont();
}

fn field(error: &PreflightError) -> Option<&str> {
    match error {
        PreflightError::InvalidSetting(invalid) => Some(invalid.field),
        _ => None,
    }
}

#[tokio::test]
async fn an_address_that_is_none_is_an_error_and_no_master_is_asked() {
    let master = Server::start();
    let before = witness::command_count(&master).await;
    let error = over([master.url(), "http://x".to_owned()]).preflight().await.unwrap_err();
    assert_eq!(field(&error), Some("nodes"), "{error}");
    let error = over([master.url()]).ttl(Duration::ZERO).preflight().await.unwrap_err();
    assert_eq!(field(&error), Some("ttl"), "{error}");
    assert_eq!(witness::command_count(&master).await, before);
}

#[test]
fn without_a_runtime_it_says_so() {
    let builder = over(["redis://127.0.0.1:1"]);
    let error = futures::executor::block_on(builder.preflight()).unwrap_err();
    assert!(
        matches!(error, PreflightError::WrongContext(WrongContext::NoRuntime { .. })),
        "{error}"
    );
}

#[cfg(feature = "embedded")]
#[tokio::test]
async fn embedded_masters_are_fit_whatever_else_they_do_not_tell() {
    let masters = quorumlock::embedded::Masters::start_in_memory(3).unwrap();
    let report = masters.builder().preflight().await.unwrap();
    assert!(report.is_ok(), "{report}");
    for (node, master) in report.into_iter().zip(&*masters) {
        assert_eq!((node.role, node.replicas), (Some(Role::Master), Some(0)));
        assert_eq!(master.holder("quorumlock:preflight"), None);
    }
}

#[tokio::test]
async fn many_at_once_do_not_disturb_each_other_and_leave_nothing() {
    let masters = Masters::start(2);
    let reports = (0..20).map(|_| preflight(masters.urls()));
    for report in futures::future::join_all(reports).await {
        assert!(report.is_ok(), "{report}");
    }
    witness::assert_no_keys_now(&masters).await;
}

#[tokio::test]
async fn the_report_reads_like_this() {
    let masters = Masters::start(2);
    masters.kill(1);
    let report = without_ports(preflight(masters.urls()).await, &masters);
    let server = of_its_program(&masters[0]);
    let (head, clock) = report.split_once(", clock ").unwrap();
    let (_, findings) = clock.split_once('\n').unwrap();
    let expected = format!(
        "not ok: 1 of 2 masters are fit, which is no quorum\n127.0.0.1:<1> fit, {server}, master, appendonly no, \
         up <time>, round trip <time>"
    );
    assert_eq!(without_times(head), expected);
    let lines: Vec<_> = findings.lines().map(without_times).collect();
    assert_eq!(
        lines,
        [
            "  note: started <time> ago: the restart guard lets it vote in <time>: what it granted before \
             may be held until then",
            "  note: may lose keys in a restart (appendonly no): the restart guard keeps it from \
             voting for <time> after one; only appendonly yes, appendfsync always and \
             no-appendfsync-on-rewrite no lose nothing",
            "127.0.0.1:<2> unfit",
            "  failure: not reachable (Connection refused (os error 111)): start it, or fix its \
             address or the network on the way",
        ]
    );
}

#[tokio::test]
async fn without_a_restart_guard_preflight_warns_of_early_votes() {
    let server = Server::start();
    let unguarded = over([server.url()]).restart_guard(RestartGuard::Off);
    let report = unguarded.preflight().await.unwrap();
    assert!(report.is_ok(), "{report}");
    let found = kinds(&report.nodes()[0], Warning);
    let [
        FindingKind::JustStarted { votes_in: None, .. },
        FindingKind::Forgets { persistence: Persistence::Nothing, stays_away: None },
    ] = &found[..]
    else {
        panic!("{report}")
    };
    let shown = report.to_string();
    assert_eq!(shown.matches("turn restart_guard on").count(), 2, "{shown}");
}

#[tokio::test]
async fn preflight_and_connect_agree_on_trust_in_persistence() {
    let server = Server::start_with(&["--appendonly", "yes", "--appendfsync", "always"]);
    let trusting = || over([server.url()]).restart_guard(RestartGuard::TrustPersistence);
    for (name, value, contradiction) in [
        ("appendfsync", "everysec", Some(Persistence::Later(Some("everysec".into())))),
        ("appendfsync", "always", None),
        ("no-appendfsync-on-rewrite", "yes", Some(Persistence::NotInRewrites)),
        ("no-appendfsync-on-rewrite", "no", None),
        ("appendonly", "no", Some(Persistence::Nothing)),
    ] {
        let set = cmd("CONFIG").arg("SET").arg(name).arg(value).to_owned();
        witness::ask::<()>(&server, &set).await.unwrap();
        let report = trusting().preflight().await.unwrap();
        let expected = contradiction.map(FindingKind::NotPersistent);
        assert_eq!(kinds(&report.nodes()[0], Note), Vec::from_iter(expected), "{name} {value}");
        assert_eq!(trusting().connect().await.is_ok(), report.is_ok(), "{report}");
    }
}

/// Returns the notes about the clients of a master, and their remaining ttl.
async fn agreement(server: &Server) -> (BTreeMap<String, String>, i64) {
    let key = "quorumlock:agreement";
    let noted = witness::ask(server, cmd("HGETALL").arg(key)).await.unwrap();
    (noted, witness::ask(server, cmd("PTTL").arg(key)).await.unwrap())
}

#[tokio::test]
async fn a_disagreement_is_reported_as_by_connect_and_left_untouched() {
    let masters = Masters::start(4);
    let first_three = || over(masters[..3].iter().map(Server::url));
    let alike = || first_three().max_ttl(PATIENCE);
    let _living = alike().connect().await.unwrap();
    let before = agreement(&masters[0]).await;
    assert_eq!(before.0.len(), 5, "{before:?}");
    let disagreements = async |builder: &RedlockBuilder| {
        let report = builder.preflight().await.unwrap();
        let of = |node: &NodePreflight| {
            node.findings.iter().filter(|finding| finding.is_failure()).cloned().collect()
        };
        let found: Vec<Vec<_>> = report.into_iter().map(of).collect();
        found
    };
    let also = |node: usize| [masters[0].url(), masters[1].url(), masters[node].url()];
    let other_list = || over(also(3)).max_ttl(PATIENCE);
    for fit in [alike(), other_list().joint_with(also(2))] {
        assert_eq!(disagreements(&fit).await.concat(), []);
    }
    let empty = (BTreeMap::new(), -2);
    assert_eq!(agreement(&masters[3]).await, empty);
    let second = Duration::from_secs(1);
    for (other, options) in [
        (first_three(), &["max_ttl"][..]),
        (
            alike().fencing_window(FencingWindow { back: second, ahead: 3 * second }),
            &["fencing_window", "fencing_window"],
        ),
        (other_list(), &["nodes"]),
        (other_list().max_ttl(2 * PATIENCE), &["max_ttl", "nodes"]),
    ] {
        let found = disagreements(&other).await;
        let mut differing = Vec::new();
        for finding in &found[0] {
            let FindingKind::Disagrees(difference) = &finding.kind else { panic!("{finding}") };
            assert!(difference.lapses_in > second && difference.lapses_in < 6 * PATIENCE);
            differing.push(difference.option);
        }
        differing.sort_unstable();
        assert_eq!(differing, options);
        let shown = other.connect().await.unwrap_err().to_string();
        let is_shown = |finding: &Finding| shown.contains(&finding.kind.to_string());
        assert!(found[0].iter().any(is_shown), "{shown}: {found:?}");
    }
    let after = agreement(&masters[0]).await;
    assert_eq!(after.0, before.0);
    assert!(after.1 <= before.1, "{after:?}");
}

#[tokio::test]
async fn a_foreign_value_as_agreement_is_reported_and_bars_acquires() {
    let server = Server::start();
    let set = cmd("SET").arg("quorumlock:agreement").arg("x").to_owned();
    witness::ask::<()>(&server, &set).await.unwrap();
    let found = kinds(&of_one(&server).await, Warning);
    let [FindingKind::Fails { permission: Permission::Hgetall, error }] = &found[..] else {
        panic!("{found:?}")
    };
    assert!(error.starts_with("WRONGTYPE "), "{error}");
    let redlock = over([server.url()]).restart_guard(RestartGuard::Off).connect().await.unwrap();
    assert!(redlock.try_acquire("r").await.is_err());
}

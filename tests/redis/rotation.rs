//! Secrets that change every second under load: whatever is secret is valid for its own second and for the
//! one after it. `--run-ignored only -E 'test(for_a_minute)'` plays a minute of each.
//! On a real clock: it is servers that accept a secret and cut the connections of a deleted user.

use crate::support::prelude::*;
use quorumlock::{Credentials, Redlock, RedlockBuilder, Released};
use redis::cmd;
use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::task::JoinHandle;

pub(crate) const PERIOD: Duration = SECOND;
const TTL: Duration = Duration::from_secs(10);
const TASKS: u64 = 8;

/// A client for masters on a busy machine.
pub(crate) async fn connect(builder: RedlockBuilder) -> Redlock {
    let builder = builder.ttl(TTL).operation_timeout(900 * MS).connect_timeout(4 * SECOND);
    builder.connect().await.unwrap()
}

/// Tasks that take locks and release them, and one lock that is held from the beginning to the end.
pub(crate) struct Load {
    redlock: Redlock,
    kept: quorumlock::Guard,
    over: Arc<AtomicBool>,
    cycles: Arc<AtomicU64>,
    tasks: Vec<JoinHandle<()>>,
}

impl Load {
    pub(crate) async fn start(redlock: Redlock) -> Self {
        let kept = redlock.acquire("kept").keep_alive().await.unwrap();
        let (over, cycles) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let task = |number: u64| {
            let (redlock, over, cycles) = (redlock.clone(), over.clone(), cycles.clone());
            tokio::spawn(async move {
                while !over.load(Ordering::Relaxed) {
                    // Each of them has a rival.
                    let guard = redlock.acquire(format!("r{}", number / 2)).await.unwrap();
                    tokio::time::sleep(MS).await;
                    guard.check().unwrap();
                    let released = guard.release().await.unwrap();
                    assert!(matches!(released, Released::Confirmed | Released::Unconfirmed(_)));
                    cycles.fetch_add(1, Ordering::Relaxed);
                }
            })
        };
        let tasks = (0..TASKS).map(task).collect();
        Self { redlock, kept, over, cycles, tasks }
    }

    /// Ends the load. No acquire has failed by then, and no lock was lost.
    pub(crate) async fn end(self, periods: u64) {
        self.over.store(true, Ordering::Relaxed);
        for task in self.tasks {
            task.await.unwrap();
        }
        self.kept.check().unwrap();
        self.kept.release().await.unwrap();
        let cycles = self.cycles.load(Ordering::Relaxed);
        eprintln!("{cycles} locks in {periods} periods: none lost, no acquire failed");
        assert!(cycles > 20 * periods, "{cycles} locks in {periods} periods");
        self.redlock.wait_until_ready(20 * SECOND).await.unwrap();
        let status = self.redlock.status().await.unwrap();
        assert!(status.nodes().iter().all(|node| node.not_renewed.is_none()), "{status}");
        self.redlock.shutdown().await.unwrap();
    }
}

/// Cuts all connections of one master, another one in each period: they are dialled again, with the secret
/// of that moment.
pub(crate) async fn cut(servers: &[Server], period: u64) {
    let at = usize::try_from(period).unwrap() % servers.len();
    let mut kill = cmd("CLIENT");
    kill.arg("KILL").arg("TYPE").arg("pubsub");
    witness::ask::<u64>(&servers[at], &kill).await.unwrap();
}

/// Waits for the next period.
pub(crate) async fn until(began: Instant, period: u64) {
    let at = began + PERIOD * u32::try_from(period).unwrap();
    tokio::time::sleep_until(at.into()).await;
}

async fn acl(servers: &[Server], arguments: &[&str]) {
    for server in servers {
        witness::ask::<redis::Value>(server, cmd("ACL").arg(arguments)).await.unwrap();
    }
}

pub(crate) async fn add_user(servers: &[Server], period: u64) {
    let (user, password) = (user(period), format!(">{}", password(period)));
    acl(servers, &["SETUSER", &user, "on", &password, "~*", "&*", "+@all"]).await;
}

/// Deletes the user of a period, and with it the connections that still have it.
pub(crate) async fn delete_user(servers: &[Server], period: u64) {
    acl(servers, &["DELUSER", &user(period)]).await;
}

fn user(period: u64) -> String {
    format!("app-{period}")
}

fn password(period: u64) -> String {
    format!("hunter2-{period}")
}

/// The secret that is published, and since when.
#[derive(Clone)]
pub(crate) struct Published {
    began: Instant,
    period: Arc<AtomicU64>,
}

impl Published {
    pub(crate) fn new(began: Instant) -> Self {
        Self { began, period: Arc::default() }
    }

    pub(crate) fn publish(&self, period: u64) {
        self.period.store(period, Ordering::SeqCst);
    }

    /// Returns the credentials of the period, which end with the next one.
    pub(crate) fn credentials(&self) -> Credentials {
        let period = self.period.load(Ordering::SeqCst);
        let ends = self.began + PERIOD * u32::try_from(period + 2).unwrap();
        let left = ends.saturating_duration_since(Instant::now());
        Credentials::new(user(period), password(period)).expires_in(left)
    }
}

/// One user, whose password in a file changes: the file is a link that is exchanged.
#[cfg(unix)]
async fn with_passwords_in_a_file(periods: u64) {
    let servers = &Masters::start(5);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("secret");
    let publish = |period: u64| {
        let version = folder.path().join(format!("secret-{period}"));
        fs::write(&version, format!("app\n{}\n", password(period))).unwrap();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(version, &link).unwrap();
        fs::rename(link, &path).unwrap();
    };
    let add = async |period: u64| {
        let password = format!(">{}", password(period));
        acl(servers, &["SETUSER", "app", "on", &password, "~*", "&*", "+@all"]).await;
    };
    add(0).await;
    publish(0);
    let builder = builder().nodes(servers.urls()).credentials_file(&path);
    let load = Load::start(connect(builder).await).await;
    let began = Instant::now();
    for period in 1..=periods {
        until(began, period).await;
        add(period).await;
        publish(period);
        if period > 1 {
            let old = format!("<{}", password(period - 2));
            acl(servers, &["SETUSER", "app", &old]).await;
        }
        cut(servers, period).await;
    }
    for server in servers.iter() {
        let renewed = witness::calls(server).await["auth"];
        assert!(renewed >= periods / 4, "{renewed} of {periods} secrets came over a connection");
    }
    load.end(periods).await;
}

/// A user for each period, as an agent of Vault makes them. The connections of one that is deleted are cut.
async fn with_users_of_a_provider(periods: u64) {
    let servers = &Masters::start(5);
    add_user(servers, 0).await;
    let began = Instant::now();
    let published = Published::new(began);
    let provider = published.clone();
    let builder = builder()
        .nodes(servers.urls())
        .credentials(move |_| std::future::ready(Ok::<_, String>(provider.credentials())));
    let load = Load::start(connect(builder).await).await;
    for period in 1..=periods {
        until(began, period).await;
        add_user(servers, period).await;
        published.publish(period);
        if period > 1 {
            delete_user(servers, period - 2).await;
        }
        cut(servers, period).await;
    }
    for server in servers.iter() {
        let renewed = witness::calls(server).await["auth"];
        assert!(renewed >= periods / 3, "{renewed} of {periods} secrets came over a connection");
    }
    load.end(periods).await;
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_password_in_a_file_that_changes_every_second_costs_no_lock() {
    with_passwords_in_a_file(4).await;
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a minute"]
async fn a_password_in_a_file_that_changes_every_second_for_a_minute_costs_no_lock() {
    with_passwords_in_a_file(60).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn users_that_change_every_second_cost_no_lock() {
    with_users_of_a_provider(4).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a minute"]
async fn users_that_change_every_second_for_a_minute_cost_no_lock() {
    with_users_of_a_provider(60).await;
}

//! The independent witness: looks at the masters' keys through the `redis` crate, on a connection
//! of its own for each look, so that a restart or a stop confuses nothing.
//!
//! A master that is *down* (killed) holds nothing. One that is *silent* (stopped, overloaded) may
//! hold anything: a look that needs its answer panics, or returns the silence as an error.

use super::poll::PAUSE;
use super::server::Server;
use futures::future::join_all;
use redis::{AsyncConnectionConfig, Client, Cmd, FromRedisValue, IntoConnectionInfo};
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// How long a master may take to answer the witness.
const PATIENCE: Duration = Duration::from_secs(3);

/// Why a master gave no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Unseen {
    /// Its process has ended.
    Down,
    /// It is stopped, or did not answer in time, or answered with an error.
    Silent(String),
}

/// Which of the masters have the key. All that run must answer.
pub(crate) async fn holders(masters: &[Server], key: &str) -> Vec<usize> {
    let values = values(masters, key).await;
    (0..masters.len()).filter(|&node| values[node].is_some()).collect()
}

/// What stands under the key, master by master. All that run must answer.
pub(crate) async fn values(masters: &[Server], key: &str) -> Vec<Option<String>> {
    join_all(masters.iter().map(|server| value(server, key))).await
}

/// What stands under the key on one master.
pub(crate) async fn value(server: &Server, key: &str) -> Option<String> {
    match ask(server, redis::cmd("GET").arg(key)).await {
        Err(Unseen::Down) => None,
        seen => expect_seen(server, seen),
    }
}

/// How many keys each master has, but for the agreement. Those that have expired but were not collected yet don't count
/// (they would in DBSIZE).
pub(crate) async fn total_keys(masters: &[Server]) -> Vec<Result<u64, Unseen>> {
    let all = join_all(masters.iter().map(keys)).await;
    all.into_iter().map(|seen| seen.map(|keys| keys.len() as u64)).collect()
}

/// Where clients note at each master what they go by. It stays for a while after them, so nobody who
/// looks for what was left behind counts it.
pub(super) const AGREEMENT: &str = "quorumlock:agreement";

/// Behind whatever prefix.
pub(crate) fn is_agreement(key: &str) -> bool {
    key.ends_with(AGREEMENT)
}

/// The keys of one master, sorted, but for the agreement.
pub(crate) async fn keys(server: &Server) -> Result<Vec<String>, Unseen> {
    let mut keys: Vec<String> = ask(server, redis::cmd("KEYS").arg("*")).await?;
    keys.retain(|key| !is_agreement(key));
    keys.sort();
    Ok(keys)
}

/// No master that runs has any key, now. A silent master fails it.
pub(crate) async fn assert_no_keys_now(masters: &[Server]) {
    let left = leftovers(masters, |_| true).await;
    assert!(left.is_empty(), "keys are left: {left:?}");
}

/// The same, but they have `within` to get there.
pub(crate) async fn eventually_no_keys(masters: &[Server], within: Duration) {
    eventually_none(masters, |_| true, within).await;
}

/// The same for the keys that `counts` picks, where others (fences) may stay.
pub(crate) async fn eventually_none(
    masters: &[Server],
    counts: impl Fn(&str) -> bool,
    within: Duration,
) {
    let deadline = Instant::now() + within;
    loop {
        let last = Instant::now() >= deadline;
        let left = leftovers(masters, &counts).await;
        if left.is_empty() {
            return;
        }
        assert!(!last, "after {within:?} keys are left: {left:?}");
        tokio::time::sleep(PAUSE).await;
    }
}

/// How long the key has yet to live there: `None` without a key, the maximum without an expiry.
pub(crate) async fn pttl(server: &Server, key: &str) -> Option<Duration> {
    let left: i64 = expect_seen(server, ask(server, redis::cmd("PTTL").arg(key)).await);
    match u64::try_from(left) {
        Ok(ms) => Some(Duration::from_millis(ms)),
        Err(_) if left == -1 => Some(Duration::MAX),
        Err(_) => None,
    }
}

/// Puts a value there as some other client would, over what stands there.
pub(crate) async fn set_foreign(server: &Server, key: &str, value: &str, px: Duration) {
    let ms = u64::try_from(px.as_millis()).expect("a time to live that fits");
    let mut set = redis::cmd("SET");
    set.arg(key).arg(value).arg("PX").arg(ms);
    expect_seen(server, ask::<()>(server, &set).await);
}

/// How many commands the server has executed since its start, without the witness's own and without
/// the agreements. Calls from inside other scripts count too.
pub(crate) async fn command_count(server: &Server) -> u64 {
    let own = server.witnessed.load(Ordering::Relaxed);
    let calls = calls(server).await;
    calls.values().sum::<u64>().saturating_sub(own)
}

/// The calls of each command (`"set"`, `"client|kill"`), those of the witness included. Those of the
/// agreements, which come with each connection and heartbeat, are left out.
pub(crate) async fn calls(server: &Server) -> BTreeMap<String, u64> {
    let info = info(server, "commandstats").await;
    let lines = info.iter().filter_map(|(name, stats)| {
        let calls = stats.strip_prefix("calls=")?.split(',').next()?;
        Some((name.strip_prefix("cmdstat_")?.to_owned(), calls.parse().ok()?))
    });
    let mut calls: BTreeMap<String, u64> = lines.collect();
    // Once in each agreement, and nowhere else.
    let agreements = calls.get("hgetall").copied().unwrap_or(0);
    for (name, each) in AN_AGREEMENT {
        if let Some(calls) = calls.get_mut(name) {
            *calls = calls.checked_sub(each * agreements).expect("what an agreement calls");
        }
    }
    calls.retain(|_, calls| *calls > 0);
    calls
}

/// How many releases and rollbacks were executed, in whatever way they were sent: in full, by hash (as
/// extensions are, of which there are to be none), by a command of the server's own.
pub(crate) fn releases(calls: &BTreeMap<String, u64>) -> u64 {
    ["eval", "evalsha", "delifeq"].iter().filter_map(|way| calls.get(*way)).sum()
}

/// How many keys they have deleted; where the server has a command for that, how many were asked for.
pub(crate) fn deletions(calls: &BTreeMap<String, u64>) -> u64 {
    ["del", "delifeq"].iter().filter_map(|way| calls.get(*way)).sum()
}

/// Whether the server can compare and delete by itself: Valkey, from 9 on.
pub(crate) async fn has_delifeq(server: &Server) -> bool {
    let mut known = redis::cmd("COMMAND");
    let known = ask(server, known.arg("INFO").arg("delifeq")).await;
    let known: Vec<Option<redis::Value>> = expect_seen(server, known);
    known.iter().any(Option::is_some)
}

/// How many were asked to be killed; `None` where the server counts no subcommands (6.2).
pub(crate) async fn kills(server: &Server) -> Option<u64> {
    let calls = calls(server).await;
    let counts_subcommands = calls.contains_key("client|setname");
    counts_subcommands.then(|| calls.get("client|kill").copied().unwrap_or(0))
}

/// What an agreement among clients that do agree calls, and how often.
const AN_AGREEMENT: [(&str, u64); 6] =
    [("eval", 1), ("time", 1), ("hget", 1), ("hgetall", 1), ("hset", 4), ("pexpire", 1)];

/// A section of INFO, field by field: `info(&server, "server").await["run_id"]`.
pub(crate) async fn info(server: &Server, section: &str) -> BTreeMap<String, String> {
    let text: String = expect_seen(server, ask(server, redis::cmd("INFO").arg(section)).await);
    let fields = text.lines().filter_map(|line| line.split_once(':'));
    fields.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

/// How many connections the server has, without the witness's own.
pub(crate) async fn client_count(server: &Server) -> usize {
    let list: String = expect_seen(server, ask(server, redis::cmd("CLIENT").arg("LIST")).await);
    list.lines().filter(|line| !line.contains(" name=witness ")).count()
}

/// Sends one command to a master and reads its answer as a `T`: for what has no function here.
pub(crate) async fn ask<T: FromRedisValue>(server: &Server, command: &Cmd) -> Result<T, Unseen> {
    if !server.is_running() {
        return Err(Unseen::Down);
    }
    if server.is_stopped() {
        return Err(Unseen::Silent("stopped".to_owned()));
    }
    let answer = async {
        let address = server.url().into_connection_info()?;
        let mut settings = address.redis_settings().clone().set_skip_set_lib_name();
        if let Some(password) = server.password() {
            settings = settings.set_password(password);
            server.witnessed.fetch_add(1, Ordering::Relaxed);
        }
        let client = Client::open(address.set_redis_settings(settings))?;
        let limits = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(PATIENCE))
            .set_response_timeout(Some(PATIENCE));
        let mut connection = client.get_multiplexed_async_connection_with_config(&limits).await?;
        server.witnessed.fetch_add(2, Ordering::Relaxed);
        let mut introduced = redis::pipe();
        introduced.cmd("CLIENT").arg("SETNAME").arg("witness").ignore();
        introduced.add_command(command.clone());
        introduced.query_async::<(T,)>(&mut connection).await
    };
    let silent = |error: redis::RedisError| Unseen::Silent(error.to_string());
    answer.await.map(|(value,)| value).map_err(silent)
}

/// What is left on the masters that run, by node; a silent one counts as left.
async fn leftovers(
    masters: &[Server],
    counts: impl Fn(&str) -> bool,
) -> BTreeMap<usize, Result<Vec<String>, Unseen>> {
    let all = join_all(masters.iter().map(keys)).await.into_iter().enumerate();
    let counted = all.map(|(node, seen)| {
        (node, seen.map(|keys| keys.into_iter().filter(|key| counts(key)).collect::<Vec<_>>()))
    });
    let left = counted.filter(|(_, seen)| match seen {
        Ok(keys) => !keys.is_empty(),
        Err(unseen) => *unseen != Unseen::Down,
    });
    left.collect()
}

fn expect_seen<T>(server: &Server, seen: Result<T, Unseen>) -> T {
    seen.unwrap_or_else(|unseen| panic!("the master {} can't be asked: {unseen:?}", server.addr()))
}

//! The independent witness. It looks at the keys of masters of any kind through the `redis` crate, with
//! a separate connection for each look, so that a restart or a stop does not confuse it.
//!
//! A master that is *down* (killed) holds nothing. A master that is *silent* (stopped, overloaded)
//! may hold anything: a look that needs its answer panics, or returns the silence as an error.

use super::poll::PAUSE;
use futures::future::join_all;
use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Client, Cmd, FromRedisValue, RedisError, RedisResult};
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::time::Instant;

/// Bound on the time for a master to answer the witness.
const PATIENCE: Duration = Duration::from_secs(10);

/// The reason why a master gave no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Unseen {
    /// Its process has ended.
    Down,
    /// It is stopped, or did not answer in time, or answered with an error.
    Silent(String),
}

/// A master that the witness can ask.
pub(crate) trait Master {
    /// Returns the name that a failure is reported under.
    fn name(&self) -> String;

    /// Opens a connection for one look.
    async fn open(&self) -> Result<MultiplexedConnection, Unseen>;

    /// Counts the witness's own commands, these included.
    fn count_own(&self, commands: u64) -> u64;
}

impl From<RedisError> for Unseen {
    fn from(error: RedisError) -> Self {
        Self::Silent(error.to_string())
    }
}

/// Opens a connection that waits for a busy machine: half a second, the bound of the `redis` crate,
/// is too short beside a hundred other tests.
pub(crate) async fn connect(client: &Client) -> RedisResult<MultiplexedConnection> {
    client.get_multiplexed_async_connection_with_config(&limits()).await
}

pub(crate) fn limits() -> AsyncConnectionConfig {
    AsyncConnectionConfig::new()
        .set_connection_timeout(Some(PATIENCE))
        .set_response_timeout(Some(PATIENCE))
}

/// Returns which of the masters have the key. All that run must answer.
pub(crate) async fn holders(masters: &[impl Master], key: &str) -> Vec<usize> {
    let values = values(masters, key).await;
    (0..masters.len()).filter(|&node| values[node].is_some()).collect()
}

/// Returns the value of the key, master by master. All that run must answer.
pub(crate) async fn values(masters: &[impl Master], key: &str) -> Vec<Option<String>> {
    join_all(masters.iter().map(|server| value(server, key))).await
}

/// Returns the value of the key on one master.
pub(crate) async fn value(server: &impl Master, key: &str) -> Option<String> {
    match ask(server, redis::cmd("GET").arg(key)).await {
        Err(Unseen::Down) => None,
        seen => expect_seen(server, seen),
    }
}

/// Counts the keys of each master, except what outlives its clients. Keys that have expired but were not
/// collected yet don't count (they would in DBSIZE).
pub(crate) async fn total_keys(masters: &[impl Master]) -> Vec<Result<u64, Unseen>> {
    let all = join_all(masters.iter().map(keys)).await;
    all.into_iter().map(|seen| seen.map(|keys| keys.len() as u64)).collect()
}

/// Key under which clients note their settings at each master. It outlives them for a while, so a
/// search for leftovers does not count it.
pub(crate) const AGREEMENT: &str = "quorumlock:agreement";

/// Returns whether a key behind any prefix is the agreement, or a list of waiters, which outlives them too: the
/// release that finds no waiter in it ends it.
pub(crate) fn outlives_clients(key: &str) -> bool {
    key.ends_with(AGREEMENT) || key.contains("quorumlock:waitlist")
}

/// Returns the keys of one master, sorted, except what outlives its clients.
pub(crate) async fn keys(server: &impl Master) -> Result<Vec<String>, Unseen> {
    let mut keys: Vec<String> = ask(server, redis::cmd("KEYS").arg("*")).await?;
    keys.retain(|key| !outlives_clients(key));
    keys.sort();
    Ok(keys)
}

/// Asserts that no running master has any key now. A silent master fails it.
pub(crate) async fn assert_no_keys_now(masters: &[impl Master]) {
    let left = leftovers(masters, |_| true).await;
    assert!(left.is_empty(), "keys are left: {left:?}");
}

/// Asserts the same, but the keys may take `within` to go away.
pub(crate) async fn eventually_no_keys(masters: &[impl Master], within: Duration) {
    eventually_none(masters, |_| true, within).await;
}

/// Asserts the same for the keys that `counts` picks, where others (fences) may stay.
pub(crate) async fn eventually_none(
    masters: &[impl Master],
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

/// Returns the remaining ttl of the key there: `None` without a key, the maximum without an expiry.
pub(crate) async fn pttl(server: &impl Master, key: &str) -> Option<Duration> {
    let left: i64 = expect_seen(server, ask(server, redis::cmd("PTTL").arg(key)).await);
    match u64::try_from(left) {
        Ok(ms) => Some(Duration::from_millis(ms)),
        Err(_) if left == -1 => Some(Duration::MAX),
        Err(_) => None,
    }
}

/// Sets a value there as another client would, over any existing one.
pub(crate) async fn set_foreign(server: &impl Master, key: &str, value: &str, px: Duration) {
    let ms = u64::try_from(px.as_millis()).expect("a time to live that fits");
    let mut set = redis::cmd("SET");
    set.arg(key).arg(value).arg("PX").arg(ms);
    expect_seen(server, ask::<()>(server, &set).await);
}

/// Counts the commands that the server has executed since its start, without the witness's own and
/// without the agreements. Calls from inside other scripts count too.
pub(crate) async fn command_count(server: &impl Master) -> u64 {
    let own = server.count_own(0);
    let calls = calls(server).await;
    calls.values().sum::<u64>().saturating_sub(own)
}

/// Counts the calls of each command (`"set"`, `"client|kill"`), including those of the witness. The
/// calls of the agreements, which come with each connection and heartbeat, are left out.
pub(crate) async fn calls(server: &impl Master) -> BTreeMap<String, u64> {
    let info = info(server, "commandstats").await;
    let lines = info.iter().filter_map(|(name, stats)| {
        let calls = stats.strip_prefix("calls=")?.split(',').next()?;
        Some((name.strip_prefix("cmdstat_")?.to_owned(), calls.parse().ok()?))
    });
    let mut calls: BTreeMap<String, u64> = lines.collect();
    let of = |name: &str| calls.get(name).copied().unwrap_or(0);
    // Called once in each agreement, and nowhere else; and once in each that is taken back, too.
    let (agreements, both) = (of("hget"), of("hgetall"));
    for (name, each) in AN_AGREEMENT {
        let of_all = each * agreements + (both - agreements);
        if let Some(calls) = calls.get_mut(name) {
            // Of many clients, most share a part of it, and take nothing back.
            *calls = calls.saturating_sub(of_all);
        }
    }
    for name in ["hget", "hgetall", "hset", "hdel"] {
        calls.remove(name);
    }
    calls.retain(|_, calls| *calls > 0);
    calls
}

/// Counts the calls of all these commands at all masters.
pub(crate) async fn calls_of(masters: &[impl Master], commands: &[&str]) -> u64 {
    let all = join_all(masters.iter().map(calls)).await;
    let counts = all.iter().flat_map(|calls| commands.iter().filter_map(|name| calls.get(*name)));
    counts.sum()
}

/// Counts the releases and rollbacks that were executed, however they were sent: in full, by hash,
/// or by the server's own command. Extensions are also sent by hash, so there must be none.
pub(crate) fn releases(calls: &BTreeMap<String, u64>) -> u64 {
    ["eval", "evalsha", "delifeq", "delex"].iter().filter_map(|way| calls.get(*way)).sum()
}

/// Counts the keys that they have deleted; if the server has a command for that, the keys they were
/// asked to delete.
pub(crate) fn deletions(calls: &BTreeMap<String, u64>) -> u64 {
    ["del", "delifeq", "delex"].iter().filter_map(|way| calls.get(*way)).sum()
}

/// Returns the command by which the server compares and deletes by itself, if it has one: `delifeq` of
/// Valkey, from 9 on, `delex` of Redis, from 8.4 on.
pub(crate) async fn native_release(server: &impl Master) -> Option<&'static str> {
    let names = ["delifeq", "delex"];
    let mut known = redis::cmd("COMMAND");
    let known = ask(server, known.arg("INFO").arg(&names)).await;
    let known: Vec<Option<redis::Value>> = expect_seen(server, known);
    names.into_iter().zip(known).find_map(|(name, known)| known.map(|_| name))
}

/// Counts the requested kills; `None` if the server counts no subcommands (6.2).
pub(crate) async fn kills(server: &impl Master) -> Option<u64> {
    let calls = calls(server).await;
    let counts_subcommands = calls.contains_key("client|setname");
    counts_subcommands.then(|| calls.get("client|kill").copied().unwrap_or(0))
}

/// The commands besides those for hashes, with their counts, that an agreement among clients that
/// agree calls. One that is taken back calls each of them once.
const AN_AGREEMENT: [(&str, u64); 3] = [("eval", 1), ("time", 1), ("pexpire", 2)];

/// Reads a section of INFO, field by field: `info(&server, "server").await["run_id"]`.
pub(crate) async fn info(server: &impl Master, section: &str) -> BTreeMap<String, String> {
    let text: String = expect_seen(server, ask(server, redis::cmd("INFO").arg(section)).await);
    let fields = text.lines().filter_map(|line| line.split_once(':'));
    fields.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

/// Counts the connections of the server, without the witness's own.
pub(crate) async fn client_count(server: &impl Master) -> usize {
    let list: String = expect_seen(server, ask(server, redis::cmd("CLIENT").arg("LIST")).await);
    list.lines().filter(|line| !line.contains(" name=witness ")).count()
}

/// Sends one command to a master and reads its answer as a `T`, for anything that has no function
/// here.
pub(crate) async fn ask<T: FromRedisValue>(
    server: &impl Master,
    command: &Cmd,
) -> Result<T, Unseen> {
    let mut connection = server.open().await?;
    server.count_own(2);
    let mut introduced = redis::pipe();
    introduced.cmd("CLIENT").arg("SETNAME").arg("witness").ignore();
    introduced.add_command(command.clone());
    let (answer,) = introduced.query_async(&mut connection).await?;
    Ok(answer)
}

/// Returns what is left on the masters that run, by node; a silent master counts as leftover.
async fn leftovers(
    masters: &[impl Master],
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

fn expect_seen<T>(server: &impl Master, seen: Result<T, Unseen>) -> T {
    seen.unwrap_or_else(|unseen| panic!("the master {} can't be asked: {unseen:?}", server.name()))
}

//! Looks at the masters' keys, bypassing the crate under test, and records their owners.

use super::clock::{Nanos, between, now};
use super::history::{BURST, What};
use super::journal::Journal;
use crate::support::docker::Containers;
use crate::support::prelude::*;
use futures::future::join_all;
use std::collections::BTreeSet;
use std::time::Duration;

const EVERY: Duration = Duration::from_millis(400);
/// A scan sees a key at some time between its beginning and this much later; a slower scan is not
/// recorded. A master with a fault at that moment does not answer at all.
pub(crate) const PATIENCE: Duration = Duration::from_millis(300);

/// A master that takes longer does not answer the extension of a lock with such a ttl either.
const IN_TIME: Duration = Duration::from_millis(150);

/// Reads every key that does not begin like this, and its value, in one step. An empty value means that it is not a string.
///
/// Of a set of readers, each reader that has not expired is a value.
const SCAN: &str = "local all, time = {}, redis.call('TIME') \
                    local now = time[1] * 1000 + math.floor(time[2] / 1000) \
                    local function add(key, value) \
                    all[#all + 1] = key all[#all + 1] = value end \
                    for _, key in ipairs(redis.call('KEYS', '*')) do \
                    if ARGV[1] == '' or string.find(key, ARGV[1], 1, true) ~= 1 then \
                    local value = redis.pcall('GET', key) \
                    if string.find(key, 'quorumlock:readers:', 1, true) then \
                    for _, one in ipairs(redis.call('ZRANGEBYSCORE', key, now, '+inf')) do \
                    add(key, one) end \
                    else add(key, type(value) == 'table' and '' or value) end \
                    end end return all";

/// What is under the key of a resource while there are readers; these are seen by themselves.
const MARK: &str = "quorumlock:shared";
/// The beginning of what is under the key of a resource that is kept for the next in turn: no holder.
const KEPT: &str = "quorumlock:next:";
/// The beginning of what is under the key of a resource that its last holder keeps closed.
const DONE: &str = "quorumlock:done:";
/// The beginning of the key of a resource's readers.
const READERS: &str = "quorumlock:readers:";

/// Part of the crate's own keys: agreement, fences, hints, readers, queues, and the slots of semaphores.
const OWN: &str = "quorumlock:";
/// The beginning of a slot's key, which is locked like any other. Its number follows, and the
/// semaphore.
const SLOT: &str = "quorumlock:slot:";

/// Watches until it is dropped.
pub(crate) async fn watch(containers: &Containers, journal: &Journal) {
    loop {
        let scans = (0..containers.len()).map(|node| async move {
            let began = now();
            let scan = tokio::time::timeout(PATIENCE, scan(containers, node, "")).await;
            let until = now();
            if between(began, until) > IN_TIME || !matches!(scan, Ok(Ok(_))) {
                journal.note_at(began, &format!("m{node}"), What::Silent { until });
            }
            if let Ok(Ok(keys)) = scan
                && between(began, until) <= PATIENCE
            {
                note(journal, node, began, keys, is_locked);
            }
        });
        join_all(scans).await;
        tokio::time::sleep(EVERY).await;
    }
}

/// Looks once, when all are up: each must answer.
pub(crate) async fn look_for_locks(containers: &Containers, journal: &Journal) {
    look(containers, journal, is_locked).await;
}

/// Looks once, at the end: for everything but what outlives its clients.
pub(crate) async fn look_for_anything(containers: &Containers, journal: &Journal) {
    look(containers, journal, |key, _| !outlives_clients(key)).await;
}

pub(crate) fn is_locked(key: &str, value: &str) -> bool {
    let is_lock = !key.contains(OWN) || key.starts_with(SLOT) || key.starts_with(READERS);
    is_lock && !value.starts_with(KEPT)
}

async fn look(containers: &Containers, journal: &Journal, counts: fn(&str, &str) -> bool) {
    let scans = (0..containers.len()).map(|node| async move {
        let (began, keys) = (now(), scan(containers, node, "").await);
        let silent = |error| panic!("master {node} is up and does not answer: {error}");
        note(journal, node, began, keys.unwrap_or_else(silent), counts);
    });
    join_all(scans).await;
}

/// Returns the keys and their values, without those that begin like this.
pub(crate) async fn scan(
    containers: &Containers,
    node: usize,
    except: &str,
) -> redis::RedisResult<Vec<(String, String)>> {
    containers.ask(node, redis::cmd("EVAL").arg(SCAN).arg(0).arg(except)).await
}

fn note(
    journal: &Journal,
    node: usize,
    began: Nanos,
    keys: Vec<(String, String)>,
    counts: impl Fn(&str, &str) -> bool,
) {
    let keys = keys.into_iter().filter(|(key, value)| counts(key, value) && value != MARK);
    let mut seen = BTreeSet::new();
    for (key, value) in keys {
        // The token, followed by the label.
        let value = value.strip_prefix(DONE).unwrap_or(&value);
        let holder = value.split_once(':').map_or("?", |(_, label)| label).to_owned();
        let slot = key.strip_prefix(SLOT).and_then(|slot| slot.split_once(':'));
        let read = key.strip_prefix(READERS);
        let resource = slot.map(|(_, semaphore)| semaphore).or(read).unwrap_or(&key).to_owned();
        // Of thousands one line says enough.
        let resource = if resource.starts_with(BURST) { BURST.to_owned() } else { resource };
        if seen.insert((resource.clone(), holder.clone())) {
            let what = What::Has { resource, holder };
            journal.note_at(began, &format!("m{node}"), what);
        }
    }
}

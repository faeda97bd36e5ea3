//! What the answers mean. No I/O.

use super::question::{Heard, Question, TimeSample};
use super::{ClockOffset, Finding, FindingKind, NodePreflight, Persistence, Right, Role};
use crate::coordinator::wire;
use redis::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

/// What is compared with what the masters say.
#[derive(Clone, Copy)]
pub(super) struct Bounds {
    /// How far the clocks of two masters may be apart.
    pub(super) clocks: Duration,
    /// How long a master that may have lost its memory must not vote.
    pub(super) stays_away: Duration,
}

/// The oldest version whose answers are known here.
const OLDEST: (u64, u64) = (6, 2);

/// Uptime is told in whole seconds, rounded up by as much.
const UPTIME_STEP: Duration = Duration::from_secs(1);

/// One master by itself.
pub(super) fn judge(node: Arc<str>, heard: &Heard, bounds: Bounds) -> NodePreflight {
    let mut judged = NodePreflight::new(node);
    judged.findings.extend(heard.ended.clone().map(Finding::from));
    if heard.hello.is_some() {
        let answers = Answers(heard);
        answers.identity(&mut judged, bounds);
        answers.replication(&mut judged);
        answers.eviction(&mut judged);
        answers.persistence(&mut judged, bounds);
        answers.clock(&mut judged, bounds);
        answers.rights(&mut judged);
    }
    judged
}

/// What only shows beside the others: the same server twice, at both; clocks that are far apart.
pub(super) fn compare(nodes: &mut [NodePreflight], bounds: Bounds) -> Vec<Finding> {
    let ids: Vec<_> = nodes.iter().map(|one| (one.node.clone(), one.run_id.clone())).collect();
    for (place, node) in nodes.iter_mut().enumerate() {
        let others = ids.iter().enumerate().filter(|(other, _)| *other != place);
        let mut twins = others.filter(|(_, (_, id))| id.is_some() && *id == node.run_id);
        if let Some((_, (twin, _))) = twins.next() {
            node.find(FindingKind::SameServer(twin.clone()));
        }
    }
    let clocks = || nodes.iter().filter_map(|node| Some((node.clock?, &node.node)));
    let (Some((least, behind)), Some((most, ahead))) = (clocks().min(), clocks().max()) else {
        return Vec::new();
    };
    let by = Duration::from_micros(most.0.abs_diff(least.0));
    let apart = || FindingKind::ClocksApart {
        behind: behind.clone(),
        ahead: ahead.clone(),
        by,
        bound: bounds.clocks,
    };
    (by > bounds.clocks).then(|| apart().into()).into_iter().collect()
}

struct Answers<'a>(&'a Heard);

impl Answers<'_> {
    /// A field of an INFO reply.
    fn info(&self, section: Question, field: &str) -> Option<&str> {
        wire::info_field(wire::text(self.0.answers.get(&section)?)?, field)
    }

    fn config(&self, pattern: Question, name: &str) -> Option<&str> {
        entry(self.0.answers.get(&pattern)?, name)
    }

    fn hello(&self, field: &str) -> Option<&str> {
        entry(self.0.hello.as_ref()?, field)
    }

    fn identity(&self, judged: &mut NodePreflight, bounds: Bounds) {
        let version = self.info(Question::InfoServer, "redis_version");
        judged.version = version.or_else(|| self.hello("version")).map(Arc::from);
        if let Some(version) = judged.version.clone()
            && parsed(&version).is_some_and(|it| it < OLDEST)
        {
            judged.find(FindingKind::TooOld(version));
        }
        judged.run_id = self.info(Question::InfoServer, "run_id").map(Arc::from);
        let uptime = self.info(Question::InfoServer, "uptime_in_seconds");
        judged.uptime = uptime.and_then(|text| text.parse().ok()).map(Duration::from_secs);
        if let Some(uptime) = judged.uptime {
            let surely = uptime.saturating_sub(UPTIME_STEP);
            let votes_in = bounds.stays_away.saturating_sub(surely);
            if !votes_in.is_zero() {
                judged.find(FindingKind::JustStarted { uptime, votes_in });
            }
        }
    }

    fn replication(&self, judged: &mut NodePreflight) {
        let field = |name| self.info(Question::InfoReplication, name);
        judged.role = match field("role").or_else(|| self.hello("role")) {
            Some("master") => Some(Role::Master),
            Some("slave" | "replica") => Some(Role::Replica),
            _ => None,
        };
        if judged.role == Some(Role::Replica) {
            let master = field("master_host")
                .map(|host| Arc::from(format!("{host}:{}", field("master_port").unwrap_or("?"))));
            judged.find(FindingKind::Replica(master));
        } else if field("master_replid2").is_some_and(|id| id.bytes().any(|byte| byte != b'0')) {
            judged.find(FindingKind::Promoted);
        }
        judged.replicas = field("connected_slaves").and_then(|count| count.parse().ok());
        if let Some(count) = judged.replicas.filter(|count| *count > 0) {
            judged.find(FindingKind::HasReplicas(count));
        }
    }

    fn eviction(&self, judged: &mut NodePreflight) {
        let field = |in_info, in_config| {
            let configured = || self.config(Question::ConfigMemory, in_config);
            self.info(Question::InfoMemory, in_info).or_else(configured)
        };
        let limit = field("maxmemory", "maxmemory").and_then(|bytes| bytes.parse::<u64>().ok());
        let policy = field("maxmemory_policy", "maxmemory-policy");
        match (limit, policy) {
            (Some(0), _) | (_, Some("noeviction")) => {}
            (Some(maxmemory), Some(policy)) => {
                judged.find(FindingKind::Evicts { maxmemory, policy: policy.into() });
            }
            _ if self.0.ended.is_some() => {}
            _ => judged.find(FindingKind::EvictionUntold),
        }
    }

    fn persistence(&self, judged: &mut NodePreflight, bounds: Bounds) {
        let configured = self.config(Question::ConfigAppend, "appendonly");
        let appends =
            match configured.or_else(|| self.info(Question::InfoPersistence, "aof_enabled")) {
                Some("yes" | "1") => true,
                Some("no" | "0") => false,
                _ => return,
            };
        let persistence = match self.config(Question::ConfigAppend, "appendfsync") {
            _ if !appends => Persistence::Nothing,
            Some("always") => Persistence::EveryWrite,
            appendfsync => Persistence::Later(appendfsync.map(Arc::from)),
        };
        judged.persistence = Some(persistence.clone());
        if persistence != Persistence::EveryWrite {
            judged.find(FindingKind::Forgets { persistence, stays_away: bounds.stays_away });
        }
    }

    fn clock(&self, judged: &mut NodePreflight, bounds: Bounds) {
        let Some(sample) = &self.0.time else { return };
        judged.round_trip = Some(sample.round_trip);
        judged.clock = offset(sample);
        if let Some(clock) = judged.clock.filter(|clock| clock.distance() > bounds.clocks / 2) {
            judged.find(FindingKind::ClockOff(clock));
        }
    }

    fn rights(&self, judged: &mut NodePreflight) {
        let time = self.0.time.iter().map(|sample| (Right::Time, &sample.reply));
        let others = self.0.answers.iter().map(|(question, reply)| (question.right(), reply));
        let mut refused: BTreeMap<Right, (Arc<str>, bool)> = BTreeMap::new();
        for (right, reply) in others.chain(time) {
            if let Some(error) = wire::error(reply) {
                let withheld = is_withheld(reply, &error);
                refused.entry(right).or_insert((error, withheld));
            }
        }
        let withheld = |right| refused.get(&right).is_some_and(|(_, withheld)| *withheld);
        let mut told = BTreeSet::new();
        for (&right, (error, is_withheld)) in &refused {
            let error = error.clone();
            if *is_withheld {
                // Without EVAL there is no script to ask within.
                if right != Right::ScriptTime || !withheld(Right::Eval) {
                    judged.find(FindingKind::Withheld { right, error });
                }
                continue;
            }
            let expected = match code(&error) {
                "READONLY" => judged.role == Some(Role::Replica),
                "NOSCRIPT" => refused.contains_key(&Right::ScriptLoad),
                // Nobody has this id.
                _ => right == Right::ClientKill,
            };
            // What ails the whole master (LOADING, MISCONF, BUSY) is told once, where it is worst.
            if !expected && told.insert(code(&error).to_owned()) {
                judged.find(FindingKind::Fails { right, error });
            }
        }
    }
}

/// A field of a map, as HELLO and CONFIG GET answer.
fn entry<'a>(reply: &'a Value, name: &str) -> Option<&'a str> {
    let Value::Map(fields) = reply else { return None };
    let (_, value) = fields.iter().find(|(field, _)| wire::text(field) == Some(name))?;
    wire::text(value)
}

fn parsed(version: &str) -> Option<(u64, u64)> {
    let mut numbers = version.split('.');
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

/// Where the server stood in the middle of the round trip, beside us.
fn offset(sample: &TimeSample) -> Option<ClockOffset> {
    let Value::Array(parts) = &sample.reply else { return None };
    let [seconds, micros] = &parts[..] else { return None };
    let number = |part| wire::text(part)?.parse::<i64>().ok();
    let theirs = number(seconds)?.checked_mul(1_000_000)?.checked_add(number(micros)?)?;
    let ours = i64::try_from((sample.asked_at + sample.round_trip / 2).as_micros()).ok()?;
    theirs.checked_sub(ours).map(ClockOffset)
}

/// The command, or one within the script, is not for our user or not known.
fn is_withheld(reply: &Value, error: &str) -> bool {
    let within_a_script = [
        "The user executing the script can't", // 6.2 and 7.0
        "ACL failure in script",               // from 7.2 on
        "Unknown Redis command called from script",
    ];
    wire::is_denied(reply) || within_a_script.iter().any(|words| error.contains(words))
}

fn code(error: &str) -> &str {
    match error.split(' ').next() {
        Some("ERR") | None => error,
        Some(code) => code,
    }
}

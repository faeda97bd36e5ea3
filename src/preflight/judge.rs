//! The meaning of the answers. No I/O.

mod rights;

use super::question::{Heard, Question, TimeSample};
use super::{ClockOffset, Finding, FindingKind, NodePreflight, Persistence, Role};
use quorumlock_core::coordinator::wire::Reply;
use quorumlock_core::coordinator::{RestartGuard, Terms, wire};
use std::sync::Arc;
use std::time::Duration;

/// The bounds that the masters' answers are compared with.
pub(super) struct Bounds {
    /// The distance allowed between the clocks of two masters.
    pub(super) clocks: Duration,
    /// The time for which a master that may have lost its memory must not vote.
    pub(super) stays_away: Duration,
    /// The setting that keeps it from voting.
    pub(super) restart_guard: RestartGuard,
    /// The terms that all clients of a master must have in common.
    pub(super) terms: Terms,
}

/// The oldest version whose answers are known here.
const OLDEST: (u64, u64) = (6, 2);

/// The step of an uptime: it is reported in whole seconds, and rounded up by as much.
const UPTIME_STEP: Duration = Duration::from_secs(1);

/// Judges one master by itself.
pub(super) fn judge(node: Arc<str>, heard: &Heard, bounds: &Bounds) -> NodePreflight {
    let mut judged = NodePreflight::new(node);
    judged.findings.extend(heard.ended.clone().map(Finding::from));
    if heard.hello.is_some() {
        let answers = Answers(heard);
        answers.identity(&mut judged);
        judged.persistence = answers.kept();
        answers.standing(&mut judged, bounds);
        answers.replication(&mut judged);
        answers.eviction(&mut judged);
        answers.persistence(&mut judged, bounds);
        answers.agreement(&mut judged, bounds);
        answers.clock(&mut judged, bounds);
        answers.rights(&mut judged);
    }
    judged
}

/// Finds what only shows in comparison: the same server twice, at both; clocks that are far apart.
pub(super) fn compare(nodes: &mut [NodePreflight], bounds: &Bounds) -> Vec<Finding> {
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
    /// Returns a field of an INFO reply.
    fn info(&self, section: Question, field: &str) -> Option<&str> {
        wire::info_field(self.0.answers.get(&section)?.text()?, field)
    }

    fn config(&self, pattern: Question, name: &str) -> Option<&str> {
        self.0.answers.get(&pattern)?.field(name)
    }

    fn hello(&self, field: &str) -> Option<&str> {
        self.0.hello.as_ref()?.field(field)
    }

    fn identity(&self, judged: &mut NodePreflight) {
        let told = |field: &str| self.info(Question::InfoServer, field);
        let server = told("server_name").or_else(|| self.hello("server"));
        judged.server = server.map(capitalised);
        // A server that is not Redis also reports a version that it is compatible with.
        let its_own = told("server_name").and_then(|name| told(&format!("{name}_version")));
        let version = its_own.or_else(|| told("redis_version"));
        judged.version = version.or_else(|| self.hello("version")).map(Arc::from);
        if let Some(version) = judged.version.clone()
            && parsed(&version).is_some_and(|it| it < OLDEST)
        {
            judged.find(FindingKind::TooOld(version));
        }
        judged.run_id = self.info(Question::InfoServer, "run_id").map(Arc::from);
        let uptime = self.info(Question::InfoServer, "uptime_in_seconds");
        // Negative on a master whose clock was set back.
        let seconds = uptime.and_then(|text| text.parse::<i64>().ok());
        let seconds = seconds.map(|seconds| u64::try_from(seconds).unwrap_or(0));
        judged.uptime = seconds.map(Duration::from_secs);
    }

    /// Judges whether it votes, as far as its age and its persistence are concerned.
    fn standing(&self, judged: &mut NodePreflight, bounds: &Bounds) {
        let keeps_all = judged.persistence == Some(Persistence::EveryWrite);
        let guarded = match bounds.restart_guard {
            RestartGuard::TrustPersistence if self.breaks_trust() => return,
            RestartGuard::TrustPersistence | RestartGuard::Off if keeps_all => return,
            RestartGuard::Off => false,
            _ => true,
        };
        let Some(uptime) = judged.uptime else { return };
        let votes_in = bounds.stays_away.saturating_sub(uptime.saturating_sub(UPTIME_STEP));
        if !votes_in.is_zero() {
            let votes_in = guarded.then_some(votes_in);
            judged.find(FindingKind::JustStarted { uptime, votes_in });
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
            (_, Some("noeviction")) | (Some(0), None) => {}
            (Some(0), Some(policy)) => judged.find(FindingKind::WouldEvict(policy.into())),
            (Some(maxmemory), Some(policy)) => {
                judged.find(FindingKind::Evicts { maxmemory, policy: policy.into() });
            }
            _ if self.0.ended.is_some() => {}
            _ => judged.find(FindingKind::EvictionUntold),
        }
    }

    /// Returns what it keeps across a restart.
    fn kept(&self) -> Option<Persistence> {
        let config = |name| self.config(Question::ConfigAppend, name);
        let informed = || self.info(Question::InfoPersistence, "aof_enabled");
        match config("appendonly").or_else(informed)? {
            "no" | "0" => return Some(Persistence::Nothing),
            "yes" | "1" => {}
            _ => return None,
        }
        Some(match (config("appendfsync"), config("no-appendfsync-on-rewrite")) {
            (Some("always"), Some("no")) => Persistence::EveryWrite,
            (Some("always"), Some(_)) => Persistence::NotInRewrites,
            (appendfsync, _) => Persistence::Later(appendfsync.map(Arc::from)),
        })
    }

    /// Checks whether its configuration contradicts `trust_persistence()`. A configuration that it
    /// may not report does not: the master then waits after each start, as it does without that
    /// setting.
    fn breaks_trust(&self) -> bool {
        let needed =
            [("appendonly", "yes"), ("appendfsync", "always"), ("no-appendfsync-on-rewrite", "no")];
        let told = |name| self.config(Question::ConfigAppend, name);
        needed.iter().any(|(name, wanted)| told(name).is_some_and(|told| told != *wanted))
    }

    fn persistence(&self, judged: &mut NodePreflight, bounds: &Bounds) {
        let kept = judged.persistence.clone();
        let Some(persistence) = kept.filter(|kept| *kept != Persistence::EveryWrite) else {
            return;
        };
        let guard = bounds.restart_guard;
        judged.find(if guard == RestartGuard::TrustPersistence && self.breaks_trust() {
            FindingKind::NotPersistent(persistence)
        } else {
            let stays_away = (guard != RestartGuard::Off).then_some(bounds.stays_away);
            FindingKind::Forgets { persistence, stays_away }
        });
    }

    /// Compares what other clients of it have recorded there.
    fn agreement(&self, judged: &mut NodePreflight, bounds: &Bounds) {
        let noted = self.0.answers.get(&Question::Noted);
        let now = self.0.time.as_ref().and_then(TimeSample::shown);
        let (Some(noted), Some(now)) = (noted, now) else { return };
        let left = match self.0.answers.get(&Question::NotedLife) {
            Some(Reply::Int(left)) => Duration::from_millis(u64::try_from(*left).unwrap_or(0)),
            _ => bounds.terms.life,
        };
        for difference in bounds.terms.differences(noted, left, now) {
            judged.find(FindingKind::Disagrees(difference));
        }
    }

    fn clock(&self, judged: &mut NodePreflight, bounds: &Bounds) {
        let Some(sample) = &self.0.time else { return };
        judged.round_trip = Some(sample.round_trip);
        judged.clock = offset(sample);
        if let Some(clock) = judged.clock.filter(|clock| clock.distance() > bounds.clocks / 2) {
            judged.find(FindingKind::ClockOff(clock));
        }
    }
}

/// Capitalises a name that servers write in lower case.
fn capitalised(name: &str) -> Arc<str> {
    let mut letters = name.chars();
    let first = letters.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(letters).collect::<String>().into()
}

fn parsed(version: &str) -> Option<(u64, u64)> {
    let mut numbers = version.split('.');
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

/// Returns the offset of the server's clock from ours in the middle of the round trip.
fn offset(sample: &TimeSample) -> Option<ClockOffset> {
    let theirs = i64::try_from(sample.shown()?.as_micros()).ok()?;
    let ours = i64::try_from((sample.asked_at + sample.round_trip / 2).as_micros()).ok()?;
    theirs.checked_sub(ours).map(ClockOffset)
}

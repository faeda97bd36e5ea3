//! Judges the answers, without I/O.

use super::question::{Heard, Question, TimeSample};
use super::{
    ClockOffset, Difference, Finding, FindingKind, NodePreflight, Permission, Persistence, Role,
};
use crate::options::Options;
use quorumlock_core::coordinator::wire::{self, Reply};
use quorumlock_core::coordinator::{RestartGuard, ServerFacts, SharedSettings};
use quorumlock_core::quorum::standing::Start;
use quorumlock_core::quorum::{ClockDrift, Instant};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

/// The number of round trips that must fit an operation timeout: the measured one is the shortest of several, with
/// nothing else under way.
const TRIPS_PER_OPERATION: u32 = 2;

/// The number of round trips until a connection is open for votes: TCP, TLS, the database, and the first questions.
const TRIPS_PER_CONNECTION: u32 = 4;

/// Suggested values are multiples of this, so that masters at about the same distance have the same finding.
const STEP: Duration = Duration::from_millis(100);

/// The oldest version whose answers this crate knows.
const OLDEST: (u64, u64) = (6, 2);

/// The first versions that read their append-only file whatever the user `default` may do. (The
/// release notes of Redis 8.6 name its pull request 14545. Valkey 8.1.1 drops transactions, and
/// 9.1.2 does not.)
const REDIS_REPLAYS_ALL: (u64, u64, u64) = (8, 6, 0);
const VALKEY_REPLAYS_ALL: (u64, u64, u64) = (9, 1, 2);

/// Judges one master by itself.
pub(super) fn judge(
    node: Arc<str>,
    heard: &Heard,
    options: &Options,
    shared: &SharedSettings,
) -> NodePreflight {
    let facts = heard.facts();
    let mut judged = NodePreflight::new(node, &facts);
    judged.round_trip = heard.time().map(|sample| sample.round_trip);
    judged.clock = heard.time().and_then(offset);
    let off = judged.clock.filter(|clock| clock.distance() > options.fencing_window.width() / 2);
    let mut found = Vec::from_iter(heard.ended.clone());
    found.extend(too_old(&facts));
    found.extend(just_started(&facts, options));
    found.extend(nearly_full(heard));
    found.extend(judged.round_trip.into_iter().flat_map(|trip| too_short(trip, options)));
    found.extend(not_alone(&facts));
    found.extend(facts.replicas.filter(|count| *count > 0).map(FindingKind::HasReplicas));
    found.extend(eviction(&facts, heard.ended.is_some()));
    found.extend(forgets(&facts, options));
    found.extend(differences(heard, shared).into_iter().map(FindingKind::Disagrees));
    found.extend(off.map(FindingKind::ClockOff));
    found.extend(clock_speed(&heard.times, options.drift));
    let replays = replays_as_default(&facts, options);
    found.extend(drops_transactions(heard).filter(|_| replays));
    found.extend(lacking(heard, facts.role == Some(Role::Replica), replays));
    judged.findings = found.into_iter().map(Finding::from).collect();
    judged
}

/// Finds what only shows in comparison: the same server twice, at both; clocks that are far apart.
pub(super) fn compare(nodes: &mut [NodePreflight], options: &Options) -> Vec<Finding> {
    let ids: Vec<_> = nodes.iter().map(|node| (node.node.clone(), node.run_id.clone())).collect();
    for (place, node) in nodes.iter_mut().enumerate() {
        let mut others = ids.iter().enumerate().filter(|(other, _)| *other != place);
        let twin = others.find(|(_, (_, id))| id.is_some() && *id == node.run_id);
        node.findings
            .extend(twin.map(|(_, (twin, _))| FindingKind::SameServer(twin.clone()).into()));
    }
    let clocks = || nodes.iter().filter_map(|node| Some((node.clock?, &node.node)));
    let (Some((least, behind)), Some((most, ahead))) = (clocks().min(), clocks().max()) else {
        return Vec::new();
    };
    let by = Duration::from_micros(most.0.abs_diff(least.0));
    let bound = options.fencing_window.width();
    let [behind, ahead] = [behind, ahead].map(Arc::clone);
    let apart = FindingKind::ClocksApart { behind, ahead, by, bound };
    (by > bound).then(|| apart.into()).into_iter().collect()
}

fn too_old(facts: &ServerFacts) -> Option<FindingKind> {
    let (major, minor, _) = version(facts)?;
    let is_old = (major, minor) < OLDEST;
    is_old.then(|| facts.version.clone().map(FindingKind::TooOld))?
}

/// Returns the server's own version in numbers; the third may be missing.
fn version(facts: &ServerFacts) -> Option<(u64, u64, u64)> {
    let mut numbers = facts.version.as_ref()?.split('.').map(|number| number.parse::<u64>().ok());
    Some((numbers.next()??, numbers.next()??, numbers.next().flatten().unwrap_or(0)))
}

/// Finds a master that may have started too recently to vote.
fn just_started(facts: &ServerFacts, options: &Options) -> Option<FindingKind> {
    let keeps_all = facts.persistence() == Some(Persistence::EveryWrite);
    match options.restart_guard {
        RestartGuard::TrustPersistence if facts.weakness().is_some() => return None,
        RestartGuard::TrustPersistence | RestartGuard::Off if keeps_all => return None,
        _ => {}
    }
    let uptime = facts.uptime?;
    let votes_in = warms_up_for(uptime, options.quarantine())?;
    let guarded = options.restart_guard != RestartGuard::Off;
    Some(FindingKind::JustStarted { uptime, votes_in: guarded.then_some(votes_in) })
}

/// Returns how long the restart guard keeps a master that reports this uptime from voting, if it
/// does.
pub(crate) fn warms_up_for(uptime: Duration, quarantine: Duration) -> Option<Duration> {
    let now = Instant::default();
    let left = Start::reported(now, uptime).votes_from(quarantine).since(now);
    (!left.is_zero()).then_some(left)
}

/// Finds a server that copies, or has copied, another one.
pub(crate) fn not_alone(facts: &ServerFacts) -> Option<FindingKind> {
    match facts.role {
        Some(Role::Replica) => Some(FindingKind::Replica(facts.replica_of.clone())),
        _ => facts.promoted.then_some(FindingKind::Promoted),
    }
}

/// Finds a server that has more than four fifths of the clients that it accepts.
fn nearly_full(heard: &Heard) -> Option<FindingKind> {
    let info = heard.answers.get(&Question::InfoClients)?.text()?;
    let number = |name: &str| wire::info_field(info, name)?.parse::<u64>().ok();
    let (clients, most) = (number("connected_clients")?, number("maxclients")?);
    let is_nearly_full = clients.saturating_mul(5) > most.saturating_mul(4);
    is_nearly_full.then_some(FindingKind::NearlyFull { clients, most })
}

/// Finds the options that are too short for a round trip.
fn too_short(trip: Duration, options: &Options) -> impl Iterator<Item = FindingKind> {
    // A round takes a tenth of the ttl at most.
    let rows = [
        ("operation_timeout", options.operation_timeout, 1, TRIPS_PER_OPERATION),
        ("ttl", options.ttl, 10, TRIPS_PER_OPERATION),
        ("connect_timeout", options.connect_timeout, 1, TRIPS_PER_CONNECTION),
    ];
    rows.into_iter().filter_map(move |(option, is, share, trips)| {
        let needs = trip.saturating_mul(trips * share);
        let steps = u32::try_from(needs.as_nanos().div_ceil(STEP.as_nanos())).unwrap_or(u32::MAX);
        let never_votes = trip.saturating_mul(share) >= is;
        let needs_more = || {
            let needs = STEP.saturating_mul(steps);
            FindingKind::TooShort { option, is, needs, never_votes }
        };
        (needs > is).then(needs_more)
    })
}

fn eviction(facts: &ServerFacts, ended: bool) -> Option<FindingKind> {
    match (facts.maxmemory, facts.maxmemory_policy.clone()) {
        (_, Some(policy)) if &*policy == "noeviction" => None,
        (Some(0), policy) => policy.map(FindingKind::WouldEvict),
        (Some(maxmemory), Some(policy)) => Some(FindingKind::Evicts { maxmemory, policy }),
        _ => (!ended).then_some(FindingKind::EvictionUntold),
    }
}

/// Finds a master that may lose keys in a restart.
fn forgets(facts: &ServerFacts, options: &Options) -> Option<FindingKind> {
    let persistence = facts.persistence().filter(|kept| *kept != Persistence::EveryWrite)?;
    let guard = options.restart_guard;
    Some(match guard {
        RestartGuard::TrustPersistence if facts.weakness().is_some() => {
            FindingKind::NotPersistent(persistence)
        }
        _ => {
            let stays_away = (guard != RestartGuard::Off).then_some(options.quarantine());
            FindingKind::Forgets { persistence, stays_away }
        }
    })
}

/// Returns whether locks rely on what the server reads from its append-only file, and the server
/// reads that as its user `default`: several writes of one script are a transaction there, which is
/// dropped if that user may not do it.
fn replays_as_default(facts: &ServerFacts, options: &Options) -> bool {
    let is_trusted = options.restart_guard == RestartGuard::TrustPersistence
        && facts.persistence() == Some(Persistence::EveryWrite);
    let first_without = match facts.name.as_deref() {
        Some("valkey") => VALKEY_REPLAYS_ALL,
        _ => REDIS_REPLAYS_ALL,
    };
    is_trusted && version(facts).is_none_or(|version| version < first_without)
}

/// Finds that the user `default` may not do what a fenced acquire does. A server that does not know
/// the question (6.2) reads its file as no user.
fn drops_transactions(heard: &Heard) -> Option<FindingKind> {
    let words = heard.answers.get(&Question::Replay)?.text()?;
    (words != "OK").then(|| FindingKind::DropsTransactions(words.into()))
}

/// Compares our settings with other clients' records at this master.
fn differences(heard: &Heard, shared: &SharedSettings) -> Vec<Difference> {
    let noted = heard.answers.get(&Question::Noted);
    let now = heard.time().and_then(TimeSample::shown);
    let (Some(noted), Some(now)) = (noted, now) else { return Vec::new() };
    let left = match heard.answers.get(&Question::NotedLife) {
        Some(Reply::Int(left)) => Duration::from_millis(u64::try_from(*left).unwrap_or(0)),
        _ => shared.life,
    };
    shared.differences(noted, left, now)
}

/// Returns the offset of the server's clock from ours in the middle of the round trip.
fn offset(sample: &TimeSample) -> Option<ClockOffset> {
    let theirs = i64::try_from(sample.shown()?.as_micros()).ok()?;
    let ours = i64::try_from((sample.asked_at + sample.round_trip / 2).as_micros()).ok()?;
    theirs.checked_sub(ours).map(ClockOffset)
}

/// Finds a clock that did not keep to the speed of ours, within the drift, between the last answer and one before. A
/// master reads its clock at some moment of the round trip, so the round trips bound the time passed on our clock.
fn clock_speed(times: &[TimeSample], drift: ClockDrift) -> Option<FindingKind> {
    let (last, before) = times.split_last()?;
    let shown = last.shown()?;
    before.iter().find_map(|first| {
        let (ours, theirs) = (last.asked.since(first.asked), shown.saturating_sub(first.shown()?));
        let (least, most) = (ours.saturating_sub(first.round_trip), ours + last.round_trip);
        let is_slow = theirs.saturating_add(drift.of(least)) < least;
        let is_fast = theirs > most.saturating_add(drift.of(most));
        (is_slow || is_fast).then_some(FindingKind::ClockSpeed { ours, theirs })
    })
}

/// Finds what our user may not do, and what fails for another reason.
fn lacking(heard: &Heard, is_replica: bool, replays: bool) -> Vec<FindingKind> {
    let time = heard.time().into_iter().map(|sample| (Permission::Time, &sample.reply));
    let others = heard.answers.iter().map(|(question, reply)| (question.permission(), reply));
    let surveyed = surveyed(heard);
    // The first error of each, and whether it is withheld.
    let mut refused: BTreeMap<Permission, (Arc<str>, bool)> = BTreeMap::new();
    for (permission, reply) in others.chain(time) {
        let Some(error) = reply.error() else { continue };
        // Servers that have no such command do not need it.
        let is_optional =
            matches!(permission, Permission::DelIfEq | Permission::DelEx | Permission::AclDryRun);
        let is_needless = is_optional && wire::is_unknown(error);
        // The survey names what a script lacks.
        let is_named = !surveyed.is_empty() && wire::is_denied_within_a_script(error);
        if !is_needless && !is_named {
            refused.entry(permission).or_insert_with(|| (error.clone(), reply.is_denied()));
        }
    }
    for (permission, error) in surveyed {
        refused.entry(permission).or_insert((error, true));
    }
    let has_scripts = !refused.contains_key(&Permission::ScriptLoad);
    let mut reported = BTreeSet::new();
    let finding = |(permission, (error, is_withheld)): (Permission, (Arc<str>, bool))| {
        if is_withheld {
            let matters = replays || permission != Permission::AclDryRun;
            return matters.then_some(FindingKind::Withheld { permission, error });
        }
        let is_new = match code(&error) {
            "READONLY" if is_replica => false,
            "NOSCRIPT" if !has_scripts => false,
            // A problem of the whole master (LOADING, MISCONF, BUSY) is reported once, where it is
            // worst.
            code => reported.insert(code.to_owned()),
        };
        is_new.then_some(FindingKind::Fails { permission, error })
    };
    refused.into_iter().filter_map(finding).collect()
}

/// Returns what is withheld from our scripts, call by call.
fn surveyed(heard: &Heard) -> Vec<(Permission, Arc<str>)> {
    let Some(Reply::Array(failed)) = heard.answers.get(&Question::Survey) else {
        return Vec::new();
    };
    let withheld = |failed: &Reply| {
        let Reply::Array(parts) = failed else { return None };
        let [command, error] = &parts[..] else { return None };
        let (command, error) = (command.text()?, error.text()?);
        let permission = Permission::named(command)?;
        wire::is_denied_within_a_script(error).then(|| (permission, error.into()))
    };
    failed.iter().filter_map(withheld).collect()
}

/// Returns the server's problem, in one word. For a command within a script, 6.2 reports it after
/// the position in the script.
fn code(error: &str) -> &str {
    let within = error.rsplit_once("@user_script: ").and_then(|(_, error)| error.split_once(": -"));
    match within.map(|(_line, error)| error).unwrap_or(error).split(' ').next() {
        Some("ERR") | None => error,
        Some(code) => code,
    }
}

//! Counters, gauges and histograms of the facade `metrics`.
//!
//! All of them are registered when a coordinator is created, at zero: a rate is then right from the
//! first loss on, and the hot path looks up no name. Gauges are moved up and down and never set, so
//! that several coordinators in a process add up.

use super::Ending;
use super::observer::{Held, Observer, Subject};
use crate::failure::{AcquireError, LossReason};
use crate::kind_name::KindName;
use metrics::{Counter, Gauge, Histogram, Unit, counter, gauge, histogram};
use metrics::{describe_counter, describe_gauge, describe_histogram};
use quorumlock_core::coordinator::{NotAdopted, Observation, Watching};
use quorumlock_core::status::{Margin, NodeStanding};
use std::sync::Arc;
use std::time::Duration;

/// The words of each label.
const ACQUIRES: [&str; 9] = [
    "acquired",
    "contended",
    "no_quorum",
    "disagreement",
    "overloaded",
    "invalid",
    "no_randomness",
    "closed",
    "cancelled",
];
const LOSSES: [&str; 3] = ["lapsed", "quorum_gone", "closed"];
const EXTENSIONS: [&str; 3] = ["extended", "unconfirmed", "lost"];
const RELEASES: [&str; 7] =
    ["released", "unconfirmed", "lost", "dropped", "forgotten", "idle", "detached"];
const ADOPTIONS: [&str; 4] = ["adopted", "held_here", "lost", "unconfirmed"];
const STANDINGS: [&str; 7] =
    ["voting", "warming_up", "unconfirmed", "unfit", "rejected", "disagrees", "down"];
const ROUNDS: [&str; 2] = ["open", "waiting"];
const MARGINS: [&str; 3] = ["spare", "bare", "none"];

/// Everything that is counted and measured.
pub(super) struct Meters {
    acquires: ByWord<Counter>,
    waits: ByWord<Histogram>,
    winning: Histogram,
    losses: ByWord<Counter>,
    extensions: ByWord<Counter>,
    releases: ByWord<Counter>,
    adoptions: ByWord<Counter>,
    held_for: Histogram,
    held: ByWord<Gauge>,
    idle: Gauge,
    rounds: ByWord<Gauge>,
    pauses: Counter,
    waiting: ByWord<Gauge>,
    nodes: Vec<Node>,
    quorum: ByWord<Gauge>,
}

struct Node {
    standing: ByWord<Gauge>,
    not_renewed: Gauge,
    owed: Gauge,
}

impl Meters {
    pub(super) fn new<'a>(names: impl Iterator<Item = &'a Arc<str>>) -> Self {
        const WAIT: &str = "quorumlock_acquire_wait_seconds";
        const QUORUM: &str = "quorumlock_quorum";
        const IDLE: &str = "quorumlock_idle_locks";
        const ROUNDS_NOW: &str = "quorumlock_rounds";
        const PAUSES: &str = "quorumlock_warm_pauses_total";
        describe_histogram!(
            WAIT,
            Unit::Seconds,
            "From the first poll of an acquire to its end: queueing and every attempt."
        );
        describe_gauge!(
            QUORUM,
            Unit::Count,
            "Coordinators of this process by whether their masters are a quorum with one to spare, \
             just a quorum, or none."
        );
        describe_gauge!(
            IDLE,
            Unit::Count,
            "Locks that were given back, and that this process keeps warm now."
        );
        describe_gauge!(
            ROUNDS_NOW,
            Unit::Count,
            "Rounds that ask masters for a lock now, and acquires that wait until this process has fewer of them."
        );
        describe_counter!(
            PAUSES,
            Unit::Count,
            "Times that a lock was not kept warm for a while, since others ask for it before that pays."
        );
        Self {
            acquires: counters(
                "quorumlock_acquires_total",
                "Acquires that have ended, by outcome.",
                "outcome",
                &ACQUIRES,
            ),
            waits: ByWord::new(&ACQUIRES, |word| histogram!(WAIT, "outcome" => word)),
            winning: seconds(
                "quorumlock_acquire_duration_seconds",
                "The attempt that won: from before its first byte to the quorum-th grant.",
            ),
            losses: counters(
                "quorumlock_lost_locks_total",
                "Locks that were lost while a guard was held, by reason.",
                "reason",
                &LOSSES,
            ),
            extensions: counters(
                "quorumlock_extensions_total",
                "Extensions of held locks, by outcome.",
                "outcome",
                &EXTENSIONS,
            ),
            releases: counters(
                "quorumlock_releases_total",
                "Guards that were given up, by outcome.",
                "outcome",
                &RELEASES,
            ),
            adoptions: counters(
                "quorumlock_adoptions_total",
                "Locks that were detached elsewhere and adopted, or not, by outcome.",
                "outcome",
                &ADOPTIONS,
            ),
            held_for: seconds(
                "quorumlock_hold_duration_seconds",
                "From the win of a lock to its end.",
            ),
            held: by_kind("quorumlock_held_locks", "Locks that this process holds now, by kind."),
            idle: gauge!(IDLE),
            rounds: ByWord::new(&ROUNDS, |word| gauge!(ROUNDS_NOW, "state" => word)),
            pauses: counter!(PAUSES),
            waiting: by_kind(
                "quorumlock_waiting_callers",
                "Callers of this process that wait for a lock now, by its kind.",
            ),
            nodes: nodes(names),
            quorum: ByWord::new(&MARGINS, |word| gauge!(QUORUM, "state" => word)),
        }
    }
}

impl Observer for Meters {
    fn watching(&self) -> Watching {
        Watching::Outcomes
    }

    fn acquire_ended(&self, ending: &Ending<'_>, outcome: &str, _: Option<&AcquireError>) {
        self.acquires.count(outcome);
        self.waits.get(outcome).inspect(|waits| waits.record(ending.waited));
    }

    fn observed(&self, observation: &Observation, _: &Subject<'_>) {
        match observation {
            Observation::Attempt { result: Ok(()), took, .. } => self.winning.record(*took),
            Observation::Extension { progress, .. } => self.extensions.count(progress.as_str()),
            Observation::PausesWarm => self.pauses.increment(1),
            _ => {}
        }
    }

    fn waits(&self, kind: KindName) {
        self.waiting.get(kind.as_str()).inspect(|gauge| gauge.increment(1.0));
    }

    fn waits_no_more(&self, kind: KindName) {
        self.waiting.get(kind.as_str()).inspect(|gauge| gauge.decrement(1.0));
    }

    fn held(&self, kind: KindName, before: usize, held: usize) {
        self.held.get(kind.as_str()).inspect(|gauge| moved(gauge, before, held));
    }

    fn idle(&self, before: usize, idle: usize) {
        moved(&self.idle, before, idle);
    }

    fn asks(&self, before: [usize; 2], rounds: [usize; 2]) {
        for ((_, gauge), (before, now)) in self.rounds.0.iter().zip(before.into_iter().zip(rounds))
        {
            moved(gauge, before, now);
        }
    }

    fn lost(&self, hold: &Held<'_>, reason: &LossReason) {
        self.losses.count(reason.as_str());
        self.held_for.record(hold.held);
    }

    fn given_up_in_time(&self, hold: &Held<'_>) {
        self.held_for.record(hold.held);
    }

    fn released(&self, _: Option<(&str, Duration)>, outcome: &str) {
        self.releases.count(outcome);
    }

    fn adopted(&self, _: &str, _: Duration, outcome: &str, _: Option<&NotAdopted>) {
        self.adoptions.count(outcome);
    }

    fn stands(&self, place: usize, _: &str, before: Option<&str>, standing: &NodeStanding) {
        if let Some(node) = self.nodes.get(place) {
            node.standing.changed(before, Some(standing.as_str()));
        }
    }

    fn renews(&self, place: usize, _: &str, had_problem: bool, problem: Option<&str>) {
        if let Some(node) = self.nodes.get(place) {
            moved(&node.not_renewed, had_problem.into(), problem.is_some().into());
        }
    }

    fn owes(&self, place: usize, _: &str, before: usize, owed: usize) {
        if let Some(node) = self.nodes.get(place) {
            moved(&node.owed, before, owed);
        }
    }

    fn quorum(&self, before: Option<Margin>, margin: Margin) {
        self.quorum.changed(before.map(Margin::as_str), Some(margin.as_str()));
    }

    fn forgotten(&self, place: usize, standing: Option<&str>, had_problem: bool, owed: usize) {
        if let Some(node) = self.nodes.get(place) {
            node.standing.changed(standing, None);
        }
        self.renews(place, "", had_problem, None);
        self.owes(place, "", owed, 0);
    }

    fn quorum_forgotten(&self, margin: Option<Margin>) {
        self.quorum.changed(margin.map(Margin::as_str), None);
    }
}

fn counters(
    name: &'static str,
    about: &'static str,
    label: &'static str,
    words: &[&'static str],
) -> ByWord<Counter> {
    describe_counter!(name, Unit::Count, about);
    ByWord::new(words, |word| counter!(name, label => word))
}

fn seconds(name: &'static str, about: &'static str) -> Histogram {
    describe_histogram!(name, Unit::Seconds, about);
    histogram!(name)
}

fn by_kind(name: &'static str, about: &'static str) -> ByWord<Gauge> {
    describe_gauge!(name, Unit::Count, about);
    ByWord::new(&KindName::ALL.map(KindName::as_str), |word| gauge!(name, "kind" => word))
}

/// Moves the gauge by the difference.
fn moved(gauge: &Gauge, before: usize, now: usize) {
    #[allow(clippy::cast_precision_loss)] // Bounded far below what a float can count.
    gauge.increment(now as f64 - before as f64);
}

fn nodes<'a>(names: impl Iterator<Item = &'a Arc<str>>) -> Vec<Node> {
    const STANDING: &str = "quorumlock_node_standing";
    const NOT_RENEWED: &str = "quorumlock_credentials_not_renewed";
    const OWED: &str = "quorumlock_owed_rollbacks";
    describe_gauge!(
        STANDING,
        Unit::Count,
        "Coordinators of this process for which the master stands like this."
    );
    describe_gauge!(
        NOT_RENEWED,
        Unit::Count,
        "Coordinators of this process that have no credentials which the master accepts in place of \
         those that end."
    );
    describe_gauge!(
        OWED,
        Unit::Count,
        "Rollbacks and releases that wait until they can be sent to the master."
    );
    let node = |name: &Arc<str>| {
        let standing = |word: &'static str| {
            let labels = [("node", name.to_string()), ("standing", word.to_owned())];
            gauge!(STANDING, &labels)
        };
        Node {
            standing: ByWord::new(&STANDINGS, standing),
            not_renewed: gauge!(NOT_RENEWED, "node" => name.to_string()),
            owed: gauge!(OWED, "node" => name.to_string()),
        }
    };
    names.map(node).collect()
}

/// A meter for each word of a label.
struct ByWord<T>(Vec<(&'static str, T)>);

impl<T> ByWord<T> {
    fn new(words: &[&'static str], meter: impl Fn(&'static str) -> T) -> Self {
        Self(words.iter().map(|word| (*word, meter(word))).collect())
    }

    fn get(&self, word: &str) -> Option<&T> {
        self.0.iter().find(|(key, _)| *key == word).map(|(_, meter)| meter)
    }
}

impl ByWord<Counter> {
    fn count(&self, word: &str) {
        self.get(word).inspect(|counter| counter.increment(1));
    }
}

impl ByWord<Gauge> {
    fn changed(&self, before: Option<&str>, word: Option<&str>) {
        before.and_then(|word| self.get(word)).inspect(|gauge| gauge.decrement(1.0));
        word.and_then(|word| self.get(word)).inspect(|gauge| gauge.increment(1.0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::NodeReport;
    use quorumlock_core::coordinator::Release;
    use quorumlock_core::quorum::{Instant, Progress};

    #[test]
    fn every_word_has_its_meter() {
        let (nodes, cause): (Vec<NodeReport>, Arc<str>) = (Vec::new(), "".into());
        let lost = [LossReason::Lapsed, LossReason::QuorumGone(nodes.clone()), LossReason::Closed];
        assert_eq!(lost.each_ref().map(LossReason::as_str), LOSSES);
        let extended = Progress::Extended(Instant::default());
        let extensions = [extended, Progress::Unconfirmed, Progress::Lost];
        assert_eq!(extensions.map(Progress::as_str), EXTENSIONS);
        let closed = lost[0].clone();
        let releases = [Release::Released, Release::Unconfirmed(nodes), Release::Lost(closed)];
        assert_eq!(releases.each_ref().map(Release::as_str), RELEASES[..3]);
        let [_, gone, _] = lost;
        let refused =
            [NotAdopted::HeldHere, NotAdopted::Lost(gone), NotAdopted::Unconfirmed(Vec::new())];
        assert_eq!(refused.each_ref().map(NotAdopted::as_str), ADOPTIONS[1..]);
        let standings = [
            NodeStanding::Voting,
            NodeStanding::WarmingUp { remaining: Duration::ZERO },
            NodeStanding::Unconfirmed,
            NodeStanding::Unfit(cause.clone()),
            NodeStanding::Rejected(cause.clone()),
            NodeStanding::Disagrees(cause.clone()),
            NodeStanding::Down(cause),
        ];
        assert_eq!(standings.each_ref().map(NodeStanding::as_str), STANDINGS);
        assert_eq!([Margin::Spare, Margin::Bare, Margin::None].map(Margin::as_str), MARGINS);
    }
}

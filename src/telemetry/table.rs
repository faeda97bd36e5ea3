//! The metrics: a row for each.

use crate::kind_name::KindName;

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
pub(super) const LOSSES: [&str; 3] = ["lapsed", "quorum_gone", "closed"];
pub(super) const EXTENSIONS: [&str; 3] = ["extended", "unconfirmed", "lost"];
pub(super) const RELEASES: [&str; 7] =
    ["released", "unconfirmed", "lost", "dropped", "forgotten", "idle", "detached"];
pub(super) const ADOPTIONS: [&str; 4] = ["adopted", "held_here", "lost", "unconfirmed"];
pub(super) const STANDINGS: [&str; 7] =
    ["voting", "warming_up", "unconfirmed", "unfit", "rejected", "disagrees", "down"];
const ROUNDS: [&str; 2] = ["open", "waiting"];
pub(super) const MARGINS: [&str; 3] = ["spare", "bare", "none"];
/// One meter, without a label.
const NONE: [&str; 1] = [""];

/// Gauges are moved up and down and never set, so that several coordinators in a process add up. A histogram is
/// of seconds.
#[derive(Clone, Copy)]
pub(super) enum Type {
    Counter,
    Gauge,
    NodesGauge,
    Histogram,
}

pub(super) struct Row {
    pub(super) metric: Type,
    pub(super) name: &'static str,
    pub(super) label: &'static str,
    pub(super) words: &'static [&'static str],
    pub(super) about: &'static str,
}

macro_rules! table {
    ($($row:ident = $metric:ident $name:literal, $label:literal: $words:expr, $about:literal;)*) => {
        /// A row of the table.
        #[derive(Clone, Copy)]
        pub(super) enum Metric {
            $($row),*
        }

        pub(super) const TABLE: &[Row] = &[$(Row {
            metric: Type::$metric,
            name: $name,
            label: $label,
            words: &$words,
            about: $about,
        }),*];
    };
}

table! {
    Acquires = Counter "quorumlock_acquires_total", "outcome": ACQUIRES,
        "Acquires that have ended, by outcome.";
    AcquireWait = Histogram "quorumlock_acquire_wait_seconds", "outcome": ACQUIRES,
        "From the first poll of an acquire to its end: queueing and every attempt.";
    AcquireDuration = Histogram "quorumlock_acquire_duration_seconds", "": NONE,
        "The attempt that won: from before its first byte to the quorum-th grant.";
    LostLocks = Counter "quorumlock_lost_locks_total", "reason": LOSSES,
        "Locks that were lost while a guard was held, by reason.";
    Extensions = Counter "quorumlock_extensions_total", "outcome": EXTENSIONS,
        "Extensions of held locks, by outcome.";
    Releases = Counter "quorumlock_releases_total", "outcome": RELEASES,
        "Guards that were given up, by outcome.";
    Adoptions = Counter "quorumlock_adoptions_total", "outcome": ADOPTIONS,
        "Locks that were detached elsewhere and adopted, or not, by outcome.";
    HoldDuration = Histogram "quorumlock_hold_duration_seconds", "": NONE,
        "From the win of a lock to its end.";
    HeldLocks = Gauge "quorumlock_held_locks", "kind": KindName::WORDS,
        "Locks that this process holds now, by kind.";
    IdleLocks = Gauge "quorumlock_idle_locks", "": NONE,
        "Locks that were given back, and that this process keeps warm now.";
    Rounds = Gauge "quorumlock_rounds", "state": ROUNDS,
        "Rounds that ask masters for a lock now, and acquires that wait until this process has fewer of them.";
    WarmPauses = Counter "quorumlock_warm_pauses_total", "": NONE,
        "Times that a lock was not kept warm for a while, since others ask for it before that pays.";
    WaitingCallers = Gauge "quorumlock_waiting_callers", "kind": KindName::WORDS,
        "Callers of this process that wait for a lock now, by its kind.";
    NodeStanding = NodesGauge "quorumlock_node_standing", "standing": STANDINGS,
        "Coordinators of this process for which the master stands like this.";
    NotRenewed = NodesGauge "quorumlock_credentials_not_renewed", "": NONE,
        "Coordinators of this process that have no credentials which the master accepts in place of those that end.";
    OwedRollbacks = NodesGauge "quorumlock_owed_rollbacks", "": NONE,
        "Rollbacks and releases that wait until they can be sent to the master.";
    Quorum = Gauge "quorumlock_quorum", "state": MARGINS,
        "Coordinators of this process by whether their masters are a quorum with one to spare, just a quorum, or none.";
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::LossReason;
    use crate::report::NodeReport;
    use quorumlock_core::coordinator::{NotAdopted, Release};
    use quorumlock_core::quorum::{Instant, Progress};
    use quorumlock_core::status::{Margin, NodeStanding};
    use std::sync::Arc;
    use std::time::Duration;

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

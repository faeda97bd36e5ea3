//! Happenings as counters, gauges and histograms of the facade `metrics`.
//!
//! All of them are registered when a coordinator is created, at zero: a rate is then right from the
//! first loss on, and the hot path looks up no name. Gauges are moved up and down and never set, so
//! that several coordinators in a process add up.

use super::happening::Happening;
use super::words::AttemptEnd;
use super::words::{AcquireEnd, ExtensionEnd, LossReason, Quorum, ReleaseEnd};
use metrics::{Counter, Gauge, Histogram, counter, gauge, histogram};
use metrics::{Unit, describe_counter, describe_gauge, describe_histogram};
use quorumlock_core::status::Standing;
use std::sync::Arc;

/// Everything that is counted and measured.
pub(super) struct Meters {
    acquires: Vec<Counter>,
    waits: Vec<Histogram>,
    winning: Histogram,
    losses: Vec<Counter>,
    extensions: Vec<Counter>,
    releases: Vec<Counter>,
    held: Histogram,
    nodes: Vec<Node>,
    quorum: Vec<Gauge>,
}

struct Node {
    standings: Vec<Gauge>,
    owed: Gauge,
}

impl Meters {
    pub(super) fn new<'a>(names: impl Iterator<Item = &'a Arc<str>>) -> Self {
        describe();
        let acquires = AcquireEnd::ALL.iter();
        let waits = acquires.clone();
        let extensions = ExtensionEnd::ALL.iter().map(|end| end.as_str());
        let releases = ReleaseEnd::ALL.iter().map(|end| end.as_str());
        let losses = LossReason::ALL.iter().map(|reason| reason.as_str());
        let quorum = Quorum::ALL.iter().map(|margin| margin.as_str());
        Self {
            acquires: acquires
                .map(|end| counter!("quorumlock_acquires_total", "outcome" => end.as_str()))
                .collect(),
            waits: waits
                .map(|end| histogram!("quorumlock_acquire_wait_seconds", "outcome" => end.as_str()))
                .collect(),
            winning: histogram!("quorumlock_acquire_duration_seconds"),
            losses: losses
                .map(|reason| counter!("quorumlock_lost_locks_total", "reason" => reason))
                .collect(),
            extensions: extensions
                .map(|end| counter!("quorumlock_extensions_total", "outcome" => end))
                .collect(),
            releases: releases
                .map(|end| counter!("quorumlock_releases_total", "outcome" => end))
                .collect(),
            held: histogram!("quorumlock_hold_duration_seconds"),
            nodes: names.map(Node::new).collect(),
            quorum: quorum.map(|state| gauge!("quorumlock_quorum", "state" => state)).collect(),
        }
    }

    pub(super) fn tell(&self, happening: &Happening<'_>) {
        match *happening {
            Happening::Attempted { verdict: AttemptEnd::Won, took, .. } => {
                self.winning.record(took);
            }
            Happening::Asked { end, waited, .. } => {
                count(&self.acquires, end as usize);
                if let Some(waits) = self.waits.get(end as usize) {
                    waits.record(waited);
                }
            }
            Happening::Extended { end, .. } => count(&self.extensions, end as usize),
            Happening::Lost { reason, held, .. } => {
                count(&self.losses, reason as usize);
                self.held.record(held);
            }
            Happening::GivenUp { held } => self.held.record(held),
            Happening::Released { end, .. } => count(&self.releases, end as usize),
            Happening::Stands { place, before, standing, .. } => {
                if let Some(node) = self.nodes.get(place) {
                    before.into_iter().for_each(|old| add(&node.standings, old as usize, -1.0));
                    add(&node.standings, standing.in_a_word() as usize, 1.0);
                }
            }
            Happening::Margin { before, margin } => {
                before.into_iter().for_each(|old| add(&self.quorum, old as usize, -1.0));
                add(&self.quorum, margin as usize, 1.0);
            }
            Happening::Owes { place, before, owed, .. } => self.owe(place, before, owed),
            Happening::Forgotten { place, standing, owed } => {
                if let (Some(node), Some(old)) = (self.nodes.get(place), standing) {
                    add(&node.standings, old as usize, -1.0);
                }
                self.owe(place, owed, 0);
            }
            Happening::MarginForgotten { margin } => add(&self.quorum, margin as usize, -1.0),
            Happening::Attempted { .. } | Happening::ToppedUp { .. } => {}
        }
    }

    fn owe(&self, place: usize, before: usize, owed: usize) {
        if let Some(node) = self.nodes.get(place) {
            #[allow(clippy::cast_precision_loss)] // Bounded far below what a float can count.
            node.owed.increment(owed as f64 - before as f64);
        }
    }
}

impl Node {
    fn new(name: &Arc<str>) -> Self {
        let standing = |standing: &Standing| {
            let labels = [("node", name.to_string()), ("standing", standing.as_str().to_owned())];
            gauge!("quorumlock_node_standing", &labels)
        };
        Self {
            standings: Standing::ALL.iter().map(standing).collect(),
            owed: gauge!("quorumlock_owed_rollbacks", "node" => name.to_string()),
        }
    }
}

fn count(counters: &[Counter], word: usize) {
    if let Some(counter) = counters.get(word) {
        counter.increment(1);
    }
}

fn add(gauges: &[Gauge], word: usize, by: f64) {
    if let Some(gauge) = gauges.get(word) {
        gauge.increment(by);
    }
}

fn describe() {
    describe_counter!(
        "quorumlock_acquires_total",
        Unit::Count,
        "Acquires that have ended, by outcome."
    );
    describe_histogram!(
        "quorumlock_acquire_wait_seconds",
        Unit::Seconds,
        "From the first poll of an acquire to its end: queueing and every attempt."
    );
    describe_histogram!(
        "quorumlock_acquire_duration_seconds",
        Unit::Seconds,
        "The attempt that won: from before its first byte to the quorum-th grant."
    );
    describe_counter!(
        "quorumlock_lost_locks_total",
        Unit::Count,
        "Locks that were lost while somebody held their guard, by reason."
    );
    describe_counter!(
        "quorumlock_extensions_total",
        Unit::Count,
        "Extensions of held locks, by outcome."
    );
    describe_counter!(
        "quorumlock_releases_total",
        Unit::Count,
        "Guards that were given up, by outcome."
    );
    describe_histogram!(
        "quorumlock_hold_duration_seconds",
        Unit::Seconds,
        "From the win of a lock to its end."
    );
    describe_gauge!(
        "quorumlock_node_standing",
        Unit::Count,
        "Coordinators of this process for which the master stands like this."
    );
    describe_gauge!(
        "quorumlock_owed_rollbacks",
        Unit::Count,
        "Rollbacks and releases that wait until they can be sent to the master."
    );
    describe_gauge!(
        "quorumlock_quorum",
        Unit::Count,
        "Coordinators of this process by whether their masters are a quorum with one to spare, \
         just a quorum, or none."
    );
}

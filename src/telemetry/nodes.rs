//! The standing of the nodes, as last reported: only changes are reported.

#[cfg(feature = "tracing")]
use super::redacted::Redacted;
use super::table::Metric;
use super::{NODE, Telemetry, ms};
use quorumlock_core::coordinator::Coordinator;
use quorumlock_core::quorum::Instant;
use quorumlock_core::status::{Margin, NodeStanding};
use std::sync::Arc;

/// A node as last reported.
pub(super) struct Node {
    name: Arc<str>,
    /// `None` until it has been reached or has failed, once.
    standing: Option<&'static str>,
    /// Why its credentials could not be renewed.
    problem: Option<Arc<str>>,
    owed: usize,
}

impl Node {
    pub(super) const fn new(name: Arc<str>) -> Self {
        Self { name, standing: None, problem: None, owed: 0 }
    }
}

impl Telemetry {
    /// Reports what has changed since the last look.
    pub(super) fn look(&mut self, machine: &Coordinator, now: Instant) {
        let (mut changed, outlet) = (false, &self.outlet);
        for (place, node) in self.nodes.iter_mut().enumerate() {
            let name = &*node.name;
            if let Some(standing) = machine.masters().standing(now, place)
                && node.standing != Some(standing.as_str())
            {
                changed = true;
                let before = node.standing.replace(standing.as_str());
                outlet.changed(Metric::NodeStanding, place, before, node.standing);
                log_standing(name, &standing);
            }
            let problem = machine.masters().renewal_problem(place);
            if node.problem.as_ref() != problem {
                let (before, now) = (node.problem.is_some(), problem.is_some());
                outlet.moved(Metric::NotRenewed, place, "", before.into(), now.into());
                node.problem = problem.cloned();
                match problem {
                    Some(cause) => {
                        event!(WARN NODE: node = name, cause = %Redacted(cause), "credentials not renewed");
                    }
                    None => event!(INFO NODE: node = name, "credentials renewed"),
                }
            }
            let owed = machine.masters().owed(place);
            if node.owed != owed {
                let before = std::mem::replace(&mut node.owed, owed);
                outlet.moved(Metric::OwedRollbacks, place, "", before, owed);
                match (before, owed) {
                    (0, _) => event!(INFO NODE: node = name, owed, "owes deletions"),
                    (_, 0) => event!(INFO NODE: node = name, settled = before, "owes nothing"),
                    _ => {}
                }
            }
        }
        // It follows from the standing of the nodes.
        if let Some(margin) = machine.masters().margin(now).filter(|_| changed)
            && self.margin != Some(margin)
        {
            let before = self.margin.replace(margin);
            let word = before.map(Margin::as_str);
            outlet.changed(Metric::Quorum, 0, word, Some(margin.as_str()));
            match (before, margin) {
                (_, Margin::None) => event!(WARN NODE: "no quorum"),
                (Some(Margin::None), _) => event!(INFO NODE: "quorum"),
                _ => {}
            }
        }
    }

    /// Revokes what was reported.
    pub(super) fn forget(&mut self) {
        let outlet = &self.outlet;
        for (place, node) in self.nodes.drain(..).enumerate() {
            outlet.changed(Metric::NodeStanding, place, node.standing, None);
            outlet.moved(Metric::NotRenewed, place, "", node.problem.is_some().into(), 0);
            outlet.moved(Metric::OwedRollbacks, place, "", node.owed, 0);
        }
        outlet.changed(Metric::Quorum, 0, self.margin.take().map(Margin::as_str), None);
    }
}

fn log_standing(node: &str, standing: &NodeStanding) {
    let word = standing.as_str();
    match standing {
        NodeStanding::Voting => event!(INFO NODE: node, "up"),
        NodeStanding::WarmingUp { remaining } => {
            event!(INFO NODE: node, left_ms = ms(*remaining), "warming up");
        }
        NodeStanding::Unconfirmed => event!(INFO NODE: node, "unconfirmed"),
        NodeStanding::Down(cause) => event!(WARN NODE: node, cause = %Redacted(cause), "down"),
        // An operator has to fix it.
        NodeStanding::Barred { by } => {
            let cause = format!("another client of {by} could win");
            event!(ERROR NODE: node, standing = word, cause = %Redacted(cause), "unfit");
        }
        _ => {
            let cause = standing.problem().unwrap_or_default();
            event!(ERROR NODE: node, standing = word, cause = %Redacted(cause), "unfit");
        }
    }
}

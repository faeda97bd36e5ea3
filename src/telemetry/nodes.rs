//! The standing of the nodes, as last reported: only changes are reported.

use super::Outlet;
#[cfg(feature = "tracing")]
use super::{
    redacted::Redacted,
    traced::{NODE, ms},
};
use crate::status::NodeStanding;
use quorumlock_core::coordinator::Coordinator;
use quorumlock_core::quorum::Instant;
use quorumlock_core::status::Margin;
use std::sync::Arc;
#[cfg(feature = "tracing")]
use tracing::{error, field, info, warn};

/// Every node as last reported, and the quorum that they form.
pub(super) struct Nodes {
    nodes: Vec<Node>,
    margin: Option<Margin>,
}

struct Node {
    name: Arc<str>,
    /// `None` until it has been reached or has failed, once.
    standing: Option<&'static str>,
    owed: usize,
}

impl Nodes {
    pub(super) fn new(names: impl Iterator<Item = Arc<str>>) -> Self {
        let nodes = names.map(|name| Node { name, standing: None, owed: 0 }).collect();
        Self { nodes, margin: None }
    }

    /// Reports what has changed since the last look.
    pub(super) fn look(&mut self, machine: &Coordinator, now: Instant, outlet: &Outlet) {
        let mut changed = false;
        for (place, node) in self.nodes.iter_mut().enumerate() {
            if let Some(standing) = machine.standing(now, place)
                && node.standing != Some(standing.as_str())
            {
                changed = true;
                let before = node.standing.replace(standing.as_str());
                #[cfg(feature = "metrics")]
                outlet.meters.stands(place, before, node.standing);
                #[cfg(feature = "tracing")]
                log_standing(&node.name, &standing);
            }
            let owed = machine.owed(place);
            if node.owed != owed {
                let before = std::mem::replace(&mut node.owed, owed);
                #[cfg(feature = "metrics")]
                outlet.meters.owes(place, before, owed);
                #[cfg(feature = "tracing")]
                log_debts(&node.name, before, owed);
            }
        }
        // It follows from the standing of the nodes.
        if let Some(margin) = machine.margin(now).filter(|_| changed)
            && self.margin != Some(margin)
        {
            let before = self.margin.replace(margin);
            #[cfg(feature = "metrics")]
            outlet.meters.quorum.changed(before.map(Margin::as_str), Some(margin.as_str()));
            #[cfg(feature = "tracing")]
            match (before, margin) {
                (_, Margin::None) => warn!(target: NODE, parent: None, "no quorum"),
                (Some(Margin::None), _) => info!(target: NODE, parent: None, "quorum"),
                _ => {}
            }
        }
    }

    /// Revokes what was reported.
    pub(super) fn forget(&mut self, outlet: &Outlet) {
        #[cfg(feature = "metrics")]
        {
            for (place, node) in self.nodes.drain(..).enumerate() {
                outlet.meters.stands(place, node.standing, None);
                outlet.meters.owes(place, node.owed, 0);
            }
            outlet.meters.quorum.changed(self.margin.take().map(Margin::as_str), None);
        }
    }
}

#[cfg(feature = "tracing")]
fn log_standing(node: &str, standing: &NodeStanding) {
    let word = standing.as_str();
    match standing {
        NodeStanding::Voting => info!(target: NODE, parent: None, node, "up"),
        NodeStanding::WarmingUp { remaining } => {
            info!(target: NODE, parent: None, node, left_ms = ms(*remaining), "warming up");
        }
        NodeStanding::Unconfirmed => info!(target: NODE, parent: None, node, "unconfirmed"),
        NodeStanding::Barred { by } => {
            let cause = format!("another client of {by} could win");
            let cause = field::display(Redacted(cause));
            error!(target: NODE, parent: None, node, standing = word, cause, "unfit");
        }
        NodeStanding::Down(cause) => {
            warn!(target: NODE, parent: None, node, cause = %Redacted(cause), "down");
        }
        // An operator has to fix it.
        _ => {
            let cause = field::display(Redacted(standing.problem().unwrap_or_default()));
            error!(target: NODE, parent: None, node, standing = word, cause, "unfit");
        }
    }
}

#[cfg(feature = "tracing")]
fn log_debts(node: &str, before: usize, owed: usize) {
    match (before, owed) {
        (0, _) => info!(target: NODE, parent: None, node, owed, "owes deletions"),
        (_, 0) => info!(target: NODE, parent: None, node, settled = before, "owes nothing"),
        _ => {}
    }
}

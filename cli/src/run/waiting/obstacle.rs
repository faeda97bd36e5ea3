//! The reason why a lock is waited for.

use crate::inspect::{holder_to_json, in_queue, waiting};
use crate::output::millis;
use quorumlock::report::{Escaped, Span};
use quorumlock::{Holder, Inspection, LockState};
use quorumlock::{NodeInspection, NodeStanding, NodeState, NodeStatus, Status};
use serde_json::{Value, json};
use std::fmt::Display;

/// The reason to wait.
pub(super) struct Obstacle {
    pub(super) line: String,
    /// The same for programs.
    pub(super) fields: Value,
    /// Its other differences from an obstacle of its kind, whatever time has passed: whose hold it is, and how many
    /// are ahead or which masters are missing.
    holder: Option<Holder>,
    others: String,
}

impl Obstacle {
    fn new(what: &str, resource: &str, why: impl Display, others: String) -> Self {
        let line = format!("waiting for {:?}: {why}", Escaped(resource));
        let fields = json!({ "waiting_for": resource, "obstacle": what });
        Self { line, fields, holder: None, others }
    }

    /// Names what is missing at which masters.
    pub(super) fn no_quorum(all: &str, missing: String) -> Self {
        Self::new("no_quorum", all, format_args!("no quorum: {missing}"), missing.clone())
    }

    pub(super) fn in_status(status: &Status, all: &str) -> Option<Self> {
        let count = status.count();
        let Some(left) = status.can_acquire_in() else {
            let lacks = |node: &&NodeStatus| node.standing != NodeStanding::Voting;
            let named = |node: &NodeStatus| format!("{} {}", node.node, node.standing.as_str());
            let missing: Vec<_> = status.nodes().iter().filter(lacks).map(named).collect();
            return Some(Self::no_quorum(all, format!("{count} ({})", missing.join(", "))));
        };
        let why = format!("masters are warming up, ready in {} ({count})", Span(left));
        let mut found = Self::new("warming_up", all, why, String::new());
        found.fields["ready_in_ms"] = millis(left).into();
        (!left.is_zero()).then_some(found)
    }

    pub(super) fn in_inspection(
        inspection: &Inspection,
        shared: bool,
        ahead: Option<usize>,
    ) -> Option<Self> {
        let resource = inspection.resource();
        match inspection.state() {
            // Other readers keep no reader out: a writer waits.
            LockState::Held(holder) if shared && holder.is_shared() => {
                Some(Self::new("wanted", resource, "a writer waits for it", String::new()))
            }
            LockState::Held(holder) => {
                let queue = match ahead {
                    Some(_) => in_queue(ahead),
                    // One of them may be this client.
                    None => waiting(inspection.waiting().filter(|all| *all > 1)),
                };
                let why = format_args!("{holder}{queue}");
                let mut found = Self::new("held", resource, why, in_queue(ahead));
                found.fields["holder"] = holder_to_json(holder);
                found.fields["remaining_ms"] = json!(holder.remaining().map(millis));
                found.fields["waiting"] = json!(inspection.waiting());
                found.fields["ahead"] = json!(ahead);
                Some(Self { holder: Some(holder.clone()), ..found })
            }
            LockState::Free => None,
            _ => {
                let silent = |node: &NodeInspection| match &node.state {
                    NodeState::Unknown(answer) => Some(format!("{} {answer}", node.node)),
                    _ => None,
                };
                let silent: Vec<_> = inspection.nodes().iter().filter_map(silent).collect();
                // Else several clients compete for it at this moment.
                (!silent.is_empty()).then(|| Self::no_quorum(resource, silent.join(", ")))
            }
        }
    }

    /// Checks whether both are the same obstacle, whatever time has passed.
    pub(super) fn is(&self, other: &Self) -> bool {
        let same_holder = match (&self.holder, &other.holder) {
            (Some(holder), Some(other)) => holder.same_hold_as(other),
            (holder, other) => holder.is_none() && other.is_none(),
        };
        same_holder
            && self.fields["obstacle"] == other.fields["obstacle"]
            && self.others == other.others
    }
}

//! The reason why a lock is waited for.

use crate::inspect::{holder_to_json, in_queue, waiting};
use crate::output::millis;
use quorumlock::report::{Escaped, Span};
use quorumlock::{Holder, Inspection, LockState, NodeInspection, NodeStanding, NodeState, Status};
use serde_json::{Value, json};
use std::time::Duration;

/// What is known of other waiters.
#[derive(Clone, Copy, Debug)]
pub(super) struct Queue {
    waiting: Option<usize>,
    /// How many are ahead, if this process is among them.
    ahead: Option<usize>,
}

/// The reason to wait.
#[derive(Clone, Debug)]
pub(super) enum Obstacle {
    Held {
        resource: String,
        holder: Holder,
        queue: Queue,
    },
    /// Other readers have it. They keep no reader out: a writer waits.
    Wanted(String),
    WarmingUp {
        ready_in: Duration,
        count: String,
    },
    /// With the masters that are missing.
    NoQuorum(String),
}

impl Obstacle {
    pub(super) fn in_status(status: &Status) -> Option<Self> {
        match status.can_acquire_in() {
            Some(Duration::ZERO) => None,
            Some(ready_in) => Some(Self::WarmingUp { ready_in, count: status.count() }),
            None => {
                let missing =
                    status.nodes().iter().filter(|node| node.standing != NodeStanding::Voting);
                let missing =
                    missing.map(|node| format!("{} {}", node.node, node.standing.as_str()));
                let missing: Vec<_> = missing.collect();
                Some(Self::NoQuorum(format!("{} ({})", status.count(), missing.join(", "))))
            }
        }
    }

    pub(super) fn in_inspection(
        inspection: &Inspection,
        shared: bool,
        ahead: Option<usize>,
    ) -> Option<Self> {
        match inspection.state() {
            LockState::Held(holder) if shared && holder.is_shared() => {
                Some(Self::Wanted(inspection.resource().to_owned()))
            }
            LockState::Held(holder) => {
                let (resource, holder) = (inspection.resource().to_owned(), holder.clone());
                let queue = Queue { waiting: inspection.waiting(), ahead };
                Some(Self::Held { resource, holder, queue })
            }
            LockState::Free => None,
            _ => {
                let silent = |node: &NodeInspection| match &node.state {
                    NodeState::Unknown(answer) => Some(format!("{} {answer}", node.node)),
                    _ => None,
                };
                let silent: Vec<_> = inspection.nodes().iter().filter_map(silent).collect();
                // Else several clients compete for it at this moment.
                (!silent.is_empty()).then(|| Self::NoQuorum(silent.join(", ")))
            }
        }
    }

    /// Checks whether both are the same obstacle, whatever time has passed.
    pub(super) fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Held { holder, queue, .. }, Self::Held { holder: other, queue: theirs, .. }) => {
                holder.same_hold_as(other) && queue.ahead == theirs.ahead
            }
            (Self::Wanted(_), Self::Wanted(_)) => true,
            (Self::WarmingUp { .. }, Self::WarmingUp { .. }) => true,
            (Self::NoQuorum(missing), Self::NoQuorum(other)) => missing == other,
            _ => false,
        }
    }

    pub(super) fn line(&self, all: &str) -> String {
        let all = Escaped(all);
        match self {
            Self::Held { resource, holder, queue } => {
                let queue = match queue.ahead {
                    Some(_) => in_queue(queue.ahead),
                    // One of them may be this client.
                    None => waiting(queue.waiting.filter(|all| *all > 1)),
                };
                format!("waiting for {:?}: {holder}{queue}", Escaped(resource))
            }
            Self::Wanted(resource) => {
                format!("waiting for {:?}: a writer waits for it", Escaped(resource))
            }
            Self::WarmingUp { ready_in, count } => {
                let ready_in = Span(*ready_in);
                format!(
                    "waiting for {all:?}: masters are warming up, ready in {ready_in} ({count})"
                )
            }
            Self::NoQuorum(missing) => format!("waiting for {all:?}: no quorum: {missing}"),
        }
    }

    /// Returns the same for programs.
    pub(super) fn fields(&self, all: &str) -> Value {
        match self {
            Self::Held { resource, holder, queue } => json!({
                "waiting_for": resource,
                "obstacle": "held",
                "holder": holder_to_json(holder),
                "remaining_ms": holder.remaining().map(millis),
                "waiting": queue.waiting,
                "ahead": queue.ahead,
            }),
            Self::Wanted(resource) => json!({ "waiting_for": resource, "obstacle": "wanted" }),
            Self::WarmingUp { ready_in, .. } => json!({
                "waiting_for": all,
                "obstacle": "warming_up",
                "ready_in_ms": millis(*ready_in),
            }),
            Self::NoQuorum(_) => json!({ "waiting_for": all, "obstacle": "no_quorum" }),
        }
    }
}

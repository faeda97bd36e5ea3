//! A report to the person who waits for the lock: the holder, or the masters that may not vote.
//!
//! It is for people, so it needs a terminal or `--verbose`; without them no master is asked. It
//! never delays the acquire that it runs beside: it asks seldom, and it writes on another thread,
//! since a terminal can be stopped.

use crate::inspect::{holder_to_json, in_queue, in_turn};
use crate::output::{Output, millis};
use quorumlock::report::{Escaped, Span};
use quorumlock::{
    Holder, Inspection, LockState, NodeInspection, NodeStanding, NodeState, Redlock, Status,
};
use serde_json::{Map, Value, json};
use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::time::Duration;

/// Who gets the lock before that has not waited.
const FIRST: Duration = Duration::from_millis(300);

/// The time between two looks. Each costs a command per master and resource.
const AGAIN: Duration = Duration::from_secs(3);

/// What is known of those who wait in turn.
#[derive(Clone, Copy, Debug)]
struct Queue {
    waiting: Option<usize>,
    /// How many are ahead, if this process is among them.
    ahead: Option<usize>,
}

/// The reason to wait.
#[derive(Clone, Debug)]
enum Obstacle {
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

/// Waits for `acquire` of `all`, `shared` with others or not, and meanwhile reports what it waits for if
/// a person is following; also how many are `ahead` of it.
pub(super) async fn beside<A: Future>(
    acquire: A,
    ahead: impl Fn(&A) -> Option<usize>,
    redlock: &Redlock,
    (resources, shared): (&[String], bool),
    all: &str,
    output: Output,
) -> A::Output {
    let mut acquire = pin!(acquire);
    if output.is_followed() {
        // It is polled before the report is, whichever of them goes on.
        let told = Cell::new(None);
        let acquired = poll_fn(|cx| {
            let polled = acquire.as_mut().poll(cx);
            told.set(ahead(&acquire));
            polled
        });
        tokio::select! {
            biased;
            done = acquired => return done,
            () = report(redlock, (resources, shared), &told, all, output) => {}
        }
    }
    acquire.await
}

/// Reports each obstacle once, until the client is closed.
async fn report(
    redlock: &Redlock,
    (resources, shared): (&[String], bool),
    ahead: &Cell<Option<usize>>,
    all: &str,
    output: Output,
) {
    let mut told: Option<Obstacle> = None;
    let mut pause = FIRST;
    loop {
        tokio::time::sleep(pause).await;
        pause = AGAIN;
        let Ok(status) = redlock.status().await else { return };
        let mut obstacle = Obstacle::in_status(&status);
        for resource in resources {
            if obstacle.is_some() {
                break;
            }
            let Ok(inspection) = redlock.inspect(resource.as_str()).await else { return };
            obstacle = Obstacle::in_inspection(&inspection, shared, ahead.get());
        }
        // A free lock is about to be acquired, by this process or by another.
        let Some(obstacle) = obstacle else { continue };
        if !told.as_ref().is_some_and(|told| told.is(&obstacle)) {
            let (line, fields) = (obstacle.line(all), obstacle.fields(all));
            told = Some(obstacle);
            let written = tokio::task::spawn_blocking(move || output.progress(&line, fields));
            let _ = written.await;
        }
    }
}

impl Obstacle {
    fn in_status(status: &Status) -> Option<Self> {
        match status.can_acquire_in() {
            Some(Duration::ZERO) => None,
            Some(ready_in) => Some(Self::WarmingUp { ready_in, count: status.count() }),
            None => {
                let missing =
                    status.nodes().iter().filter(|one| one.standing != NodeStanding::Voting);
                let missing = missing.map(|one| format!("{} {}", one.node, one.standing.as_str()));
                let missing: Vec<_> = missing.collect();
                Some(Self::NoQuorum(format!("{} ({})", status.count(), missing.join(", "))))
            }
        }
    }

    fn in_inspection(inspection: &Inspection, shared: bool, ahead: Option<usize>) -> Option<Self> {
        match inspection.state() {
            LockState::Held(holder) if shared && holder.is_shared() => {
                Some(Self::Wanted(inspection.resource().to_owned()))
            }
            LockState::Held(holder) => {
                let (resource, holder) = (inspection.resource().to_owned(), holder.clone());
                let queue = Queue { waiting: inspection.waiting_in_turn(), ahead };
                Some(Self::Held { resource, holder, queue })
            }
            LockState::Free => None,
            _ => {
                let silent = |one: &NodeInspection| match &one.state {
                    NodeState::Unknown(answer) => Some(format!("{} {answer}", one.node)),
                    _ => None,
                };
                let silent: Vec<_> = inspection.nodes().iter().filter_map(silent).collect();
                // Else several clients compete for it at this moment.
                (!silent.is_empty()).then(|| Self::NoQuorum(silent.join(", ")))
            }
        }
    }

    /// Checks whether both are the same obstacle, whatever time has passed.
    fn is(&self, other: &Self) -> bool {
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

    fn line(&self, all: &str) -> String {
        let all = Escaped(all);
        match self {
            Self::Held { resource, holder, queue } => {
                let queue = match queue.ahead {
                    Some(_) => in_queue(queue.ahead),
                    None => in_turn(queue.waiting),
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
    fn fields(&self, all: &str) -> Map<String, Value> {
        let fields = match self {
            Self::Held { resource, holder, queue } => json!({
                "waiting_for": resource,
                "obstacle": "held",
                "holder": holder_to_json(holder),
                "remaining_ms": holder.remaining().map(millis),
                "waiting_in_turn": queue.waiting,
                "ahead": queue.ahead,
            }),
            Self::Wanted(resource) => json!({ "waiting_for": resource, "obstacle": "wanted" }),
            Self::WarmingUp { ready_in, .. } => json!({
                "waiting_for": all,
                "obstacle": "warming_up",
                "ready_in_ms": millis(*ready_in),
            }),
            Self::NoQuorum(_) => json!({ "waiting_for": all, "obstacle": "no_quorum" }),
        };
        match fields {
            Value::Object(fields) => fields,
            _ => Map::new(),
        }
    }
}

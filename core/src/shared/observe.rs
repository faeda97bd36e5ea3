//! Observations for telemetry. They stand among the events, in the order of what happened, and no
//! decision depends on them.

use super::{AttemptId, Event, FailureKind, RequestId};
use crate::obstacle::Obstacle;
use crate::quorum::Progress;
use crate::report::NodeReport;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

/// True if the machine can be watched. It is a constant: where it is false, no instruction of this
/// module remains.
pub const WATCHED: bool = cfg!(feature = "watched");

/// The level of detail of the observations.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum Watching {
    #[default]
    Nothing,
    Outcomes,
    /// The outcomes, every node's answer to each attempt, and what an acquire waits for.
    Votes,
}

/// An observation of a decision.
#[derive(Debug)]
pub enum Observation {
    /// An attempt of an acquire is decided.
    Attempt {
        request: RequestId,
        /// Counted from 1.
        number: u32,
        result: Result<(), FailureKind>,
        /// From before the first byte to the verdict.
        took: Duration,
        votes: Vec<NodeReport>,
    },
    /// An acquire waits, for its place in this process or for its next attempt.
    Waits {
        request: RequestId,
        waits_for: &'static str,
        /// The time until a quorum is free unless the key is extended; only for a holder.
        left: Option<Duration>,
        /// How many are ahead of it in the queue of the masters, once a quorum has answered; only for one that
        /// waits in turn.
        ahead: Option<usize>,
    },
    /// A deadline was moved to the end of the keep-alive: no extension moves it any further.
    LastExtension {
        attempt: AttemptId,
        /// The time until that deadline.
        left: Duration,
    },
    /// An extension is decided.
    Extension {
        attempt: AttemptId,
        by_keeper: bool,
        progress: Progress,
        took: Duration,
        votes: Vec<NodeReport>,
    },
    /// A node that had no key in a round that was won has been asked to set it.
    ToppedUp { attempt: AttemptId, node: Arc<str> },
    /// An acquire has the hold that another guard of this client has given back. No master was asked.
    Reused { request: RequestId },
    /// A hold that was kept warm under `key`, and idle, is released.
    IdleReleased { key: Arc<str>, reason: IdleEnd },
    /// A lock is not kept warm for a while, since a client elsewhere has asked for it before that has paid.
    PausesWarm,
}

/// The reason why a hold that was idle is released.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IdleEnd {
    /// The time for which it is kept warm is over.
    Unused,
    /// A client elsewhere has asked for it.
    Asked,
    /// An acquire of this client cannot use it, and asks the masters.
    NotSuited,
    /// This client shuts down.
    Shutdown,
}

impl IdleEnd {
    /// Returns the reason in a word, as events name it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Unused => "unused",
            Self::Asked => "asked",
            Self::NotSuited => "not_suited",
            Self::Shutdown => "shutdown",
        }
    }
}

/// The events that have not been taken out.
#[derive(Default)]
pub(crate) struct Events {
    queue: VecDeque<Event>,
    /// Answers to the machine itself.
    pub(crate) own: VecDeque<Event>,
    pub(crate) watching: Watching,
}

impl Events {
    pub(crate) fn push(&mut self, event: Event) {
        if event.is_own() { self.own.push_back(event) } else { self.queue.push_back(event) }
    }

    pub(crate) fn pop(&mut self) -> Option<Event> {
        self.queue.pop_front()
    }

    /// Returns the number of decisions among them.
    pub(crate) fn decided(&self) -> usize {
        let observed = |event: &&Event| matches!(event, Event::Observed(_));
        let observed = if WATCHED { self.queue.iter().filter(observed).count() } else { 0 };
        self.queue.len() - observed
    }

    pub(crate) fn shows(&self, watching: Watching) -> bool {
        WATCHED && self.watching >= watching
    }

    /// Shows observers what they want to know in such detail.
    pub(crate) fn show(&mut self, detail: Watching, observation: impl FnOnce() -> Observation) {
        if self.shows(detail) {
            self.push(Event::Observed(observation()));
        }
    }

    /// Shows observers a decided attempt.
    pub(crate) fn attempt(
        &mut self,
        request: RequestId,
        number: u32,
        result: Result<(), &FailureKind>,
        took: Duration,
        votes: impl FnOnce() -> Vec<NodeReport>,
    ) {
        let shows_votes = self.shows(Watching::Votes);
        self.show(Watching::Outcomes, || {
            let votes = if shows_votes { votes() } else { Vec::new() };
            let (request, result) = (request.callers(), result.map_err(FailureKind::clone));
            Observation::Attempt { request, number, result, took, votes }
        });
    }

    /// Shows observers a decided extension, which the keeper has asked for if there is no `request`.
    pub(crate) fn extension(
        &mut self,
        attempt: AttemptId,
        request: Option<RequestId>,
        progress: Progress,
        took: Duration,
        votes: impl FnOnce() -> Vec<NodeReport>,
    ) {
        self.show(Watching::Outcomes, || {
            // Rare, and a warning: every node's answer is always worth its cost.
            let is_extended = matches!(progress, Progress::Extended(_));
            let votes = if is_extended { Vec::new() } else { votes() };
            let by_keeper = request.is_none();
            Observation::Extension { attempt, by_keeper, progress, took, votes }
        });
    }

    /// Shows observers that an acquire waits in the local queue.
    pub(crate) fn queued(&mut self, request: RequestId, obstacle: &Obstacle) {
        let waits_for = obstacle.as_str();
        let waits = || Observation::Waits { request, waits_for, left: None, ahead: None };
        self.show(Watching::Votes, waits);
    }

    /// Shows observers that an acquire waits until this client has fewer rounds open.
    pub(crate) fn overloaded(&mut self, request: RequestId) {
        let request = request.callers();
        let waits = || Observation::Waits { request, waits_for: "room", left: None, ahead: None };
        self.show(Watching::Votes, waits);
    }
}

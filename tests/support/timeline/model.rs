//! The parts of a run. Times are counted from its start.

use std::time::Duration;

#[derive(Clone, Debug)]
pub(crate) struct Timeline {
    pub(crate) title: String,
    /// Anything outside of it is cut off.
    pub(crate) span: Span,
    pub(crate) clients: Vec<Client>,
    pub(crate) masters: Vec<Master>,
    pub(crate) faults: Vec<Fault>,
    /// Findings of the checker. The picture also looks for overlaps by itself.
    pub(crate) violations: Vec<Violation>,
    pub(crate) verdict: Verdict,
    /// The seed, the command that repeats the run, and other text below the picture.
    pub(crate) footer: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Span {
    pub(crate) from: Duration,
    pub(crate) to: Duration,
}

impl Span {
    pub(crate) fn new(from: Duration, to: Duration) -> Self {
        Self { from, to: to.max(from) }
    }

    pub(crate) fn length(self) -> Duration {
        self.to.saturating_sub(self.from)
    }

    /// Returns what both have in common, if it is more than an instant.
    pub(crate) fn common(self, other: Self) -> Option<Self> {
        let (from, to) = (self.from.max(other.from), self.to.min(other.to));
        (from < to).then_some(Self { from, to })
    }
}

/// A lane: one process or task that takes locks.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    pub(crate) name: String,
    /// In any order. Where several resources are locked together, there is one hold for each.
    pub(crate) holds: Vec<Hold>,
    pub(crate) paused: Vec<Span>,
}

/// One hold of one resource, from the win until the client released it or knew that it was over.
#[derive(Clone, Debug)]
pub(crate) struct Hold {
    pub(crate) resource: String,
    pub(crate) span: Span,
    /// The last deadline that the holder had. It counts as a holder until then, and no longer.
    pub(crate) deadline: Option<Duration>,
    pub(crate) fencing_token: Option<u64>,
    pub(crate) ended: Ended,
}

impl Hold {
    /// Returns the span in which the holder might rely on it.
    pub(crate) fn valid(&self) -> Span {
        let to = self.deadline.map_or(self.span.to, |deadline| deadline.min(self.span.to));
        Span::new(self.span.from, to)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    Released,
    /// Its deadline passed.
    Lapsed,
    /// The client knew before the deadline that the lock was gone.
    Lost,
    /// The client died. Its keys remain until they expire.
    Killed,
    /// The run ended before the hold did.
    Open,
}

/// A band: one master and its states. A gap between states means that the state is not known.
#[derive(Clone, Debug)]
pub(crate) struct Master {
    pub(crate) name: String,
    pub(crate) states: Vec<(Span, State)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum State {
    Up,
    /// It answers, but its vote does not count yet.
    WarmingUp,
    /// It has started so recently that its vote may not count yet.
    JustStarted,
    Slow,
    Paused,
    /// Off the network, or a part of it.
    Cut,
    Down,
}

#[derive(Clone, Debug)]
pub(crate) struct Fault {
    pub(crate) at: Duration,
    pub(crate) label: String,
    /// Name of the client or the master that it affected.
    pub(crate) on: Option<String>,
}

#[derive(Clone, Debug)]
pub(crate) struct Violation {
    /// An instant is a span of no length.
    pub(crate) span: Span,
    pub(crate) label: String,
}

#[derive(Clone, Debug)]
pub(crate) enum Verdict {
    Good(String),
    Bad(String),
}

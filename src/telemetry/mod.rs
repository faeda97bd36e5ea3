//! Reports of what happens, for `tracing` (feature `tracing`) and `metrics` (feature `metrics`).
//! `docs/observability.md` lists all names.
//!
//! The machine itself reports nothing: it hands out events and standings. The driver and the
//! futures of callers bring them to this module. Each event is one function, which counts it and logs it.
//! Without the features [`WATCHED`] is false, and nothing of this is left in the compiled code.

#![cfg_attr(
    not(all(feature = "tracing", feature = "metrics")),
    allow(
        unused,
        clippy::if_same_then_else,
        clippy::single_match,
        reason = "each feature uses a part of it"
    )
)]

/// The targets of events, as `docs/observability.md` has them.
const ACQUIRE: &str = "quorumlock::acquire";
const HOLD: &str = "quorumlock::hold";
const NODE: &str = "quorumlock::node";

/// Logs an event of a target, or of an acquire in its span.
///
/// Levels: events that an operator may have to act on are warnings or errors, changes are INFO, and
/// events that happen all the time in healthy operation are DEBUG.
macro_rules! event {
    ($level:ident in $span:ident: $($fields:tt)*) => {{
        #[cfg(feature = "tracing")]
        tracing::event!(target: ACQUIRE, parent: $span.id(), tracing::Level::$level, $($fields)*);
    }};
    ($level:ident $target:ident: $($fields:tt)*) => {{
        #[cfg(feature = "tracing")]
        tracing::event!(target: $target, parent: None, tracing::Level::$level, $($fields)*);
    }};
}

mod holds;
#[cfg(feature = "metrics")]
mod meters;
#[cfg(not(feature = "tracing"))]
mod no_span;
mod nodes;
#[cfg(feature = "tracing")]
mod redacted;
#[cfg(feature = "tracing")]
mod span;
mod table;

pub(crate) use holds::Held;
#[cfg(not(feature = "tracing"))]
pub(crate) use no_span::Span;
#[cfg(feature = "tracing")]
pub(crate) use span::Span;

use crate::failure::AcquireError;
use crate::kind_name::{ByKind, KindName};
use nodes::Node;
use quorumlock_core::coordinator::{Coordinator, WATCHED, Watching};
use quorumlock_core::quorum::Instant;
use quorumlock_core::status::Margin;
use std::sync::Arc;
use std::time::Duration;
use table::Metric;

/// The destination of all reports: shared by the driver and the futures of its callers.
#[derive(Clone)]
pub(crate) struct Outlet {
    #[cfg(feature = "metrics")]
    meters: Arc<meters::Meters>,
}

impl Outlet {
    /// Creates an outlet. Its meters are registered now, at zero, with whatever recorder there is.
    pub(crate) fn new<'a>(names: impl Iterator<Item = &'a Arc<str>>) -> Self {
        Self {
            #[cfg(feature = "metrics")]
            meters: Arc::new(meters::Meters::new(names)),
        }
    }

    #[inline]
    fn add(&self, metric: Metric, place: usize, word: &str, amount: f64) {
        #[cfg(feature = "metrics")]
        self.meters.add(metric, place, word, amount);
    }

    fn count(&self, metric: Metric, word: &str) {
        self.add(metric, 0, word, 1.0);
    }

    fn time(&self, metric: Metric, word: &str, span: Duration) {
        self.add(metric, 0, word, span.as_secs_f64());
    }

    /// Moves a gauge by the difference.
    fn moved(&self, metric: Metric, place: usize, word: &str, before: usize, now: usize) {
        #[allow(clippy::cast_precision_loss)] // Bounded far below what a float can count.
        self.add(metric, place, word, now as f64 - before as f64);
    }

    /// Moves one from the gauge of the word before to that of the word now.
    fn changed(&self, metric: Metric, place: usize, before: Option<&str>, now: Option<&str>) {
        before.inspect(|word| self.add(metric, place, word, -1.0));
        now.inspect(|word| self.add(metric, place, word, 1.0));
    }

    /// Reports the end of an acquire: its caller has this answer, or has gone if there is none.
    pub(crate) fn ended(
        &self,
        span: &Span,
        resource: &str,
        waited: Duration,
        answer: Option<Result<(), &AcquireError>>,
    ) {
        let outcome = match answer {
            None => "cancelled",
            Some(Ok(())) => "acquired",
            Some(Err(AcquireError::Contended(_))) => "contended",
            Some(Err(AcquireError::NoQuorum(_))) => "no_quorum",
            Some(Err(AcquireError::Disagreement(_))) => "disagreement",
            Some(Err(AcquireError::Overloaded(_))) => "overloaded",
            Some(Err(AcquireError::InvalidSetting(_) | AcquireError::WrongContext(_))) => "invalid",
            Some(Err(AcquireError::NoRandomness(_))) => "no_randomness",
            Some(Err(AcquireError::Closed(_))) => "closed",
        };
        self.count(Metric::Acquires, outcome);
        self.time(Metric::AcquireWait, outcome, waited);
        #[cfg(feature = "tracing")]
        {
            let waited_ms = ms(waited);
            span.end(outcome, waited_ms);
            let error = answer.and_then(Result::err);
            let error = error.map(|error| tracing::field::display(redacted::Redacted(error)));
            match outcome {
                "acquired" => event!(DEBUG in span: resource, outcome, waited_ms, "acquired"),
                "no_quorum" | "disagreement" | "overloaded" | "no_randomness" => {
                    event!(WARN in span: resource, outcome, waited_ms, error, "not acquired");
                }
                _ => event!(DEBUG in span: resource, outcome, waited_ms, error, "not acquired"),
            }
        }
    }

    /// Counts a caller who begins to wait (from 0 to 1), or who waits no more (from 1 to 0).
    pub(crate) fn waiting(&self, kind: KindName, before: usize, now: usize) {
        self.moved(Metric::WaitingCallers, 0, kind.as_str(), before, now);
    }
}

/// The driver's side.
pub(crate) struct Telemetry {
    pub(crate) outlet: Outlet,
    nodes: Vec<Node>,
    margin: Option<Margin>,
    /// The last reported numbers of held locks, idle locks and rounds.
    levels: [usize; 9],
    watching: Watching,
}

impl Telemetry {
    pub(crate) fn new<'a>(names: impl Iterator<Item = &'a Arc<str>> + Clone) -> Self {
        let (outlet, nodes) = (Outlet::new(names.clone()), names.cloned().map(Node::new).collect());
        Self { outlet, nodes, margin: None, levels: [0; 9], watching: Watching::Nothing }
    }

    /// Begins a turn, before the machine is given anything in it.
    #[inline]
    pub(crate) fn begin_turn(&mut self, machine: &mut Coordinator) {
        if WATCHED {
            self.watching = watching();
            machine.watch(self.watching);
        }
    }

    /// Ends a turn, after the machine was given everything: reports each change of standing, and of the
    /// number of locks that are held. Of the locks that the machine takes for idle, `lent` are held.
    #[inline]
    pub(crate) fn end_turn(
        &mut self,
        machine: &Coordinator,
        held: &ByKind,
        lent: usize,
        now: impl FnOnce() -> Instant,
    ) {
        if WATCHED && self.watching > Watching::Nothing {
            self.look(machine, now());
            let mut held = *held;
            held[KindName::Plain as usize] += lent;
            let idle = machine.idle_holds().saturating_sub(lent);
            self.level(held, idle, [machine.open_votes(), machine.acquires_in_line()]);
        }
    }

    /// Reports how many locks are held and how many are kept warm, and how many rounds are open and how many
    /// wait, where that has changed.
    fn level(&mut self, held: ByKind, idle: usize, [open, waiting]: [usize; 2]) {
        let held = KindName::WORDS.into_iter().zip(held);
        let held = held.map(|(word, held)| (Metric::HeldLocks, word, held));
        let asked = [(Metric::Rounds, "open", open), (Metric::Rounds, "waiting", waiting)];
        let levels = held.chain([(Metric::IdleLocks, "", idle)]).chain(asked);
        for (level, (metric, word, now)) in self.levels.iter_mut().zip(levels) {
            let before = std::mem::replace(level, now);
            if before != now {
                self.outlet.moved(metric, 0, word, before, now);
            }
        }
    }
}

/// Returns how much there is to report to at the moment. Without any subscriber, this is all that tracing costs.
fn watching() -> Watching {
    #[cfg(feature = "tracing")]
    {
        use tracing::{Level, enabled};
        if enabled!(target: ACQUIRE, Level::DEBUG) {
            return Watching::Votes;
        }
        let logs = || enabled!(target: HOLD, Level::WARN) || enabled!(target: NODE, Level::ERROR);
        if cfg!(not(feature = "metrics")) && !logs() {
            return Watching::Nothing;
        }
    }
    Watching::Outcomes
}

/// Converts to milliseconds, to the microsecond.
fn ms(span: Duration) -> f64 {
    (span.as_secs_f64() * 1e6).round() / 1e3
}

impl Drop for Telemetry {
    /// The standing of the nodes is unknown from here on, and nothing is held.
    fn drop(&mut self) {
        if WATCHED {
            self.level(ByKind::default(), 0, [0; 2]);
            self.forget();
        }
    }
}

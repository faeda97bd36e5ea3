//! Reports of what happens, for observers: `tracing` (feature `tracing`) and `metrics` (feature
//! `metrics`). `docs/observability.md` lists all names.
//!
//! The machine itself reports nothing: it hands out events and standings. The driver and the
//! futures of callers bring them here. Whatever happens is one method of an [`Observer`], and each of the
//! two facades is an observer.
//! Without the features [`WATCHED`] is false, and nothing of this is left in the compiled code.

#![cfg_attr(
    not(all(feature = "tracing", feature = "metrics")),
    allow(dead_code, unused_mut, unused_variables, reason = "each feature uses a part of it")
)]

mod locks;
#[cfg(feature = "tracing")]
mod log;
#[cfg(feature = "metrics")]
mod meters;
#[cfg(not(feature = "tracing"))]
mod no_span;
mod nodes;
mod observer;
#[cfg(feature = "tracing")]
mod redacted;
#[cfg(feature = "tracing")]
mod span;

#[cfg(not(feature = "tracing"))]
pub(crate) use no_span::Span;
pub(crate) use observer::{Ending, Held};
#[cfg(feature = "tracing")]
pub(crate) use span::Span;

use crate::failure::AcquireError;
use crate::kind_name::{ByKind, KindName};
use nodes::Nodes;
use observer::Observer;
use quorumlock_core::coordinator::{Coordinator, RequestId, WATCHED, Watching};
use quorumlock_core::quorum::Instant;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

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

    /// Reports that a caller waits for a lock.
    pub(crate) fn waits(&self, kind: KindName) {
        self.each(|observer| observer.waits(kind));
    }

    /// Reports that a caller that waited has its answer, or is gone.
    pub(crate) fn waits_no_more(&self, kind: KindName) {
        self.each(|observer| observer.waits_no_more(kind));
    }

    /// Reports to each observer.
    #[inline]
    fn each(&self, mut report: impl FnMut(&dyn Observer)) {
        #[cfg(feature = "metrics")]
        report(&*self.meters);
        #[cfg(feature = "tracing")]
        report(&log::Log);
    }
}

impl Ending<'_> {
    /// Reports that its caller has the answer.
    pub(crate) fn answered<T>(&self, outlet: &Outlet, result: &Result<T, AcquireError>) {
        let outcome = match result {
            Ok(_) => "acquired",
            Err(AcquireError::Contended(_)) => "contended",
            Err(AcquireError::NoQuorum(_)) => "no_quorum",
            Err(AcquireError::Disagreement(_)) => "disagreement",
            Err(AcquireError::Overloaded(_)) => "overloaded",
            Err(AcquireError::InvalidSetting(_) | AcquireError::WrongContext(_)) => "invalid",
            Err(AcquireError::NoRandomness(_)) => "no_randomness",
            Err(AcquireError::Closed(_)) => "closed",
        };
        let error = result.as_ref().err();
        outlet.each(|observer| observer.acquire_ended(self, outcome, error));
    }

    /// Reports that its caller has gone.
    pub(crate) fn cancelled(&self, outlet: &Outlet) {
        outlet.each(|observer| observer.acquire_ended(self, "cancelled", None));
    }
}

/// The driver's side.
pub(crate) struct Telemetry {
    outlet: Outlet,
    nodes: Nodes,
    /// The locks that are held, as last reported.
    held: ByKind,
    /// The locks that no guard has and that are kept warm, as last reported.
    idle: usize,
    /// The rounds that are open and those that wait, as last reported.
    rounds: [usize; 2],
    /// The releases that a caller waits for: what was locked, and for how long. `None` if its loss
    /// has been reported before.
    releasing: BTreeMap<RequestId, Option<(Arc<str>, Duration)>>,
    watching: Watching,
}

impl Telemetry {
    pub(crate) fn new(outlet: Outlet, names: impl Iterator<Item = Arc<str>>) -> Self {
        let (releasing, watching) = (BTreeMap::new(), Watching::Nothing);
        let (nodes, held, idle) = (Nodes::new(names), ByKind::default(), 0);
        Self { outlet, nodes, held, idle, rounds: [0; 2], releasing, watching }
    }

    /// Begins a turn, before the machine is given anything in it.
    #[inline]
    pub(crate) fn begin_turn(&mut self, machine: &mut Coordinator) {
        if WATCHED {
            self.watching = Watching::Nothing;
            let outlet = &self.outlet;
            outlet.each(|observer| self.watching = self.watching.max(observer.watching()));
            machine.watch(self.watching);
        }
    }

    /// Ends a turn, after the machine was given everything: reports each change of standing, and of the
    /// number of locks that are held. Of those that the machine takes for idle, `lent` are held.
    #[inline]
    pub(crate) fn end_turn(
        &mut self,
        machine: &Coordinator,
        held: &ByKind,
        lent: usize,
        now: impl FnOnce() -> Instant,
    ) {
        if WATCHED && self.watching > Watching::Nothing {
            self.nodes.look(machine, now(), &self.outlet);
            let mut held = *held;
            held[KindName::Plain as usize] += lent;
            self.hold(&held);
            self.keep_warm(machine.idle_holds().saturating_sub(lent));
            self.ask([machine.open_votes(), machine.acquires_in_line()]);
        }
    }

    /// Reports how many rounds are open and how many wait, if that has changed.
    fn ask(&mut self, rounds: [usize; 2]) {
        let before = std::mem::replace(&mut self.rounds, rounds);
        if before != rounds {
            self.outlet.each(|observer| observer.asks(before, rounds));
        }
    }

    /// Reports how many locks are held, where that has changed.
    fn hold(&mut self, held: &ByKind) {
        for ((kind, before), held) in KindName::ALL.into_iter().zip(&mut self.held).zip(held) {
            if before != held {
                self.outlet.each(|observer| observer.held(kind, *before, *held));
                *before = *held;
            }
        }
    }

    /// Reports how many locks are kept warm, if that has changed.
    fn keep_warm(&mut self, idle: usize) {
        let before = std::mem::replace(&mut self.idle, idle);
        if before != idle {
            self.outlet.each(|observer| observer.idle(before, idle));
        }
    }
}

impl Drop for Telemetry {
    /// The standing of the nodes is unknown from here on, and nothing is held.
    fn drop(&mut self) {
        if WATCHED {
            self.hold(&ByKind::default());
            self.keep_warm(0);
            self.ask([0; 2]);
            self.nodes.forget(&self.outlet);
        }
    }
}

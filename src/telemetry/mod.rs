//! Reports of what happens, for observers: `tracing` (feature `tracing`) and `metrics` (feature
//! `metrics`). `docs/observability.md` lists all names.
//!
//! The machine itself reports nothing: it hands out events and standings. The driver and the
//! futures of callers bring them here. Whatever happens has one function, which logs and counts it.
//! Without the features [`WATCHED`] is false, and nothing of this is left in the compiled code.

#![cfg_attr(
    not(all(feature = "tracing", feature = "metrics")),
    allow(dead_code, unused_imports, unused_variables, reason = "each feature uses a part of it")
)]

mod acquires;
mod locks;
#[cfg(feature = "metrics")]
mod meters;
mod nodes;
#[cfg(feature = "tracing")]
mod redacted;
#[cfg(feature = "tracing")]
mod traced;

pub(crate) use acquires::{Ending, Span};

use nodes::Nodes;
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

    /// Returns how much observers want to know at the moment.
    fn watching() -> Watching {
        #[cfg(feature = "tracing")]
        let watching = traced::watching();
        #[cfg(not(feature = "tracing"))]
        let watching = Watching::Nothing;
        if cfg!(feature = "metrics") { watching.max(Watching::Outcomes) } else { watching }
    }
}

/// The driver's side.
pub(crate) struct Telemetry {
    outlet: Outlet,
    nodes: Nodes,
    /// The releases that a caller waits for: what was locked, and for how long. `None` if its loss
    /// has been reported before.
    releasing: BTreeMap<RequestId, Option<(Arc<str>, Duration)>>,
    watching: Watching,
}

impl Telemetry {
    pub(crate) fn new(outlet: Outlet, names: impl Iterator<Item = Arc<str>>) -> Self {
        let (releasing, watching) = (BTreeMap::new(), Watching::Nothing);
        Self { outlet, nodes: Nodes::new(names), releasing, watching }
    }

    /// Begins a turn, before the machine is given anything in it.
    #[inline]
    pub(crate) fn begin_turn(&mut self, machine: &mut Coordinator) {
        if WATCHED {
            self.watching = Outlet::watching();
            machine.watch(self.watching);
        }
    }

    /// Ends a turn, after the machine was given everything: reports each change of standing.
    #[inline]
    pub(crate) fn end_turn(&mut self, machine: &Coordinator, now: impl FnOnce() -> Instant) {
        if WATCHED && self.watching > Watching::Nothing {
            self.nodes.look(machine, now(), &self.outlet);
        }
    }
}

impl Drop for Telemetry {
    /// The standing of the nodes is unknown from here on.
    fn drop(&mut self) {
        if WATCHED {
            self.nodes.forget(&self.outlet);
        }
    }
}

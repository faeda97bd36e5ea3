//! Reports of what happens, for observers: `tracing` (feature `tracing`) and `metrics` (feature
//! `metrics`). `docs/observability.md` lists all names.
//!
//! The machine itself reports nothing: it hands out events, notes and standings. The driver and the
//! futures of callers turn them into [`Happening`]s here. Without the features [`WATCHED`] is
//! false, and nothing of this is left in the compiled code.

mod acquiring;
mod happening;
#[cfg(feature = "metrics")]
mod metered;
mod nodes;
#[cfg(feature = "tracing")]
mod redacted;
mod releasing;
#[cfg(feature = "tracing")]
mod traced;
mod words;

pub(crate) use acquiring::{Ending, Span};
pub(crate) use words::ReleaseEnd;

use crate::driver::LeaseState;
use crate::error::LostReason;
use crate::report::NodeReport;
use happening::Happening;
use nodes::Nodes;
use quorumlock_core::coordinator::{Coordinator, Note, RequestId, WATCHED, Watching};
use quorumlock_core::quorum::Instant;
use releasing::Releasing;
use std::sync::Arc;
use words::LossReason;

/// The destination of happenings: shared by the driver and the futures of its callers.
#[derive(Clone)]
pub(crate) struct Outlet {
    #[cfg(feature = "metrics")]
    meters: Arc<metered::Meters>,
}

impl Outlet {
    /// Creates an outlet. Its meters are registered now, at zero, with whatever recorder there is.
    pub(crate) fn new<'a>(names: impl Iterator<Item = &'a Arc<str>>) -> Self {
        #[cfg(not(feature = "metrics"))]
        let _ = names;
        Self {
            #[cfg(feature = "metrics")]
            meters: Arc::new(metered::Meters::new(names)),
        }
    }

    fn tell(&self, happening: &Happening<'_>) {
        #[cfg(feature = "tracing")]
        traced::tell(happening);
        #[cfg(feature = "metrics")]
        self.meters.tell(happening);
        #[cfg(not(any(feature = "tracing", feature = "metrics")))]
        let _ = happening;
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
    releasing: Releasing,
    watching: Watching,
}

impl Telemetry {
    pub(crate) fn new(outlet: Outlet, names: impl Iterator<Item = Arc<str>>) -> Self {
        let (releasing, watching) = (Releasing::default(), Watching::Nothing);
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

    /// Reports what the machine has noted. `span` and `hold` are those that the note is about.
    pub(crate) fn note(&self, note: &Note, span: Option<(&Span, &str)>, hold: Option<&LeaseState>) {
        match note {
            Note::Attempt { number, decided, took, votes, .. } => {
                let Some((span, resource)) = span else { return };
                let (number, took) = (*number, *took);
                let verdict = (*decided).into();
                self.outlet.tell(&Happening::Attempted {
                    span,
                    resource,
                    number,
                    verdict,
                    took,
                    votes,
                });
            }
            Note::Extension { by_keeper, decided, took, votes, .. } => {
                let (resource, end) = (hold.map(|hold| &*hold.resource), (*decided).into());
                let (by_keeper, took) = (*by_keeper, *took);
                let told = Happening::Extended { resource, by_keeper, end, took, votes };
                self.outlet.tell(&told);
            }
            Note::ToppedUp { node, .. } => {
                let resource = hold.map(|hold| &*hold.resource);
                self.outlet.tell(&Happening::ToppedUp { resource, node });
            }
        }
    }

    /// Reports that a hold is over before its guard was given up.
    #[inline]
    pub(crate) fn lost(&self, now: Instant, hold: &LeaseState, reason: &LostReason) {
        if WATCHED {
            let votes: &[NodeReport] = match reason {
                LostReason::QuorumGone(nodes) => nodes,
                _ => &[],
            };
            let Some(reason) = LossReason::of(reason) else { return };
            let (resource, held) = (&*hold.resource, hold.held_for(now));
            self.outlet.tell(&Happening::Lost { resource, reason, held, votes });
        }
    }

    /// Reports that a guard was given up. `hold` is `None` if its loss has been reported before.
    /// `request` is set if a caller waits for the outcome of its release.
    #[inline]
    pub(crate) fn given_up(
        &mut self,
        now: Instant,
        hold: Option<&LeaseState>,
        request: Option<RequestId>,
        in_time: bool,
    ) {
        if WATCHED {
            if let Some(hold) = hold.filter(|_| !in_time) {
                self.lost(now, hold, &LostReason::Lapsed);
            }
            self.releasing.given_up(now, hold, request, in_time, &self.outlet);
        }
    }

    /// Reports that a guard was given up, and that its key stays.
    #[inline]
    pub(crate) fn left(&self, now: Instant, hold: Option<&LeaseState>) {
        if WATCHED {
            Releasing::left(now, hold, &self.outlet);
        }
    }

    /// Reports the outcome of a release.
    #[inline]
    pub(crate) fn released(&mut self, request: RequestId, end: ReleaseEnd) {
        if WATCHED {
            self.releasing.released(request, end, &self.outlet);
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

//! One acquire from its caller's side: from its first poll to its answer.

use super::Outlet;
#[cfg(feature = "tracing")]
use super::{
    redacted::Redacted,
    traced::{ACQUIRE, ms},
};
use crate::error::AcquireError;
use quorumlock_core::coordinator::WATCHED;
#[cfg(feature = "tracing")]
use std::sync::atomic::{AtomicU32, Ordering};
#[cfg(feature = "tracing")]
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
#[cfg(feature = "tracing")]
use tracing::{debug, field, warn};

/// The span for everything that is reported about an acquire. Nothing at all without `tracing`, and
/// little where there is no subscriber.
#[derive(Clone)]
pub(crate) struct Span {
    #[cfg(feature = "tracing")]
    inner: Option<Arc<Observed>>,
}

#[cfg(feature = "tracing")]
struct Observed {
    span: tracing::Span,
    /// Recorded once, at the end: a subscriber may keep every value that a span ever had.
    attempts: AtomicU32,
    /// What was last reported that the acquire waits for.
    waiting: Mutex<Option<Waiting>>,
}

/// What an acquire waits for, as far as it is known.
#[cfg(feature = "tracing")]
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Waiting {
    pub(super) waits_for: &'static str,
    /// Whether the time is known until the holder's keys expire.
    pub(super) is_dated: bool,
    pub(super) ahead: Option<usize>,
}

#[cfg(feature = "tracing")]
impl Observed {
    const fn new(span: tracing::Span) -> Self {
        Self { span, attempts: AtomicU32::new(0), waiting: Mutex::new(None) }
    }
}

impl Span {
    /// Returns the span of an acquire that is not observed.
    pub(crate) const fn none() -> Self {
        Self {
            #[cfg(feature = "tracing")]
            inner: None,
        }
    }

    /// Begins an acquire, in the span of the task that polls first.
    #[inline]
    pub(crate) fn acquire(resource: &str, fenced: bool, shared: bool) -> Self {
        Self {
            #[cfg(feature = "tracing")]
            inner: Some(super::traced::acquire(resource, fenced, shared))
                .filter(|span| !span.is_none())
                .map(|span| Arc::new(Observed::new(span))),
        }
    }

    /// Notes how many attempts there were.
    #[cfg(feature = "tracing")]
    pub(super) fn attempted(&self, attempts: u32) {
        if let Some(Observed { attempts: noted, .. }) = self.inner.as_deref() {
            noted.store(attempts, Ordering::Relaxed);
        }
    }

    /// Notes what the acquire waits for. Returns `true` if that has changed: each attempt finds it out,
    /// and most find the same.
    #[cfg(feature = "tracing")]
    pub(super) fn waits(&self, mut waiting: Waiting) -> bool {
        let Some(Observed { waiting: told, .. }) = self.inner.as_deref() else { return false };
        let mut told = told.lock().unwrap_or_else(PoisonError::into_inner);
        // Not every attempt asks for all: what is known is not reported as unknown.
        if let Some(before) = told.filter(|before| before.waits_for == waiting.waits_for) {
            waiting.is_dated |= before.is_dated;
            waiting.ahead = waiting.ahead.or(before.ahead);
        }
        told.replace(waiting) != Some(waiting)
    }

    /// Records how the acquire ended.
    #[cfg(feature = "tracing")]
    fn end(&self, outcome: &str, waited_ms: f64) {
        if let Some(Observed { span, attempts, .. }) = self.inner.as_deref() {
            span.record("attempts", attempts.load(Ordering::Relaxed));
            span.record("outcome", outcome);
            span.record("waited_ms", waited_ms);
        }
    }

    /// Returns the parent of events.
    #[cfg(feature = "tracing")]
    pub(super) fn id(&self) -> Option<tracing::span::Id> {
        self.inner.as_ref()?.span.id()
    }
}

/// An acquire that is about to end.
pub(crate) struct Ending<'a> {
    pub(crate) span: &'a Span,
    pub(crate) resource: &'a str,
    pub(crate) waited: Duration,
}

impl Ending<'_> {
    /// Reports that its caller has the answer.
    pub(crate) fn answered<T>(&self, outlet: &Outlet, result: &Result<T, AcquireError>) {
        let outcome = match result {
            Ok(_) => "acquired",
            Err(AcquireError::Contended(_)) => "contended",
            Err(AcquireError::NoQuorum(_)) => "no_quorum",
            Err(AcquireError::Disagreement(_)) => "disagreement",
            Err(AcquireError::InvalidSetting(_) | AcquireError::WrongContext(_)) => "invalid",
            Err(AcquireError::NoRandomness(_)) => "no_randomness",
            Err(AcquireError::Closed(_)) => "closed",
        };
        self.report(outlet, outcome, result.as_ref().err());
    }

    /// Reports that its caller has gone.
    pub(crate) fn cancelled(&self, outlet: &Outlet) {
        self.report(outlet, "cancelled", None);
    }

    fn report(&self, outlet: &Outlet, outcome: &'static str, error: Option<&AcquireError>) {
        if WATCHED {
            #[cfg(feature = "metrics")]
            outlet.meters.acquire_ended(outcome, self.waited);
            #[cfg(feature = "tracing")]
            {
                let Self { span, resource, waited } = *self;
                let waited_ms = ms(waited);
                span.end(outcome, waited_ms);
                let error = error.map(|error| field::display(Redacted(error)));
                match outcome {
                    "acquired" => {
                        debug!(target: ACQUIRE, parent: span.id(), resource, outcome, waited_ms, "acquired");
                    }
                    "no_quorum" | "disagreement" | "no_randomness" => warn!(
                        target: ACQUIRE, parent: span.id(),
                        resource, outcome, waited_ms, error, "not acquired"
                    ),
                    _ => debug!(
                        target: ACQUIRE, parent: span.id(),
                        resource, outcome, waited_ms, error, "not acquired"
                    ),
                }
            }
        }
    }
}

//! One acquire from its caller's side: from its first poll to its answer.

use super::Outlet;
use super::happening::Happening;
use super::words::AcquireEnd;
use crate::error::AcquireError;
use quorumlock_core::coordinator::WATCHED;
#[cfg(feature = "tracing")]
use std::sync::Arc;
#[cfg(feature = "tracing")]
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// What all that is told about an acquire belongs to. Nothing at all without `tracing`, and little where
/// nobody watches.
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
    pub(crate) fn acquire(resource: &str, fenced: bool) -> Self {
        #[cfg(not(feature = "tracing"))]
        let _ = (resource, fenced);
        Self {
            #[cfg(feature = "tracing")]
            inner: Some(super::traced::acquire(resource, fenced))
                .filter(|span| !span.is_none())
                .map(|span| Arc::new(Observed { span, attempts: AtomicU32::new(0) })),
        }
    }

    /// Notes how many attempts there were.
    #[cfg(feature = "tracing")]
    pub(super) fn attempted(&self, attempts: u32) {
        if let Some(Observed { attempts: noted, .. }) = self.inner.as_deref() {
            noted.store(attempts, Ordering::Relaxed);
        }
    }

    /// Records how the acquire ended.
    #[cfg(feature = "tracing")]
    pub(super) fn end(&self, outcome: &str, waited_ms: f64) {
        if let Some(Observed { span, attempts }) = self.inner.as_deref() {
            span.record("attempts", attempts.load(Ordering::Relaxed));
            span.record("outcome", outcome);
            span.record("waited_ms", waited_ms);
        }
    }

    /// Where events belong.
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
        self.tell(outlet, AcquireEnd::of(result), result.as_ref().err());
    }

    /// Reports that its caller has gone.
    pub(crate) fn cancelled(&self, outlet: &Outlet) {
        self.tell(outlet, AcquireEnd::Cancelled, None);
    }

    fn tell(&self, outlet: &Outlet, end: AcquireEnd, error: Option<&AcquireError>) {
        let Self { span, resource, waited } = *self;
        if WATCHED {
            outlet.tell(&Happening::Asked { span, resource, end, waited, error });
        }
    }
}

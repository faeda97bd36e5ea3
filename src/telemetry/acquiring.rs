//! One acquire from its caller's side: from its first poll to its answer.

use super::Outlet;
use super::happening::Happening;
use super::words::AcquireEnd;
use crate::error::AcquireError;
use quorumlock_core::coordinator::WATCHED;
use std::time::Duration;

/// What all that is told about an acquire belongs to. Nothing at all without `tracing`, and little where
/// nobody watches.
#[derive(Clone)]
pub(crate) struct Span {
    #[cfg(feature = "tracing")]
    inner: Option<Box<tracing::Span>>,
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
                .map(Box::new),
        }
    }

    #[cfg(feature = "tracing")]
    pub(super) fn record(&self, field: &str, value: impl tracing::Value) {
        if let Some(span) = &self.inner {
            span.record(field, value);
        }
    }

    /// Where events belong.
    #[cfg(feature = "tracing")]
    pub(super) fn id(&self) -> Option<tracing::span::Id> {
        self.inner.as_ref()?.id()
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

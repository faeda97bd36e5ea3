//! One acquire from its caller's side: from its first poll to its answer.

use super::Outlet;
use super::happening::Happening;
use super::words::AcquireEnd;
use crate::error::AcquireError;
use quorumlock_core::coordinator::WATCHED;
use std::time::Duration;

/// The span that all reports about an acquire belong to. Empty without `tracing`.
#[derive(Clone)]
pub(crate) struct Span {
    #[cfg(feature = "tracing")]
    pub(super) inner: tracing::Span,
}

impl Span {
    /// Returns the span of an acquire that is not observed.
    pub(crate) const fn none() -> Self {
        Self {
            #[cfg(feature = "tracing")]
            inner: tracing::Span::none(),
        }
    }

    /// Begins an acquire, in the span of the task that polls first.
    #[inline]
    pub(crate) fn acquire(resource: &str, fenced: bool) -> Self {
        #[cfg(not(feature = "tracing"))]
        let _ = (resource, fenced);
        Self {
            #[cfg(feature = "tracing")]
            inner: super::traced::acquire(resource, fenced),
        }
    }

    /// Takes the span, and leaves none behind.
    #[inline]
    pub(crate) const fn take(&mut self) -> Self {
        std::mem::replace(self, Self::none())
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

//! One acquire from its caller's side: from its first poll to its answer.

use super::Outlet;
use super::happening::Happening;
use super::words::AcquireEnd;
use crate::coordinator::WATCHED;
use crate::error::AcquireError;
use std::time::Duration;

/// What all that is told about an acquire belongs to. Nothing at all without `tracing`.
#[derive(Clone)]
pub(crate) struct Span {
    #[cfg(feature = "tracing")]
    pub(super) inner: tracing::Span,
}

impl Span {
    /// That of an acquire that nobody sees.
    pub(crate) const fn none() -> Self {
        Self {
            #[cfg(feature = "tracing")]
            inner: tracing::Span::none(),
        }
    }

    /// An acquire begins, in the span of whoever polls first.
    #[inline]
    pub(crate) fn acquire(resource: &str, fenced: bool) -> Self {
        #[cfg(not(feature = "tracing"))]
        let _ = (resource, fenced);
        Self {
            #[cfg(feature = "tracing")]
            inner: super::traced::acquire(resource, fenced),
        }
    }

    /// Leaves none behind.
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
    /// Its caller has the answer.
    pub(crate) fn answered<T>(&self, outlet: &Outlet, result: &Result<T, AcquireError>) {
        self.tell(outlet, AcquireEnd::of(result), result.as_ref().err());
    }

    /// Its caller has gone.
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

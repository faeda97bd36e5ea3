//! The span of one acquire, from its first poll to its answer.

use super::ACQUIRE;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tracing::{debug_span, field::Empty};

/// The span for everything that is reported about an acquire. Little where there is no subscriber.
#[derive(Clone)]
pub(crate) struct Span {
    inner: Option<Arc<Observed>>,
}

struct Observed {
    span: tracing::Span,
    /// Recorded once, at the end: a subscriber may keep every value that a span ever had.
    attempts: AtomicU32,
    /// It has got a hold that this client kept warm. Recorded at the end, too.
    reused: AtomicBool,
    /// The wait of the acquire, as last reported.
    waiting: Mutex<Option<Waiting>>,
}

/// The wait of an acquire, as far as it is known.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Waiting {
    pub(super) waits_for: &'static str,
    /// Whether the time is known until the holder's keys expire.
    pub(super) is_dated: bool,
    pub(super) ahead: Option<usize>,
}

impl Span {
    /// Returns the span of an acquire that is not observed.
    pub(crate) const fn none() -> Self {
        Self { inner: None }
    }

    /// Begins an acquire, in the span of the task that polls first.
    #[inline]
    pub(crate) fn acquire(resource: &str, fenced: bool, shared: bool) -> Self {
        let span = debug_span!(
            target: ACQUIRE, "acquire", resource, fenced, shared,
            attempts = Empty, reused = Empty, outcome = Empty, waited_ms = Empty,
        );
        let (attempts, reused, waiting) = Default::default();
        let inner =
            (!span.is_none()).then(|| Arc::new(Observed { span, attempts, reused, waiting }));
        Self { inner }
    }

    /// Notes how many attempts there were.
    pub(super) fn attempted(&self, attempts: u32) {
        if let Some(Observed { attempts: noted, .. }) = self.inner.as_deref() {
            noted.store(attempts, Ordering::Relaxed);
        }
    }

    /// Notes that the acquire has got a hold that was kept warm here, without asking a master.
    pub(crate) fn reused(&self) {
        if let Some(Observed { reused, .. }) = self.inner.as_deref() {
            reused.store(true, Ordering::Relaxed);
        }
    }

    /// Notes what keeps the acquire waiting. Returns `true` if that has changed: each attempt finds
    /// it out, and most find the same.
    pub(super) fn waits(&self, mut waiting: Waiting) -> bool {
        let Some(Observed { waiting: reported, .. }) = self.inner.as_deref() else { return false };
        let mut reported = reported.lock().unwrap_or_else(PoisonError::into_inner);
        // Not every attempt asks for all: what is known is not reported as unknown.
        if let Some(before) = reported.filter(|before| before.waits_for == waiting.waits_for) {
            waiting.is_dated |= before.is_dated;
            waiting.ahead = waiting.ahead.or(before.ahead);
        }
        reported.replace(waiting) != Some(waiting)
    }

    /// Records how the acquire ended.
    pub(super) fn end(&self, outcome: &str, waited_ms: f64) {
        if let Some(Observed { span, attempts, reused, .. }) = self.inner.as_deref() {
            span.record("attempts", attempts.load(Ordering::Relaxed));
            span.record("reused", reused.load(Ordering::Relaxed));
            span.record("outcome", outcome);
            span.record("waited_ms", waited_ms);
        }
    }

    /// Returns the parent of events.
    pub(super) fn id(&self) -> Option<tracing::span::Id> {
        self.inner.as_ref()?.span.id()
    }
}

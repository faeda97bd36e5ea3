//! The future of an acquisition, which cancels it when dropped.

use super::Acquire;
use crate::driver::{Handle, Missed, Request, Won};
use crate::error::{AcquireError, Closed, InvalidSetting, NoQuorum};
use crate::guard::Guard;
use crate::kind::{Kind, Unfenced};
use crate::telemetry::{Ending, Span};
use quorumlock_core::coordinator::{RequestId, WATCHED};
use quorumlock_core::quorum::Instant;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::sync::oneshot;

/// The future of an [`Acquire`]: asks at the first poll, cancels when dropped. If it is polled
/// again after it has completed, it stays pending and asks nothing.
#[must_use = "futures do nothing unless polled"]
pub struct AcquireFuture<K: Kind = Unfenced> {
    state: State<K>,
}

/// State of the future. A waiter keeps no more than waiting takes: there may be many of them, and
/// each may wait for long.
enum State<K: Kind> {
    Unasked(Acquire<K>),
    Waiting(Waiting),
    Done,
}

struct Waiting {
    driver: Handle,
    resource: Arc<str>,
    request: RequestId,
    began: Instant,
    span: Span,
    answer: oneshot::Receiver<Result<Won, Box<AcquireError>>>,
}

impl<K: Kind> AcquireFuture<K> {
    pub(super) const fn new(acquire: Acquire<K>) -> Self {
        Self { state: State::Unasked(acquire) }
    }
}

impl<K: Kind> Acquire<K> {
    fn ask(&self) -> Result<Waiting, InvalidSetting> {
        let acquire = self.request()?;
        let (driver, resource) = (self.redlock.driver().clone(), self.resources.shown());
        let (reply, answer) = oneshot::channel();
        let (request, began) = (driver.next_request(), driver.now());
        let span = Span::acquire(&resource, K::IS_FENCED, self.resources.is_shared());
        driver.send(Request::Acquire {
            request,
            acquire,
            driver: driver.clone(),
            resource: resource.clone(),
            span: span.clone(),
            reply,
        });
        Ok(Waiting { driver, resource, request, began, span, answer })
    }

    /// Reports a refusal to tracing and metrics: nothing was asked.
    fn tell_refused(&self, result: &Result<Guard<K>, AcquireError>) {
        let (span, resource, waited) = (&Span::none(), &*self.resources.shown(), Duration::ZERO);
        Ending { span, resource, waited }.answered(self.redlock.driver().outlet(), result);
    }
}

impl Waiting {
    /// Returns the outcome for the caller. `None` means that the driver has ended, or has dropped
    /// the request.
    fn picked_up<K: Kind>(
        &self,
        answer: Option<Result<Won, Box<AcquireError>>>,
    ) -> Result<Guard<K>, AcquireError> {
        match answer {
            Some(Ok(Won { lock, token, slot })) => match lock.pick_up() {
                Ok((driver, hold)) => Ok(Guard::new(driver, hold, K::won_with(token, slot))),
                Err(Missed::TooLate) => {
                    let waited = self.driver.now().since(self.began);
                    Err(NoQuorum::picked_up_late(self.resource.clone(), waited).into())
                }
                Err(Missed::Closed) => Err(Closed.into()),
            },
            Some(Err(error)) => Err(*error),
            None => Err(Closed.into()),
        }
    }

    /// Returns what is reported to tracing and metrics about the end.
    fn ending(&self) -> Ending<'_> {
        let waited = self.driver.now().since(self.began);
        Ending { span: &self.span, resource: &self.resource, waited }
    }
}

impl<K: Kind> Future for AcquireFuture<K> {
    type Output = Result<Guard<K>, AcquireError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let state = &mut self.state;
        if let State::Unasked(acquire) = state {
            match acquire.ask() {
                Ok(waiting) => *state = State::Waiting(waiting),
                Err(invalid) => {
                    let refused = Err(invalid.into());
                    if WATCHED {
                        acquire.tell_refused(&refused);
                    }
                    *state = State::Done;
                    return Poll::Ready(refused);
                }
            }
        }
        let State::Waiting(waiting) = state else { return Poll::Pending };
        let answer = ready!(Pin::new(&mut waiting.answer).poll(cx));
        let result = waiting.picked_up(answer.ok());
        if WATCHED {
            waiting.ending().answered(waiting.driver.outlet(), &result);
        }
        *state = State::Done;
        Poll::Ready(result)
    }
}

impl<K: Kind> fmt::Debug for AcquireFuture<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("AcquireFuture");
        match &self.state {
            State::Unasked(acquire) => shown.field("acquire", acquire),
            State::Waiting(waiting) => shown.field("resource", &waiting.resource),
            State::Done => &mut shown,
        };
        shown.finish_non_exhaustive()
    }
}

impl<K: Kind> Drop for AcquireFuture<K> {
    fn drop(&mut self) {
        if let State::Waiting(waiting) = &self.state {
            waiting.driver.send(Request::Cancel(waiting.request));
            if WATCHED {
                waiting.ending().cancelled(waiting.driver.outlet());
            }
        }
    }
}

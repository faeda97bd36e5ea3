//! The future of an acquisition, which cancels it when dropped.

use super::{Acquire, Held, Terms};
use crate::driver::{AcquireResult, Acquirer, Ahead, Caller, LockRequest, Request, Won};
use crate::failure::{AcquireError, NoQuorum};
use crate::guard::Guard;
use crate::kind::Kind;
use crate::kind_name::KindName;
use crate::resource::Resources;
use crate::telemetry::Span;
use quorumlock_core::coordinator::{AcquireRequest, RequestId, WATCHED};
use quorumlock_core::quorum::{Instant, Nanos};
use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::task::coop::consume_budget;

/// The future of an [`Acquire`]: asks at the first poll, cancels when dropped. If it is polled
/// again after it has completed, it stays pending and asks nothing.
#[must_use = "futures do nothing unless polled"]
pub struct AcquireFuture<G: Held = Guard> {
    asking: G::Asking,
}

impl<G: Held> AcquireFuture<G> {
    /// Returns how many waiters are ahead of this [fair](Acquire::fair) acquire, as the master of their list has last
    /// reported; zero if it is next. Of the acquires of one client for one resource, one is in the list. A waiter
    /// that has just died counts until it would be called. `None` before this acquire has a place there, if it is not
    /// fair, if it comes from a [re-entrant](crate::Reentrant) handle, and once it is over.
    ///
    /// ```
    /// # #[cfg(feature = "embedded")]
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use std::{future::IntoFuture, pin::pin, time::Duration};
    ///
    /// # let masters = quorumlock::embedded::Masters::start_in_memory(3)?;
    /// # let [redlock, other] = [masters.builder().connect().await?, masters.builder().connect().await?];
    /// # let held = other.acquire("printer").fair(true).await?;
    /// # let release = async { held.release().await };
    /// # let mut release = pin!(release);
    /// let mut acquire = pin!(redlock.acquire("printer").fair(true).into_future());
    /// let guard = loop {
    ///     tokio::select! {
    ///         guard = &mut acquire => break guard?,
    ///         () = tokio::time::sleep(Duration::from_millis(200)) => {}
    ///     }
    ///     if let Some(ahead) = acquire.ahead() {
    ///         println!("{ahead} ahead of you in the queue");
    /// #       assert_eq!(ahead, 0, "the holder is not in the queue");
    /// #       release.as_mut().await?;
    ///     }
    /// };
    /// # drop(guard);
    /// # Ok(()) }
    /// # #[cfg(not(feature = "embedded"))]
    /// # fn main() {}
    /// ```
    #[must_use]
    pub fn ahead(&self) -> Option<usize> {
        self.asking.ahead()
    }
}

impl<G: Held> IntoFuture for Acquire<G> {
    type Output = Result<G::Guard, G::Error>;
    type IntoFuture = AcquireFuture<G>;

    fn into_future(self) -> AcquireFuture<G> {
        AcquireFuture { asking: G::Asking::new(self) }
    }
}

impl<G: Held> Future for AcquireFuture<G> {
    type Output = Result<G::Guard, G::Error>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.asking.poll(cx)
    }
}

debug_fields!({ G: Held } AcquireFuture<G>);

/// How an acquisition asks for its guard.
pub trait Asking<G: Held>: Send + Unpin + 'static {
    fn new(acquire: Acquire<G>) -> Self;

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<G::Guard, G::Error>>;

    fn ahead(&self) -> Option<usize> {
        None
    }
}

/// Asks the driver. A waiter keeps no more than waiting takes: there may be many of them, and each may wait for long.
#[allow(missing_debug_implementations, reason = "its future is shown instead")]
pub enum Direct<G: Held> {
    Unasked(Acquire<G>),
    Waiting(Waiting),
    Done,
}

/// An acquire that the driver has, until its answer is taken.
#[allow(missing_debug_implementations, reason = "its future is shown instead")]
pub struct Waiting {
    caller: Caller,
    request: RequestId,
    began: Instant,
    answer: oneshot::Receiver<AcquireResult>,
}

impl Terms {
    fn ask(&self, terms: AcquireRequest, kind: KindName) -> Waiting {
        let is_candidate = self.label.as_ref().is_some_and(|label| label.is_candidate());
        let kind = if is_candidate { KindName::Leader } else { kind };
        let (driver, resource) = (self.redlock.driver.clone(), self.resources.shown());
        let (reply, answer) = oneshot::channel();
        let (request, began) = (driver.next_request(), driver.now());
        let is_shared = matches!(self.resources, Resources::Read(_));
        let span = Span::acquire(&resource, terms.fences.is_some(), is_shared);
        let ahead = terms.is_fair.then(Ahead::default);
        let caller = Caller { driver, resource, kind, span, ahead };
        let acquirer = Acquirer { caller: caller.clone(), waits: terms.wait != Nanos::ZERO, reply };
        caller.driver.acquire(LockRequest { request, terms, acquirer });
        if WATCHED {
            caller.driver.outlet().waiting(kind, 0, 1);
        }
        Waiting { caller, request, began, answer }
    }
}

impl Waiting {
    /// Returns the outcome for the caller. `None` means that the driver has ended, or has dropped
    /// the request.
    fn picked_up<K: Kind>(&self, answer: Option<AcquireResult>) -> Result<Guard<K>, AcquireError> {
        let Caller { driver, resource, .. } = &self.caller;
        let Won { lock, token, slot } =
            answer.ok_or_else(|| driver.closed())?.map_err(|error| *error)?;
        let late = || {
            let waited = driver.now().since(self.began);
            AcquireError::from(NoQuorum::picked_up_late(resource.clone(), waited))
        };
        let (driver, hold) = lock.pick_up(late)?;
        Ok(Guard::new(driver, hold, token, slot))
    }

    /// Reports that the caller has its answer, or has gone.
    fn report(&self, answer: Option<Result<(), &AcquireError>>) {
        let Caller { driver, resource, kind, span, .. } = &self.caller;
        let (outlet, waited) = (driver.outlet(), driver.now().since(self.began));
        outlet.waiting(*kind, 1, 0);
        outlet.ended(span, resource, waited, answer);
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if !self.answer.is_terminated() {
            // Before the cancellation, which may pass by the acquire: the driver begins none whose caller has gone.
            self.answer.close();
            self.caller.driver.send(Request::Cancel(self.request));
            if WATCHED {
                self.report(None);
            }
        }
    }
}

impl<K: Kind, G: Held<Guard = Guard<K>, Kind = K, Error = AcquireError>> Asking<G> for Direct<G> {
    fn new(acquire: Acquire<G>) -> Self {
        Self::Unasked(acquire)
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<G::Guard, AcquireError>> {
        if let Self::Unasked(Acquire { terms, .. }) = self {
            let request = match terms.request(K::IS_FENCED) {
                Ok(request) => request,
                Err(invalid) => {
                    let error = AcquireError::from(invalid);
                    if WATCHED {
                        let (driver, resource) = (&terms.redlock.driver, terms.resources.shown());
                        let (span, answer) = (Span::none(), Some(Err(&error)));
                        driver.outlet().ended(&span, &resource, Duration::ZERO, answer);
                    }
                    *self = Self::Done;
                    return Poll::Ready(Err(error));
                }
            };
            if let Some(warm) = request.warm_terms() {
                // A task that has its lock at once, again and again, lets others run all the same.
                ready!(pin!(consume_budget()).poll(cx));
                let (driver, resource) = (&terms.redlock.driver, terms.resources.shown());
                if let Some(hold) = driver.take_idle(request.keys.first(), &resource, &warm) {
                    let guard = Guard::new(driver.clone(), hold, None, None);
                    *self = Self::Done;
                    return Poll::Ready(Ok(guard));
                }
            }
            *self = Self::Waiting(terms.ask(request, K::NAME));
        }
        let Self::Waiting(waiting) = self else { return Poll::Pending };
        let answer = ready!(Pin::new(&mut waiting.answer).poll(cx));
        let result = waiting.picked_up(answer.ok());
        if WATCHED {
            waiting.report(Some(result.as_ref().map(|_| ())));
        }
        *self = Self::Done;
        Poll::Ready(result)
    }

    fn ahead(&self) -> Option<usize> {
        match self {
            Self::Waiting(waiting) => waiting.caller.ahead.as_ref()?.get(),
            Self::Unasked(_) | Self::Done => None,
        }
    }
}

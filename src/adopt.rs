//! One adoption as the caller sees it: its options, and the future that it becomes.

use crate::detached::Detached;
use crate::driver::{Missed, Request, Won};
use crate::error::{Closed, HeldHere, InvalidSetting, LossReason, NotAdopted, TooLate, Unadopted};
use crate::guard::Guard;
use crate::kind::{Kind, Unfenced};
use crate::redlock::Redlock;
use crate::report::Quorum;
use quorumlock_core::coordinator::{self, KeepAlive, RequestId};
use std::fmt;
use std::future::{Future, IntoFuture};
use std::mem;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::oneshot;

/// An adoption that has not started: set its options, then await it.
///
/// ```no_run
/// # async fn example(redlock: quorumlock::Redlock, detached: quorumlock::Detached) {
/// match redlock.adopt(detached).keep_alive().await {
///     Ok(guard) => drop(guard),
///     Err(refused) => println!("{refused}"), // `refused.detached` may be tried again
/// }
/// # }
/// ```
///
/// `Ok` proves that a quorum of masters has extended the key, and that no other client has held the
/// lock since it was won by the guard that was detached. The deadline counts from the start of that
/// extension.
///
/// A lock that was kept alive when it was detached is kept alive here, too, for what was left of its
/// time; the time in between does not count. An option of this call replaces that.
///
/// # Errors
///
/// [`NotAdopted`], with the value and an [`AdoptError`](crate::AdoptError). No error deletes the keys: they expire, and
/// until then another try may succeed, here or elsewhere.
///
/// # Cancel safety
///
/// If this or its future is dropped, at whatever moment, the lock is released on every master: the
/// value is gone with it. Only of a value that this client would refuse as an
/// [`InvalidSetting`] nothing is done, then either.
#[must_use = "an adoption that is dropped releases the lock: await it"]
pub struct Adopt<K: Kind = Unfenced> {
    bearer: Bearer<K>,
    /// Replaces what was left when the lock was detached.
    keep_alive: Option<KeepAlive>,
}

/// The one who has the value. It is released when dropped, unless it was handed on, or is one that
/// this client would not adopt: then nothing of it is believed.
struct Bearer<K: Kind> {
    redlock: Redlock,
    /// `None` once it was handed on.
    detached: Option<Detached<K>>,
    /// The request that may have adopted it.
    adopting: Option<RequestId>,
}

impl<K: Kind> Drop for Bearer<K> {
    fn drop(&mut self) {
        let Some(detached) = self.detached.take() else { return };
        let adopting = self.adopting;
        if adopting.is_some() || detached.check(self.redlock.options()).is_ok() {
            let lock = detached.into_lock();
            self.redlock.driver().send(Request::GiveBack { lock, adopting });
        }
    }
}

impl<K: Kind> Adopt<K> {
    pub(crate) fn new(redlock: Redlock, detached: Detached<K>) -> Self {
        let bearer = Bearer { redlock, detached: Some(detached), adopting: None };
        Self { bearer, keep_alive: None }
    }

    /// Extends the lock in the background from now on. See
    /// [`Acquire::keep_alive`](crate::Acquire::keep_alive); the builder's
    /// [`max_hold`](crate::RedlockBuilder::max_hold) counts from the start of this call's extension.
    pub fn keep_alive(mut self) -> Self {
        self.keep_alive = Some(KeepAlive::at_most(self.bearer.redlock.options().max_hold));
        self
    }

    /// Same as [`keep_alive`](Self::keep_alive), for at most this long.
    pub const fn keep_alive_for(mut self, span: Duration) -> Self {
        self.keep_alive = Some(KeepAlive::at_most(span));
        self
    }

    /// Same as [`keep_alive`](Self::keep_alive), without an end.
    pub const fn keep_alive_forever(mut self) -> Self {
        self.keep_alive = Some(KeepAlive::FOREVER);
        self
    }

    /// Sends the request. `Err(None)` cannot be: a value that was not handed on is there.
    fn ask(self) -> Result<Waiting<K>, Option<NotAdopted<K>>> {
        let Self { mut bearer, keep_alive } = self;
        let Some(detached) = &bearer.detached else { return Err(None) };
        if let Err(invalid) = check(&bearer.redlock, detached, keep_alive) {
            let error = invalid.into();
            return Err(bearer.detached.take().map(|detached| NotAdopted { detached, error }));
        }
        let driver = bearer.redlock.driver().clone();
        let (reply, answer) = oneshot::channel();
        let (request, mut lock) = (driver.next_request(), Box::new(detached.lock().clone()));
        lock.keep_alive = keep_alive.or(lock.keep_alive);
        let resource: Arc<str> = detached.resource().into();
        bearer.adopting = Some(request);
        bearer.redlock.driver().send(Request::Adopt { request, lock, driver, resource, reply });
        Ok(Waiting { bearer, answer })
    }
}

fn check<K: Kind>(
    redlock: &Redlock,
    detached: &Detached<K>,
    keep_alive: Option<KeepAlive>,
) -> Result<(), InvalidSetting> {
    let options = redlock.options();
    detached.check(options)?;
    keep_alive.map_or(Ok(()), |keep_alive| {
        options.check_max_hold("keep_alive_for", keep_alive.max_hold(), detached.ttl())
    })
}

impl<K: Kind> fmt::Debug for Adopt<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Adopt")
            .field("detached", &self.bearer.detached)
            .field("keep_alive", &self.keep_alive)
            .finish_non_exhaustive()
    }
}

impl<K: Kind> IntoFuture for Adopt<K> {
    type Output = Result<Guard<K>, NotAdopted<K>>;
    type IntoFuture = AdoptFuture<K>;

    fn into_future(self) -> AdoptFuture<K> {
        AdoptFuture { state: State::Unasked(self) }
    }
}

/// The answer of the driver.
type Answer = Result<Won, (coordinator::NotAdopted, Quorum)>;

/// The future of an [`Adopt`]: asks at the first poll, releases when dropped. If it is polled again
/// after it has completed, it stays pending and asks nothing.
#[must_use = "an adoption that is dropped releases the lock: await it"]
pub struct AdoptFuture<K: Kind = Unfenced> {
    state: State<K>,
}

enum State<K: Kind> {
    Unasked(Adopt<K>),
    Waiting(Waiting<K>),
    Done,
}

struct Waiting<K: Kind> {
    /// Dropped first: its release ends an adoption that is won at the same moment, too.
    bearer: Bearer<K>,
    answer: oneshot::Receiver<Answer>,
}

impl<K: Kind> Waiting<K> {
    /// Returns the outcome for the caller. `None` means that the driver has ended, or has dropped
    /// the request.
    fn picked_up(mut self, answer: Option<Answer>) -> Option<Result<Guard<K>, NotAdopted<K>>> {
        use coordinator::NotAdopted::{HeldHere as Held, Lost, Unconfirmed};
        let detached = self.bearer.detached.take()?;
        let resource: Arc<str> = detached.resource().into();
        let error = match answer {
            Some(Ok(Won { lock, token, .. })) => match lock.pick_up() {
                Ok((driver, hold)) => {
                    return Some(Ok(Guard::new(driver, hold, K::won_with(token, None))));
                }
                Err(Missed::TooLate) => TooLate { resource, reason: LossReason::Lapsed }.into(),
                Err(Missed::Closed) => Closed.into(),
            },
            Some(Err((Held, _))) => HeldHere { resource }.into(),
            Some(Err((Lost(reason), _))) => TooLate { resource, reason }.into(),
            Some(Err((Unconfirmed(nodes), quorum))) => Unadopted { resource, nodes, quorum }.into(),
            None => Closed.into(),
        };
        Some(Err(NotAdopted { detached, error }))
    }
}

impl<K: Kind> Future for AdoptFuture<K> {
    type Output = Result<Guard<K>, NotAdopted<K>>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut waiting = match mem::replace(&mut self.state, State::Done) {
            State::Unasked(adopt) => match adopt.ask() {
                Ok(waiting) => waiting,
                Err(refused) => return refused.map_or(Poll::Pending, |one| Poll::Ready(Err(one))),
            },
            State::Waiting(waiting) => waiting,
            State::Done => return Poll::Pending,
        };
        match Pin::new(&mut waiting.answer).poll(cx) {
            Poll::Ready(answer) => {
                waiting.picked_up(answer.ok()).map_or(Poll::Pending, Poll::Ready)
            }
            Poll::Pending => {
                self.state = State::Waiting(waiting);
                Poll::Pending
            }
        }
    }
}

impl<K: Kind> fmt::Debug for AdoptFuture<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("AdoptFuture");
        match &self.state {
            State::Unasked(adopt) => shown.field("adopt", adopt),
            State::Waiting(waiting) => shown.field("detached", &waiting.bearer.detached),
            State::Done => &mut shown,
        };
        shown.finish_non_exhaustive()
    }
}

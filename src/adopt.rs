//! One adoption as the caller sees it: its options, and the future that it becomes.

use crate::detached::Detached;
use crate::driver::AdoptResult;
use crate::failure::{AdoptErrorKind, HeldHere, InvalidSetting, LossReason, TooLate, Unadopted};
use crate::guard::Guard;
use crate::kind::{Kind, Unfenced};
use crate::redlock::Redlock;
use quorumlock_core::coordinator::{NotAdopted, RequestId};
use quorumlock_core::quorum::Nanos;
use std::future::pending;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use thiserror::Error;
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
/// [`AdoptError`], with the value and an [`AdoptErrorKind`]. The keys expire, and until then
/// another try may succeed, by this client or another. Only a lock that was adopted, and whose
/// deadline passed or whose client ended before the caller had the guard, has been released.
///
/// # Cancel safety
///
/// If this or its future is dropped, at whatever moment, the lock is released on every master: the
/// value is gone with it. Only of a value that this client would refuse as an
/// [`InvalidSetting`] nothing is done, then either.
#[must_use = "an adoption that is dropped releases the lock: await it"]
#[derive(Debug)]
pub struct Adopt<K: Kind = Unfenced> {
    redlock: Redlock,
    /// `None` once it was handed on.
    detached: Option<Detached<K>>,
    /// The request that may have adopted it.
    adopting: Option<RequestId>,
    /// Replaces what was left when the lock was detached.
    keep_alive: Option<Nanos>,
}

/// Releases the value, unless it was handed on, or this client would not adopt it: then nothing of it is believed.
impl<K: Kind> Drop for Adopt<K> {
    fn drop(&mut self) {
        let Some(detached) = self.detached.take() else { return };
        let adopting = self.adopting;
        if adopting.is_some() || detached.check(&self.redlock.setup.options).is_ok() {
            self.redlock.driver.give_back(detached.lock, adopting);
        }
    }
}

impl Redlock {
    /// Adopts a lock that [`Guard::detach`](crate::Guard::detach) has turned into a value, here or in
    /// another process. Options for this call are set on the returned value; await it to begin.
    ///
    /// The lock is extended first. It is held from then on, and never counts as held for longer than
    /// that extension gives: the value carries no deadline. If it comes too late, the lock is
    /// lost. The masters must be the same, and so must the
    /// [`key_prefix`](crate::RedlockBuilder::key_prefix).
    ///
    /// See [`Adopt`] for errors and cancel safety.
    pub fn adopt<K: Kind>(&self, detached: Detached<K>) -> Adopt<K> {
        let (redlock, detached) = (self.clone(), Some(detached));
        Adopt { redlock, detached, adopting: None, keep_alive: None }
    }
}

impl<K: Kind> Adopt<K> {
    /// Extends the lock in the background from now on. See
    /// [`Acquire::keep_alive`](crate::Acquire::keep_alive); the builder's
    /// [`max_hold`](crate::RedlockBuilder::max_hold) counts from the start of this call's extension.
    pub fn keep_alive(mut self) -> Self {
        self.keep_alive = Some(Nanos::of(self.redlock.setup.options.max_hold));
        self
    }

    /// Same as [`keep_alive`](Self::keep_alive), for at most this long; [`Duration::MAX`] has no end.
    pub const fn keep_alive_for(mut self, span: Duration) -> Self {
        self.keep_alive = Some(Nanos::of(span));
        self
    }

    /// Asks at the first poll, and picks up what is won.
    async fn adopted(self) -> Result<Guard<K>, AdoptError<K>> {
        let (reply, mut answer) = oneshot::channel();
        // Dropped before `answer`: its release ends an adoption that is won at the same moment, too.
        let mut adopt = self;
        let outcome = match adopt.ask(reply) {
            Ok(resource) => match (&mut answer).await {
                Ok(answer) => adopt.picked_up(resource, answer),
                Err(_) => Err(adopt.redlock.driver.closed().into()),
            },
            Err(invalid) => Err(invalid.into()),
        };
        // It is there: it was not given back.
        let Some(detached) = adopt.detached.take() else { return pending().await };
        outcome.map_err(|kind| AdoptError { detached, kind })
    }

    /// Sends the request, and returns the resource.
    fn ask(&mut self, reply: oneshot::Sender<AdoptResult>) -> Result<Arc<str>, InvalidSetting> {
        let Some(detached) = &self.detached else { return Ok("".into()) };
        let (driver, options) = (&self.redlock.driver, &self.redlock.setup.options);
        detached.check(options)?;
        if let Some(keep_alive) = self.keep_alive {
            options.check_max_hold("keep_alive_for", keep_alive.span(), detached.ttl())?;
        }
        let (request, mut lock) = (driver.next_request(), detached.lock.clone());
        lock.keep_alive = self.keep_alive.or(lock.keep_alive);
        let resource: Arc<str> = detached.resource().into();
        self.adopting = Some(request);
        driver.adopt((request, reply), lock, (resource.clone(), K::NAME));
        Ok(resource)
    }

    /// Returns the outcome for the caller.
    fn picked_up(&self, resource: Arc<str>, won: AdoptResult) -> Result<Guard<K>, AdoptErrorKind> {
        Err(match won {
            Ok(lock) => {
                let late = || TooLate { resource, reason: LossReason::Lapsed }.into();
                let (driver, hold) = lock.pick_up::<AdoptErrorKind>(late)?;
                let token = self.detached.as_ref().and_then(Detached::token);
                return Ok(Guard::new(driver, hold, token, None));
            }
            Err(NotAdopted::HeldHere) => HeldHere { resource }.into(),
            Err(NotAdopted::Lost(reason)) => TooLate { resource, reason }.into(),
            Err(NotAdopted::Unconfirmed(nodes)) => {
                Unadopted { resource, nodes, quorum: self.redlock.setup.masters.1 }.into()
            }
        })
    }
}

impl<K: Kind> IntoFuture for Adopt<K> {
    type Output = Result<Guard<K>, AdoptError<K>>;
    type IntoFuture = AdoptFuture<K>;

    fn into_future(self) -> AdoptFuture<K> {
        AdoptFuture { adopting: Some(Box::pin(self.adopted())) }
    }
}

/// The future of an [`Adopt`]: asks at the first poll, releases when dropped. If it is polled again
/// after it has completed, it stays pending and asks nothing.
#[must_use = "an adoption that is dropped releases the lock: await it"]
pub struct AdoptFuture<K: Kind = Unfenced> {
    adopting: Option<Adopting<K>>,
}

type Adopting<K> = Pin<Box<dyn Future<Output = Result<Guard<K>, AdoptError<K>>> + Send + Sync>>;

impl<K: Kind> Future for AdoptFuture<K> {
    type Output = Result<Guard<K>, AdoptError<K>>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Some(adopting) = &mut self.adopting else { return Poll::Pending };
        let outcome = ready!(adopting.as_mut().poll(cx));
        self.adopting = None;
        Poll::Ready(outcome)
    }
}

debug_fields!({ K: Kind } AdoptFuture<K>);

/// A lock that was not adopted. Unless its keys are gone, the value may be used again.
#[derive(Error)]
#[error("not adopted: {kind}")]
#[non_exhaustive]
pub struct AdoptError<K: Kind = Unfenced> {
    /// The value, as it was before.
    pub detached: Detached<K>,
    /// The reason.
    #[source]
    pub kind: AdoptErrorKind,
}

debug_is_display!({ K: Kind } AdoptError<K>);

//! The state that a guard and the driver share about one held lock.

mod deadline;
mod latch;
#[cfg(test)]
mod tests;

use super::ReleaseResult;
use crate::failure::{LossReason, Lost};
use crate::kind_name::KindName;
use crate::released::Released;
use crate::telemetry::Held;
use deadline::AtomicDeadline;
use latch::Latch;
use quorumlock_core::coordinator::AttemptId;
use quorumlock_core::quorum::Instant;
use quorumlock_core::shelf::{Lent, Shelf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, atomic};
use std::time::Duration;
use tokio::sync::Notify;
#[cfg(feature = "tokio-util")]
use tokio_util::sync::CancellationToken;

/// The locks that no guard has and that are kept warm, for callers to take.
pub(crate) type IdleLocks = Shelf<Arc<LeaseState>>;

/// The place of one of them.
pub(super) type OnShelf = Lent<Arc<LeaseState>>;

/// One held lock, as seen from both sides.
#[derive(Debug)]
pub(crate) struct LeaseState {
    pub(crate) attempt: AttemptId,
    pub(crate) resource: Arc<str>,
    pub(super) kind: KindName,
    acquired_at: Instant,
    /// The guard is no longer on its way: its caller has picked it up, or the driver has taken it back.
    pub(super) claim: Latch,
    /// The guard is gone, for whatever reason.
    pub(crate) parted: Latch,
    /// The deadline is the end of the keep-alive: extensions move it no further.
    pub(crate) last_extension: Latch,
    /// Another client has asked for the lock.
    pub(crate) asked: Latch,
    /// Its place on the shelf, if the shelf has lent it to the guard.
    pub(super) lent: Option<Arc<OnShelf>>,
    deadline: AtomicDeadline,
    watch: Mutex<Watch>,
}

/// Knowledge about the end of a hold. It is locked for moments; a look at a hold that is not over
/// needs the deadline alone.
#[derive(Debug)]
enum Watch {
    Held(Watchers),
    Over { at: Instant, reason: LossReason },
}

/// The notifiers of the end of a hold; each is created for the first caller that asks.
#[derive(Debug, Default)]
struct Watchers {
    /// Also notified when another client asks for the lock.
    waiters: Option<Arc<Notify>>,
    #[cfg(feature = "tokio-util")]
    token: Option<CancellationToken>,
}

impl LeaseState {
    pub(crate) fn new(
        attempt: AttemptId,
        resource: Arc<str>,
        kind: KindName,
        now: Instant,
        deadline: Instant,
    ) -> Self {
        Self {
            attempt,
            resource,
            kind,
            acquired_at: now,
            claim: Latch::default(),
            parted: Latch::default(),
            last_extension: Latch::default(),
            asked: Latch::default(),
            lent: None,
            deadline: AtomicDeadline::new(deadline),
            watch: Mutex::new(Watch::Held(Watchers::default())),
        }
    }

    /// Returns the state for a guard of an idle lock of the shelf.
    pub(crate) fn lent(lent: &Arc<OnShelf>, resource: Arc<str>, now: Instant) -> Self {
        let mut state =
            Self::new(lent.hold.attempt, resource, KindName::Plain, now, lent.hold.deadline);
        state.lent = Some(lent.clone());
        state
    }

    /// Returns the state for the reader's guard that follows this one. Its caller has it already.
    pub(crate) fn successor(&self) -> Self {
        let (resource, kind) = (self.resource.clone(), KindName::Reader);
        let next = Self::new(self.attempt, resource, kind, self.acquired_at, self.deadline());
        next.claim.take();
        next
    }

    /// Ends the hold for this guard, for the driver: it is that of `next` from now on, until the same
    /// deadline.
    pub(crate) fn hand_on(&self, now: Instant, next: &Self) {
        // An extension may have been won since `next` was made.
        next.extend(self.deadline(), self.last_extension.is_taken());
        self.end(now, LossReason::Downgraded);
    }

    /// Completes when this hold is over. Unless it was handed on, `next` is over with it then: a driver
    /// that has ended knows nothing of `next`.
    pub(crate) async fn lost_with(&self, next: &Self, now: impl Fn() -> Instant) {
        if self.lost().await.reason != LossReason::Downgraded {
            self.end_too(now(), next);
        }
    }

    /// Ends `next`, for the same reason for which this hold is over.
    pub(crate) fn end_too(&self, now: Instant, next: &Self) {
        next.end(now, self.loss(now).reason);
    }

    pub(crate) fn deadline(&self) -> Instant {
        self.deadline.instant()
    }

    /// Returns the remaining time, or why there is none.
    pub(crate) fn check(&self, now: Instant) -> Result<Duration, Lost> {
        self.deadline.remaining(now).ok_or_else(|| self.loss(now))
    }

    /// Returns what is held, and the time from the win until `now`, but never beyond the deadline.
    pub(super) fn held(&self, now: Instant) -> Held<'_> {
        let held = now.min(self.deadline()).since(self.acquired_at);
        Held { resource: &self.resource, held }
    }

    /// Moves the deadline, for the driver: an extension was won, and no other moves the deadline
    /// any further if this one `is_last`. Returns `false` if the holder saw the deadline pass.
    pub(crate) fn extend(&self, to: Instant, is_last: bool) -> bool {
        let extended = self.deadline.extend(to);
        if extended && is_last {
            self.last_extension.take();
        }
        extended
    }

    /// Ends the hold, for the driver. The first reason is kept.
    pub(crate) fn end(&self, now: Instant, reason: LossReason) {
        self.deadline.end();
        let mut watch = self.watch();
        let Watch::Held(watchers) = &mut *watch else { return };
        let watchers = std::mem::take(watchers);
        *watch = Watch::Over { at: now, reason };
        drop(watch);
        watchers.waiters.inspect(|waiters| waiters.notify_waiters());
        #[cfg(feature = "tokio-util")]
        if let Some(token) = watchers.token {
            token.cancel();
        }
    }

    /// Ends the hold, for the guard: it is released, dropped or forgotten. Returns `false` if it
    /// had already lapsed.
    pub(crate) fn give_up(&self, now: Instant) -> bool {
        let in_time = self.check(now).is_ok();
        self.end(now, if in_time { LossReason::Released } else { LossReason::Lapsed });
        in_time
    }

    /// Returns the outcome of a release for the guard. `answer` is the driver's, and `None` if it
    /// has ended. A hold that was lost before its guard was given up knows the reason itself.
    pub(crate) fn released(&self, answer: Option<ReleaseResult>) -> Result<Released, Lost> {
        let lost = self.loss(self.deadline());
        match answer {
            Some(Ok(released)) => Ok(released),
            _ if lost.reason != LossReason::Released => Err(lost),
            Some(Err(reason)) => Err(Lost { reason, ..lost }),
            None => Ok(Released::Unconfirmed(Vec::new())),
        }
    }

    /// Completes when the hold is over; at once if it already is.
    pub(crate) async fn lost(&self) -> Lost {
        self.over_or(|| false).await;
        // The end is known before the waiters are notified: this default is never used.
        self.loss(self.deadline())
    }

    /// Notes that another client has asked for the lock, for the driver.
    pub(crate) fn want(&self) {
        self.asked.take();
        self.waiters().inspect(|waiters| waiters.notify_waiters());
    }

    /// Completes when another client has asked for the lock, or the hold is over; at once if either is already true.
    pub(crate) async fn wanted(&self) {
        self.over_or(|| self.asked.is_taken()).await;
    }

    /// Completes when the hold is over, or when this is so; at once if either is already true.
    async fn over_or(&self, is_so: impl Fn() -> bool) {
        while let Some(waiters) = self.waiters() {
            // Created before this look at the hold: what comes after it is not missed.
            let notified = waiters.notified();
            if is_so() || self.waiters().is_none() {
                return;
            }
            notified.await;
        }
    }

    /// Returns what is notified when the hold is over, or wanted; `None` if it is over.
    fn waiters(&self) -> Option<Arc<Notify>> {
        match &mut *self.watch() {
            Watch::Held(watchers) => Some(watchers.waiters.get_or_insert_default().clone()),
            Watch::Over { .. } => None,
        }
    }

    /// Returns why the hold is over. A caller may look at `now` before that is set: then it has
    /// lapsed.
    fn loss(&self, now: Instant) -> Lost {
        let (at, reason) = match &*self.watch() {
            Watch::Over { at, reason } => (*at, reason.clone()),
            Watch::Held(_) => (now, LossReason::Lapsed),
        };
        // Noticed late or not, a lapse happened at the deadline. A look before the deadline falls
        // between the end of the hold and its reason: no time after the look was protected.
        let at = if reason == LossReason::Lapsed { self.deadline().min(at) } else { at };
        let (resource, held_for) = (self.resource.clone(), at.since(self.acquired_at));
        let at_max_hold = reason == LossReason::Lapsed && self.last_extension.is_taken();
        Lost { resource, reason, held_for, at_max_hold }
    }

    /// Returns a token that is cancelled when the hold is over, which its caller may cancel as well. In a fork it is
    /// cancelled.
    #[cfg(feature = "tokio-util")]
    pub(crate) fn token(&self, is_here: bool) -> CancellationToken {
        if is_here && let Watch::Held(watchers) = &mut *self.watch() {
            return watchers.token.get_or_insert_default().child_token();
        }
        let over = CancellationToken::new();
        over.cancel();
        over
    }

    /// Returns the loss in a fork. It takes no lock, which a thread of the parent may have had.
    pub(crate) fn forked(&self, now: Instant) -> Lost {
        let (resource, held_for) = (self.resource.clone(), self.held(now).held);
        Lost { resource, reason: LossReason::Forked, held_for, at_max_hold: false }
    }

    fn watch(&self) -> MutexGuard<'_, Watch> {
        self.watch.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

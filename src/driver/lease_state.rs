//! The state that a guard and the driver share about one held lock.

mod deadline;
mod latch;
mod lent;
mod succession;
#[cfg(feature = "tokio-util")]
mod token;
mod wanted;

use super::ReleaseResult;
use crate::failure::{LossReason, Lost};
use crate::kind_name::KindName;
use crate::released::Released;
use crate::telemetry::Held;
use deadline::AtomicDeadline;
use latch::Latch;
pub(crate) use lent::IdleLocks;
use lent::OnShelf;
use quorumlock_core::coordinator::AttemptId;
use quorumlock_core::quorum::Instant;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, atomic};
use std::time::Duration;
use tokio::sync::Notify;
#[cfg(feature = "tokio-util")]
use tokio_util::sync::CancellationToken;

/// One held lock, as seen from both sides.
#[derive(Debug)]
pub(crate) struct LeaseState {
    pub(crate) attempt: AttemptId,
    pub(crate) resource: Arc<str>,
    pub(super) kind: KindName,
    acquired_at: Instant,
    /// The guard was picked up by its caller, or taken back because it was not.
    claim: Latch,
    /// The guard is gone.
    parted: Latch,
    /// The deadline is the end of the keep-alive: extensions move it no further.
    last: Latch,
    /// Another client has asked for the lock.
    asked: Latch,
    /// Its place on the shelf, if the shelf has lent it to the guard.
    lent: Option<Arc<OnShelf>>,
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
            claim: Latch::new(),
            parted: Latch::new(),
            last: Latch::new(),
            asked: Latch::new(),
            lent: None,
            deadline: AtomicDeadline::new(deadline),
            watch: Mutex::new(Watch::Held(Watchers::default())),
        }
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
            self.last.take();
        }
        extended
    }

    /// Returns whether the deadline is the end of the keep-alive.
    pub(crate) fn is_deadline_final(&self) -> bool {
        self.last.is_taken()
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

    /// Marks the guard as gone, for whatever reason. Returns `true` once.
    pub(crate) fn part(&self) -> bool {
        self.parted.take()
    }

    /// Ends the hold, for the guard: it is released, dropped or forgotten. Returns `false` if it
    /// had already lapsed.
    pub(crate) fn give_up(&self, now: Instant) -> bool {
        let in_time = self.check(now).is_ok();
        self.end(now, if in_time { LossReason::Released } else { LossReason::Lapsed });
        in_time
    }

    /// Marks the guard as received by its caller. Returns `false` if the driver has taken it back meanwhile.
    pub(crate) fn pick_up(&self) -> bool {
        self.claim.take()
    }

    /// Takes the guard back, for the driver. Returns `false` if its caller has it.
    pub(crate) fn take_back(&self) -> bool {
        self.claim.take()
    }

    /// Returns whether the guard is no longer on its way: its caller has it, or it was taken back.
    pub(crate) fn is_picked_up(&self) -> bool {
        self.claim.is_taken()
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
        let at_max_hold = reason == LossReason::Lapsed && self.is_deadline_final();
        Lost { resource, reason, held_for, at_max_hold }
    }

    fn watch(&self) -> MutexGuard<'_, Watch> {
        self.watch.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Barrier;
    use std::thread;

    pub(super) fn at(millis: u64) -> Instant {
        Instant::from_nanos(millis * 1_000_000)
    }

    pub(super) fn hold_until(millis: u64) -> LeaseState {
        LeaseState::new(AttemptId::NONE, "r".into(), KindName::Plain, at(0), at(millis))
    }

    #[test]
    fn a_guard_is_picked_up_or_taken_back_by_the_first_that_comes() {
        let (early, late) = (hold_until(100), hold_until(100));
        assert!(!early.is_picked_up() && early.pick_up() && early.is_picked_up());
        assert!(!early.take_back() && late.take_back() && !late.pick_up());
    }

    #[test]
    fn a_lapse_is_final_even_if_an_extension_follows() {
        let hold = hold_until(100);
        assert_eq!(hold.check(at(40)).unwrap(), Duration::from_millis(60));
        assert!(hold.check(at(100)).is_err(), "at the deadline, not after it");
        assert!(!hold.extend(at(900), false));
        assert!(hold.check(at(40)).is_err(), "also for a caller with an older clock");
        assert_eq!(hold.deadline(), at(100));
    }

    /// A deadline that cannot be represented is as good as never.
    #[test]
    fn a_deadline_out_of_range_is_the_last_in_range() {
        let (sign, most) = (1_u64 << 63, u64::MAX);
        for beyond in [sign - 1, sign, sign + 1, most] {
            let hold = LeaseState::new(
                AttemptId::NONE,
                "r".into(),
                KindName::Plain,
                at(0),
                Instant::from_nanos(beyond),
            );
            assert_eq!(hold.deadline(), Instant::from_nanos(sign - 1), "{beyond}");
            assert!(hold.check(at(40)).is_ok(), "{beyond}");
            let hold = hold_until(100);
            assert!(hold.extend(Instant::from_nanos(beyond), false));
            assert_eq!(hold.deadline(), Instant::from_nanos(sign - 1), "{beyond}");
            assert!(hold.check(at(100)).is_ok(), "{beyond}");
        }
    }

    #[test]
    fn an_extension_never_moves_the_deadline_back() {
        let hold = hold_until(100);
        assert!(hold.extend(at(50), false));
        assert_eq!(hold.deadline(), at(100));
        assert!(hold.extend(at(200), false));
        assert_eq!(hold.check(at(150)).unwrap(), Duration::from_millis(50));
    }

    #[test]
    fn a_lapse_and_a_simultaneous_extension_agree_on_the_first() {
        for _ in 0..1_000 {
            let (deadline, start) = (AtomicDeadline::new(at(100)), Barrier::new(3));
            let extend = || (start.wait(), deadline.extend(at(200))).1;
            let look = || (start.wait(), deadline.remaining(at(150)).is_some()).1;
            let (extended, held) = thread::scope(|scope| {
                let (extending, looking) =
                    (scope.spawn(extend), [look; 2].map(|look| scope.spawn(look)));
                (extending.join().unwrap(), looking.map(|thread| thread.join().unwrap()))
            });
            assert_eq!(held, [extended; 2]);
            assert_eq!(deadline.remaining(at(120)).is_some(), extended, "and so for good");
        }
    }

    #[test]
    fn the_first_reason_of_a_loss_stands() {
        let hold = hold_until(100);
        hold.end(at(70), LossReason::Closed);
        hold.end(at(120), LossReason::Lapsed);
        let lost = hold.check(at(130)).unwrap_err();
        assert_eq!((lost.reason, lost.held_for), (LossReason::Closed, Duration::from_millis(70)));
    }

    #[test]
    fn a_lapse_at_max_hold_differs_from_any_other() {
        let (kept, unconfirmed) = (hold_until(100), hold_until(100));
        assert!(kept.extend(at(200), true) && unconfirmed.extend(at(200), false));
        assert!(kept.is_deadline_final() && !unconfirmed.is_deadline_final());
        let text = |hold: &LeaseState| hold.check(at(200)).unwrap_err().to_string();
        assert_eq!(
            text(&kept),
            "lost \"r\" 200 ms after it was acquired: it has reached its max_hold"
        );
        let lapsed = "lost \"r\" 200 ms after it was acquired: its deadline has passed";
        assert_eq!(text(&unconfirmed), lapsed);
        // An end that has another reason stays that.
        let closed = hold_until(100);
        closed.extend(at(200), true);
        closed.end(at(150), LossReason::Closed);
        assert!(!closed.check(at(160)).unwrap_err().at_max_hold);
    }

    #[test]
    fn a_guard_given_up_after_its_deadline_has_lapsed() {
        let (in_time, late) = (hold_until(100), hold_until(100));
        in_time.give_up(at(99));
        late.give_up(at(130));
        let lost = |hold: &LeaseState| hold.check(at(140)).unwrap_err();
        assert_eq!(lost(&in_time).reason, LossReason::Released);
        assert_eq!(lost(&late).reason, LossReason::Lapsed);
        assert_eq!(lost(&late).held_for, Duration::from_millis(100), "not a moment more");
    }

    #[test]
    fn a_release_of_a_lost_hold_fails_whenever_that_shows() {
        let (held, lapsed) = (hold_until(100), hold_until(100));
        held.give_up(at(40));
        lapsed.give_up(at(130));
        assert_eq!(held.released(Some(Ok(Released::Confirmed))), Ok(Released::Confirmed));
        assert_eq!(held.released(None), Ok(Released::Unconfirmed(Vec::new())));
        let gone = LossReason::QuorumGone(Vec::new());
        let lost = held.released(Some(Err(gone.clone()))).unwrap_err();
        assert_eq!((lost.reason, lost.held_for), (gone.clone(), Duration::from_millis(40)));
        for answer in [None, Some(Err(gone))] {
            let lost = lapsed.released(answer).unwrap_err();
            assert_eq!(
                (lost.reason, lost.held_for),
                (LossReason::Lapsed, Duration::from_millis(100))
            );
        }
    }

    #[test]
    fn no_time_counts_as_held_that_came_after_the_end() {
        let hold = hold_until(100);
        hold.deadline.end();
        let lost = hold.check(at(40)).unwrap_err();
        assert_eq!(lost.held_for, Duration::from_millis(40));
        hold.end(at(40), LossReason::Released);
        assert_eq!(hold.check(at(60)).unwrap_err().reason, LossReason::Released);
    }

    #[tokio::test]
    async fn the_loss_is_seen_by_early_and_late_waiters() {
        let hold = Arc::new(hold_until(100));
        let waiter = tokio::spawn({
            let hold = hold.clone();
            async move { hold.lost().await }
        });
        tokio::task::yield_now().await;
        hold.end(at(100), LossReason::Lapsed);
        assert_eq!(waiter.await.unwrap().reason, LossReason::Lapsed);
        assert_eq!(hold.lost().await.held_for, Duration::from_millis(100));
    }
}

//! The state that a guard and the driver share about one held lock.

mod deadline;
mod latch;

use crate::error::{Lost, LostReason};
use deadline::AtomicDeadline;
use latch::Latch;
use quorumlock_core::coordinator::AttemptId;
use quorumlock_core::quorum::Instant;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, atomic};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// One held lock, as seen from both sides.
#[derive(Debug)]
pub(crate) struct LeaseState {
    pub(crate) attempt: AttemptId,
    pub(crate) resource: Arc<str>,
    acquired_at: Instant,
    /// The guard was picked up by its caller, or taken back because the caller had not done so.
    claim: Latch,
    /// The guard is gone.
    parted: Latch,
    deadline: AtomicDeadline,
    watch: Mutex<Watch>,
}

/// Knowledge about the end of a hold. It is locked for moments; a look at a hold that is not over
/// needs the deadline alone.
#[derive(Debug)]
enum Watch {
    /// No caller waits for the end.
    Unwatched,
    /// Cancelled when the end has come; created for the first waiter.
    Awaited(CancellationToken),
    Over(Ending),
}

/// Time and reason of the end of a hold.
#[derive(Debug)]
struct Ending {
    at: Instant,
    reason: LostReason,
}

impl LeaseState {
    pub(crate) fn new(
        attempt: AttemptId,
        resource: Arc<str>,
        now: Instant,
        deadline: Instant,
    ) -> Self {
        Self {
            attempt,
            resource,
            acquired_at: now,
            claim: Latch::new(),
            parted: Latch::new(),
            deadline: AtomicDeadline::new(deadline),
            watch: Mutex::new(Watch::Unwatched),
        }
    }

    pub(crate) fn deadline(&self) -> Instant {
        self.deadline.instant()
    }

    /// Returns the remaining time, or why there is none.
    pub(crate) fn check(&self, now: Instant) -> Result<Duration, Lost> {
        self.deadline.remaining(now).ok_or_else(|| self.loss(now))
    }

    /// Returns the time from the win until `now`, but never beyond the deadline.
    pub(crate) fn held_for(&self, now: Instant) -> Duration {
        now.min(self.deadline()).since(self.acquired_at)
    }

    /// Moves the deadline, for the driver: an extension was won. Returns `false` if the holder saw
    /// the deadline pass.
    pub(crate) fn extend(&self, to: Instant) -> bool {
        self.deadline.extend(to)
    }

    /// Ends the hold, for the driver. The first reason is kept.
    pub(crate) fn end(&self, now: Instant, reason: LostReason) {
        self.deadline.end();
        let mut watch = self.watch();
        if matches!(*watch, Watch::Over(_)) {
            return;
        }
        let before = std::mem::replace(&mut *watch, Watch::Over(Ending { at: now, reason }));
        drop(watch);
        if let Watch::Awaited(over) = before {
            over.cancel();
        }
    }

    /// Marks the guard as gone, for whatever reason. Returns `true` once.
    pub(crate) fn part(&self) -> bool {
        self.parted.take()
    }

    /// Ends the hold, for the guard: it is released, dropped or left. Returns `false` if it had
    /// lapsed by then.
    pub(crate) fn give_up(&self, now: Instant) -> bool {
        let in_time = self.check(now).is_ok();
        self.end(now, if in_time { LostReason::Released } else { LostReason::Lapsed });
        in_time
    }

    /// Marks the guard as received by its caller. Returns `false` if the driver has taken it back
    /// meanwhile.
    pub(crate) fn pick_up(&self) -> bool {
        self.claim.take()
    }

    /// Completes when the hold is over; at once if it already is.
    pub(crate) async fn lost(&self) -> Lost {
        if let Some(over) = self.over() {
            over.cancelled().await;
        }
        // The end is known before the token is cancelled, so the default passed here is never used.
        self.loss(self.deadline())
    }

    /// Returns a token that is cancelled when the hold is over. A caller that cancels it itself
    /// cancels only its own copy.
    pub(crate) fn token(&self) -> CancellationToken {
        self.over().map(|over| over.child_token()).unwrap_or_else(|| {
            let over = CancellationToken::new();
            over.cancel();
            over
        })
    }

    /// Returns the token that is cancelled when the hold is over; `None` if it is over.
    fn over(&self) -> Option<CancellationToken> {
        let mut watch = self.watch();
        match &*watch {
            Watch::Unwatched => {
                let over = CancellationToken::new();
                *watch = Watch::Awaited(over.clone());
                Some(over)
            }
            Watch::Awaited(over) => Some(over.clone()),
            Watch::Over(_) => None,
        }
    }

    /// Returns why the hold is over. A caller may look at `now` before that is set: then it has
    /// lapsed.
    fn loss(&self, now: Instant) -> Lost {
        let (at, reason) = match &*self.watch() {
            Watch::Over(Ending { at, reason }) => (*at, reason.clone()),
            Watch::Unwatched | Watch::Awaited(_) => (now, LostReason::Lapsed),
        };
        // Noticed late or not, a lapse happened at the deadline. A look before the deadline falls
        // between the end of the hold and its reason: no time after the look was protected.
        let at = if reason == LostReason::Lapsed { self.deadline().min(at) } else { at };
        Lost::new(self.resource.clone(), reason, at.since(self.acquired_at))
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

    fn at(millis: u64) -> Instant {
        Instant::from_nanos(millis * 1_000_000)
    }

    fn hold_until(millis: u64) -> LeaseState {
        LeaseState::new(AttemptId::NONE, "r".into(), at(0), at(millis))
    }

    #[test]
    fn a_lapse_is_final_even_if_an_extension_follows() {
        let hold = hold_until(100);
        assert_eq!(hold.check(at(40)).unwrap(), Duration::from_millis(60));
        assert!(hold.check(at(100)).is_err(), "at the deadline, not after it");
        assert!(!hold.extend(at(900)));
        assert!(hold.check(at(40)).is_err(), "also for whoever asks with an older clock");
        assert_eq!(hold.deadline(), at(100));
    }

    /// A deadline that cannot be represented is as good as never.
    #[test]
    fn a_deadline_beyond_what_can_be_told_is_the_last_that_can() {
        let (sign, most) = (1_u64 << 63, u64::MAX);
        for beyond in [sign - 1, sign, sign + 1, most] {
            let hold =
                LeaseState::new(AttemptId::NONE, "r".into(), at(0), Instant::from_nanos(beyond));
            assert_eq!(hold.deadline(), Instant::from_nanos(sign - 1), "{beyond}");
            assert!(hold.check(at(40)).is_ok(), "{beyond}");
            let hold = hold_until(100);
            assert!(hold.extend(Instant::from_nanos(beyond)));
            assert_eq!(hold.deadline(), Instant::from_nanos(sign - 1), "{beyond}");
            assert!(hold.check(at(100)).is_ok(), "{beyond}");
        }
    }

    #[test]
    fn an_extension_never_moves_the_deadline_back() {
        let hold = hold_until(100);
        assert!(hold.extend(at(50)));
        assert_eq!(hold.deadline(), at(100));
        assert!(hold.extend(at(200)));
        assert_eq!(hold.check(at(150)).unwrap(), Duration::from_millis(50));
    }

    #[test]
    fn a_lapse_and_an_extension_in_the_same_moment_agree_on_who_was_first() {
        for _ in 0..1_000 {
            let (deadline, start) = (AtomicDeadline::new(at(100)), Barrier::new(3));
            let extend = || (start.wait(), deadline.extend(at(200))).1;
            let look = || (start.wait(), deadline.remaining(at(150)).is_some()).1;
            let (extended, held) = thread::scope(|scope| {
                let (extending, looking) =
                    (scope.spawn(extend), [look; 2].map(|one| scope.spawn(one)));
                (extending.join().unwrap(), looking.map(|one| one.join().unwrap()))
            });
            assert_eq!(held, [extended; 2]);
            assert_eq!(deadline.remaining(at(120)).is_some(), extended, "and so for good");
        }
    }

    #[test]
    fn the_first_reason_of_a_loss_stands() {
        let hold = hold_until(100);
        hold.end(at(70), LostReason::Closed);
        hold.end(at(120), LostReason::Lapsed);
        let lost = hold.check(at(130)).unwrap_err();
        assert_eq!(
            (lost.reason(), lost.held_for()),
            (&LostReason::Closed, Duration::from_millis(70))
        );
    }

    #[test]
    fn a_guard_given_up_after_its_deadline_has_lapsed() {
        let (in_time, late) = (hold_until(100), hold_until(100));
        in_time.give_up(at(99));
        late.give_up(at(130));
        let told = |hold: &LeaseState| hold.check(at(140)).unwrap_err();
        assert_eq!(told(&in_time).reason(), &LostReason::Released);
        assert_eq!(told(&late).reason(), &LostReason::Lapsed);
        assert_eq!(told(&late).held_for(), Duration::from_millis(100), "not a moment more");
    }

    #[test]
    fn no_time_counts_as_held_that_came_after_the_end() {
        let hold = hold_until(100);
        hold.deadline.end();
        let lost = hold.check(at(40)).unwrap_err();
        assert_eq!(lost.held_for(), Duration::from_millis(40));
        hold.end(at(40), LostReason::Released);
        assert_eq!(hold.check(at(60)).unwrap_err().reason(), &LostReason::Released);
    }

    #[tokio::test]
    async fn the_loss_is_seen_by_whoever_waited_and_by_whoever_comes_late() {
        let hold = Arc::new(hold_until(100));
        let waiter = tokio::spawn({
            let hold = hold.clone();
            async move { hold.lost().await }
        });
        tokio::task::yield_now().await;
        hold.end(at(100), LostReason::Lapsed);
        assert_eq!(waiter.await.unwrap().reason(), &LostReason::Lapsed);
        assert_eq!(hold.lost().await.held_for(), Duration::from_millis(100));
    }

    /// The token is created for the first caller that asks. The hold may end before that, or after
    /// it.
    #[tokio::test]
    async fn a_token_that_is_asked_for_as_the_hold_ends_is_cancelled() {
        for _ in 0..1_000 {
            let (hold, start) = (hold_until(100), Barrier::new(2));
            let token = thread::scope(|scope| {
                let asking = scope.spawn(|| (start.wait(), hold.token()).1);
                start.wait();
                hold.end(at(100), LostReason::Lapsed);
                asking.join().unwrap()
            });
            assert!(token.is_cancelled());
            assert!(hold.token().is_cancelled(), "and whoever comes late");
            assert_eq!(hold.lost().await.reason(), &LostReason::Lapsed);
        }
    }
}

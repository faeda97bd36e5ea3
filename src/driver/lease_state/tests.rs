//! The states of a hold, and its races.

use super::*;
use futures::FutureExt;
use std::sync::Barrier;
use std::thread;

fn at(millis: u64) -> Instant {
    Instant::from_nanos(millis * 1_000_000)
}

fn hold_until(millis: u64) -> LeaseState {
    LeaseState::new(AttemptId::NONE, "r".into(), KindName::Plain, at(0), at(millis))
}

#[test]
fn a_guard_is_picked_up_or_taken_back_by_the_first_that_comes() {
    let (early, late) = (hold_until(100), hold_until(100));
    assert!(!early.claim.is_taken() && early.claim.take() && early.claim.is_taken());
    assert!(!early.claim.take() && late.claim.take() && !late.claim.take());
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
    assert!(kept.last_extension.is_taken() && !unconfirmed.last_extension.is_taken());
    let text = |hold: &LeaseState| hold.check(at(200)).unwrap_err().to_string();
    assert_eq!(text(&kept), "lost \"r\" 200 ms after it was acquired: it has reached its max_hold");
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
        assert_eq!((lost.reason, lost.held_for), (LossReason::Lapsed, Duration::from_millis(100)));
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

#[test]
fn what_is_handed_on_keeps_its_time_and_ends_for_those_before() {
    let hold = hold_until(100);
    let next = hold.successor();
    assert!(hold.extend(at(200), true), "won after the call, and before the driver saw it");
    hold.hand_on(at(40), &next);
    assert_eq!(hold.check(at(50)).unwrap_err().reason, LossReason::Downgraded);
    assert_eq!((next.deadline(), next.last_extension.is_taken()), (at(200), true));
    assert_eq!(next.held(at(50)).held, at(50).since(at(0)), "from the win on");
    assert!(!next.claim.take(), "no shutdown takes it back as one that no caller has");
}

#[test]
fn what_follows_a_hold_that_is_over_is_over_for_that_reason() {
    let hold = hold_until(100);
    let next = hold.successor();
    hold.end(at(40), LossReason::Closed);
    hold.end_too(at(50), &next);
    assert_eq!(next.check(at(50)).unwrap_err().reason, LossReason::Closed);
}

#[tokio::test]
async fn an_ask_is_seen_by_a_task_that_waited_and_by_one_that_comes_late() {
    let hold = Arc::new(hold_until(100));
    let waiter = tokio::spawn({
        let hold = hold.clone();
        async move { hold.wanted().await }
    });
    tokio::task::yield_now().await;
    assert!(!hold.asked.is_taken() && !waiter.is_finished());
    hold.want();
    waiter.await.unwrap();
    hold.wanted().await;
    assert!(hold.asked.is_taken() && hold.check(at(40)).is_ok(), "it is held all the same");
    assert!(hold.lost().now_or_never().is_none(), "and not lost");
    hold.end(at(50), LossReason::Released);
    assert!(hold.asked.is_taken(), "once and for all");
}

#[tokio::test]
async fn the_end_of_a_hold_ends_the_wait_for_an_ask() {
    let hold = Arc::new(hold_until(100));
    let waiter = tokio::spawn({
        let hold = hold.clone();
        async move { hold.wanted().await }
    });
    tokio::task::yield_now().await;
    hold.end(at(50), LossReason::Closed);
    waiter.await.unwrap();
    hold.wanted().await;
}

/// The token is created for the first caller that asks. The hold may end before that, or after
/// it.
#[cfg(feature = "tokio-util")]
#[tokio::test]
async fn a_token_that_is_asked_for_as_the_hold_ends_is_cancelled() {
    for _ in 0..1_000 {
        let (hold, start) = (hold_until(100), Barrier::new(2));
        let token = thread::scope(|scope| {
            let asking = scope.spawn(|| (start.wait(), hold.token(true)).1);
            start.wait();
            hold.end(at(100), LossReason::Lapsed);
            asking.join().unwrap()
        });
        assert!(token.is_cancelled());
        assert!(hold.token(true).is_cancelled(), "and for a late caller");
        assert_eq!(hold.lost().await.reason, LossReason::Lapsed);
    }
}

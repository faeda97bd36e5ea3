//! Every future that can win, won while it is neither polled nor dropped: nothing extends its lock, which is free
//! when its first ttl is over.

use super::operations::{ALL, Begin, Begun, Role};
use super::stage::{Fault, Stage, TTL, detach, hold};
use super::sweep::step_by_step;
use super::wire::Loses;
use crate::driver::tests::{KEY, MS, SECOND, settle};
use crate::kind::Held;
use crate::{Acquire, AcquireError};
use std::future::IntoFuture;
use std::rc::Rc;
use std::time::Duration;
use tokio::time::{sleep, timeout};

fn kept<G: Held<Guard: Send, Error: Send>>(acquire: Acquire<G>) -> Begun {
    let acquire = acquire.keep_alive_for(Duration::MAX).into_future();
    Begun::new(async move { drop(acquire.await) })
}

macro_rules! kept {
    ($what:literal, |$stage:ident| $begin:expr) => {
        ($what, |$stage| Box::pin(async move { $begin }))
    };
}

/// The same futures, where they keep the lock alive.
const KEPT: [(&str, Begin); 12] = [
    kept!("plain", |stage| kept(stage.redlock.acquire(KEY))),
    kept!("fenced", |stage| kept(stage.redlock.acquire(KEY).fenced())),
    kept!("several", |stage| kept(stage.redlock.acquire_all(["a", KEY, "z"]))),
    kept!("several, fenced", |stage| kept(stage.redlock.acquire_all([KEY, "z"]).fenced())),
    kept!("in turn", |stage| kept(stage.redlock.acquire(KEY).fair(true))),
    kept!("in turn, fenced", |stage| kept(stage.redlock.acquire(KEY).fair(true).fenced())),
    kept!("warm", |stage| kept(stage.redlock.acquire(KEY).keep_warm(SECOND))),
    kept!("delayed", |stage| kept(stage.redlock.acquire(KEY).ttl(TTL / 2).lock_delay(TTL / 2))),
    kept!("reader", |stage| kept(stage.redlock.rw_lock(KEY).read())),
    kept!("writer", |stage| kept(stage.redlock.rw_lock(KEY).write())),
    kept!("writer, fenced", |stage| kept(stage.redlock.rw_lock(KEY).write().fenced())),
    kept!("nested", |stage| {
        let handle = stage.redlock.reentrant();
        Begun::new(async move { drop(handle.acquire(KEY).keep_alive_for(Duration::MAX).await) })
    }),
];

/// Returns what was wrong with a future that is parked while another client holds the lock, and wins when that is
/// released. `None`: it does not wait.
fn parked_while_it_waits(begin: Begin) -> Option<Vec<String>> {
    step_by_step(async {
        let stage = Rc::new(Stage::new(Loses::Nothing).await);
        let Begun { mut future, kept, .. } = begin(stage.clone()).await;
        settle().await;
        let holder = hold(&stage.other).await;
        if timeout(300 * MS, &mut future).await.is_ok() {
            return None;
        }
        drop(holder.release().await);
        let wrong = parked(&stage).await;
        drop((future, kept));
        Some(wrong)
    })
}

/// Looks on while a future is parked that has won, or is about to.
async fn parked(stage: &Stage) -> Vec<String> {
    let mut wrong = Vec::new();
    sleep(SECOND).await;
    let others = async || stage.other.try_acquire(KEY).await;
    if others().await.is_ok() {
        wrong.push("it has not won".to_owned());
    }
    let own = stage.redlock.try_acquire(KEY).await.map(drop).unwrap_err().to_string();
    if own.contains("guard") {
        wrong.push(format!("of a guard that does not exist: {own}"));
    }
    sleep(TTL).await;
    if let Err(error) = others().await {
        wrong.push(format!("it has the lock for longer than a ttl: {error}"));
    }
    wrong
}

#[test]
fn whatever_wins_while_it_is_not_polled_is_over_with_its_first_ttl() {
    let all = ALL.iter().filter(|operation| operation.role == Role::Wants);
    let all = all.map(|operation| (operation.what, operation.begin)).chain(KEPT);
    let (mut won, mut wrong) = (0, Vec::new());
    for (what, begin) in all {
        let Some(found) = parked_while_it_waits(begin) else { continue };
        won += 1;
        wrong.extend(found.into_iter().map(|found| format!("{what}: {found}")));
    }
    assert!(won > 25, "only {won} have waited");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What another process has detached goes on there, and is adopted while the future is not polled.
#[test]
fn a_lock_that_is_adopted_by_a_future_that_is_not_polled_is_over_with_its_first_ttl() {
    step_by_step(async {
        let stage = Rc::new(Stage::new(Loses::Nothing).await);
        let detached = detach(hold(&stage.other).await).await;
        let mut adopt = stage.redlock.adopt(detached).keep_alive_for(Duration::MAX).into_future();
        assert!(futures::poll!(&mut adopt).is_pending());
        assert_eq!(parked(&stage).await, Vec::<String>::new());
        drop(adopt);
    });
}

#[test]
fn a_permit_that_was_won_by_a_future_that_is_not_polled_is_over_with_its_first_ttl() {
    step_by_step(async {
        let stage = Rc::new(Stage::new(Loses::Nothing).await);
        let [ours, theirs] =
            [&stage.redlock, &stage.other].map(|redlock| redlock.semaphore(KEY, 1));
        let mut acquire = ours.acquire().keep_alive_for(Duration::MAX).into_future();
        assert!(futures::poll!(&mut acquire).is_pending());
        sleep(SECOND).await;
        assert!(theirs.try_acquire().await.is_err());
        sleep(TTL).await;
        drop(theirs.try_acquire().await.unwrap());
        drop(acquire);
    });
}

/// It is polled in time, and late.
#[test]
fn a_future_that_has_won_has_what_is_left_of_the_first_ttl_and_then_keeps_it_alive() {
    step_by_step(async {
        let stage = Stage::new(Loses::Nothing).await;
        for parked in [MS, TTL / 4, TTL / 2, TTL - SECOND, TTL - 400 * MS] {
            let mut acquire = stage.redlock.acquire(KEY).keep_alive().into_future();
            assert!(futures::poll!(&mut acquire).is_pending());
            sleep(parked).await;
            let guard = acquire.await.unwrap();
            assert!(guard.remaining() <= TTL - parked, "{parked:?}");
            sleep(3 * TTL).await;
            assert!(guard.is_valid(), "after {parked:?}");
            drop(guard.release().await);
            stage.mend(Fault::Healthy);
        }
        // The other is left to other clients for a moment, after it was held for so long.
        let mut acquire = stage.redlock.acquire("orders:43").keep_alive().into_future();
        assert!(futures::poll!(&mut acquire).is_pending());
        sleep(TTL).await;
        assert_eq!(stage.keys(), [], "released, though the future is not polled");
        let error = acquire.await.unwrap_err();
        assert!(matches!(&error, AcquireError::NoQuorum(late) if late.is_too_late()), "{error}");
        assert!(error.to_string().contains("not picked up"), "{error}");
        assert_eq!(error.nodes(), []);
    });
}

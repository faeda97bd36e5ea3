//! A test of the harness: each kind of problem that it must find is planted, and is found.

use super::moments::Moments;
use super::operations::{Begun, Operation, Role};
use super::stage::{Fault, Stage, hold};
use super::sweep::{Case, Rival, sweep};
use super::wire::Loses;
use crate::driver::tests::KEY;
use crate::embedded::Masters;
use std::future::IntoFuture;
use std::rc::Rc;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

fn wanting(begin: super::operations::Begin) -> Operation {
    Operation { future: "planted", what: "planted", role: Role::Wants, begin }
}

const ACQUIRE: super::operations::Begin = |stage: Rc<Stage>| {
    let acquire = stage.redlock.acquire(KEY).into_future();
    Box::pin(async { Begun::new(async move { drop(acquire.await) }) })
};

fn healthy(operation: &Operation, rival: Rival) -> Case<'_> {
    let (fault, loses, leaks) = (Fault::Healthy, Loses::Nothing, false);
    Case { operation, fault, rival, loses, leaks }
}

/// Counts how often each of these complaints was made, and of how many moments.
fn found<const N: usize>(case: Case<'_>, complaints: [&str; N]) -> (usize, [usize; N]) {
    let (moments, wrong) = sweep(case, &Moments::All);
    let count = |complaint| wrong.iter().filter(|report| report.contains(complaint)).count();
    (moments, complaints.map(count))
}

const UNSERVED: &str = "who waits is not served";

#[test]
fn without_a_plant_nothing_is_found() {
    for rival in [Rival::Here, Rival::There] {
        let (moments, wrong) = sweep(healthy(&wanting(ACQUIRE), rival), &Moments::All);
        assert!(moments > 20 && wrong.is_empty(), "{moments}: {wrong:?}");
    }
}

#[test]
fn rollbacks_that_are_lost_on_the_way_leave_orphans() {
    let operation = wanting(ACQUIRE);
    let case = Case { loses: Loses::Rollbacks, ..healthy(&operation, Rival::Here) };
    let (moments, [orphans, unserved]) = found(case, ["orphans: ", UNSERVED]);
    assert!(orphans + 1 >= moments, "{orphans} of {moments}: a waiter leaves some, too");
    assert!(unserved > 10, "{unserved} of {moments}: what is left keeps others out");
}

#[test]
fn a_future_that_says_nothing_when_it_goes_leaves_a_stuck_queue() {
    let operation = wanting(ACQUIRE);
    for fault in [Fault::Healthy, Fault::HeldHere] {
        let case = Case { leaks: true, fault, ..healthy(&operation, Rival::Here) };
        let (moments, [unserved, next]) = found(case, [UNSERVED, "next acquire"]);
        // Until it is ready, except at the moment before its first poll.
        assert!(unserved + 3 >= moments && next + 3 >= moments, "{unserved}, {next} of {moments}");
    }
}

#[test]
fn a_leaked_guard_stays_remembered() {
    let operation = Operation {
        role: Role::Neither,
        ..wanting(|stage| {
            Box::pin(async move {
                std::mem::forget(stage.redlock.acquire("lost").await.unwrap());
                Begun::new(std::future::ready(()))
            })
        })
    };
    let (moments, found) =
        found(healthy(&operation, Rival::Here), ["remembered, here and there: [", "orphans: "]);
    assert_eq!((moments, found), (2, [2, 2]));
}

#[test]
fn a_task_that_goes_on_is_found() {
    let operation = wanting(|stage| {
        tokio::spawn(std::future::pending::<()>());
        ACQUIRE(stage)
    });
    let (moments, [tasks]) = found(healthy(&operation, Rival::Here), [" tasks before, "]);
    assert_eq!(tasks, moments);
}

/// The lock is deleted without the clients' knowledge, so no waiter is notified.
#[test]
fn a_waiter_that_is_not_notified_sleeps_too_long() {
    async fn delete(masters: &Masters) {
        for master in masters.iter() {
            let mut stream = master.dialer()().await.unwrap();
            stream.write_all(b"*2\r\n$3\r\nDEL\r\n$9\r\norders:42\r\n").await.unwrap();
            stream.read_exact(&mut [0; 4]).await.unwrap();
        }
    }
    let operation = Operation {
        role: Role::Holds,
        ..wanting(|stage| {
            Box::pin(async move {
                hold(&stage.other).await.forget();
                Begun::new(async move { delete(&stage.masters).await })
            })
        })
    };
    for rival in [Rival::Here, Rival::There] {
        let (moments, [unserved]) = found(healthy(&operation, rival), [UNSERVED]);
        // By chance, a waiter sometimes polls just then, or asks once more because it listens now.
        assert!(unserved * 2 > moments, "{unserved} of {moments}");
    }
}

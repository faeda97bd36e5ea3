//! Every future that users can obtain, in every form in which the way it is dropped matters.

use super::stage::{Stage, TTL, all_answered, detach, has_had, hold, lent, read, warm, write};
use crate::driver::clock::Clock;
use crate::driver::tests::{KEY, MS, settle};
use crate::kind::{Held, Kind};
use crate::{Acquire, Detached, Redlock};
use std::any::Any;
use std::pin::Pin;
use std::rc::Rc;

/// Relation to the lock that others wait for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Wants,
    Holds,
    Neither,
}

pub(super) type Dropped = Pin<Box<dyn Future<Output = ()>>>;
pub(super) type Waiting = Pin<Box<dyn Future<Output = ()> + Send>>;

/// An operation whose future can be polled, and has not been polled yet.
pub(super) struct Begun {
    pub(super) future: Dropped,
    /// Dropped after the future.
    pub(super) kept: Option<Box<dyn Any>>,
    /// A waiter behind the operation that waits in a special way.
    pub(super) behind: Option<Waiting>,
}

impl Begun {
    pub(super) fn new(future: impl Future<Output = ()> + 'static) -> Self {
        Self { future: Box::pin(future), kept: None, behind: None }
    }

    fn keeping(mut self, kept: impl Any) -> Self {
        self.kept = Some(Box::new(kept));
        self
    }

    fn behind(mut self, waiting: impl Future<Output = ()> + Send + 'static) -> Self {
        self.behind = Some(Box::pin(waiting));
        self
    }
}

pub(super) type Begin = fn(Rc<Stage>) -> Pin<Box<dyn Future<Output = Begun>>>;

pub(super) struct Operation {
    /// The name that `sources` gives it.
    pub(super) future: &'static str,
    pub(super) what: &'static str,
    pub(super) role: Role,
    pub(super) begin: Begin,
}

impl Operation {
    /// Returns whether a waiter behind it, in its process, waits like one in another: a reader passes nothing on in
    /// its process, and behind "called in turn" it is another client that gives the lock back.
    pub(super) fn passes_nothing_on(&self) -> bool {
        ["read", "downgrade", "called in turn"].iter().any(|word| self.what.contains(word))
    }
}

macro_rules! operation {
    ($future:literal, $what:literal, $role:ident, |$stage:ident| $begin:expr) => {
        Operation {
            future: $future,
            what: $what,
            role: Role::$role,
            begin: |$stage| Box::pin(async move { $begin }),
        }
    };
}

fn acquiring<G: Held<Guard: Send, Error: Send>>(acquire: Acquire<G>) -> Begun {
    let acquire = acquire.into_future();
    Begun::new(async move { drop(acquire.await) })
}

fn adopting<K: Kind>(redlock: &Redlock, detached: Detached<K>) -> Begun {
    let (adopt, again) = (redlock.adopt(detached).into_future(), redlock.clone());
    Begun::new(async move {
        if let Err(refused) = adopt.await {
            drop(again.adopt(refused.detached)); // what came back is released
        }
    })
}

pub(super) const ALL: &[Operation] = &[
    operation!("acquire/future::AcquireFuture", "acquire", Wants, |stage| acquiring(
        stage.redlock.acquire(KEY)
    )),
    operation!("acquire/future::AcquireFuture", "try_acquire", Wants, |stage| acquiring(
        stage.redlock.try_acquire(KEY)
    )),
    operation!("acquire/future::AcquireFuture", "acquire several", Wants, |stage| acquiring(
        stage.redlock.acquire_all(["a", KEY, "z"])
    )),
    operation!("acquire/future::AcquireFuture", "acquire fenced", Wants, |stage| acquiring(
        stage.redlock.acquire(KEY).fenced()
    )),
    operation!("acquire/future::AcquireFuture", "acquire several, fenced", Wants, |stage| {
        acquiring(stage.redlock.acquire_all([KEY, "z"]).fenced())
    }),
    operation!("acquire/future::AcquireFuture", "acquire in turn", Wants, |stage| acquiring(
        stage.redlock.acquire(KEY).fair(true)
    )),
    operation!("acquire/future::AcquireFuture", "acquire in turn, fenced", Wants, |stage| {
        acquiring(stage.redlock.acquire(KEY).fair(true).fenced())
    }),
    operation!("acquire/future::AcquireFuture", "acquire, called in turn", Wants, |stage| {
        let (redlock, other) = (stage.redlock.clone(), stage.other.clone());
        Begun::new(async move {
            let Ok(held) = other.acquire(KEY).await else { return };
            let mut acquire = std::pin::pin!(redlock.acquire(KEY).fair(true).into_future());
            // It stands in the list, and the release calls it.
            let _ = tokio::time::timeout(50 * MS, &mut acquire).await;
            drop(held.release().await);
            drop(acquire.await);
        })
    }),
    operation!("acquire/future::AcquireFuture", "acquire with a keeper", Wants, |stage| acquiring(
        stage.redlock.acquire(KEY).keep_alive()
    )),
    operation!("acquire/future::AcquireFuture", "acquire what is kept warm", Wants, |stage| {
        let warm = || stage.redlock.acquire(KEY).keep_warm(20 * MS);
        has_had(warm()).await;
        acquiring(warm())
    }),
    operation!("acquire/future::AcquireFuture", "acquire from the shelf", Wants, |stage| {
        let redlock = stage.redlock.clone();
        // What is idle before this begins, another client may have by then.
        Begun::new(async move {
            has_had(warm(&redlock)).await;
            settle().await;
            drop(warm(&redlock).await);
        })
    }),
    operation!("guard::extend", "extend, of a guard from the shelf", Holds, |stage| {
        let guard = Rc::new(lent(&stage.redlock).await);
        let extended = guard.clone();
        Begun::new(async move { drop(extended.extend().await) }).keeping(guard)
    }),
    operation!("guard::release", "release, of a guard from the shelf", Holds, |stage| {
        let guard = lent(&stage.redlock).await;
        Begun::new(async move { drop(guard.release().await) })
    }),
    operation!("run::run", "run, and leave the lock warm", Wants, |stage| {
        let run = stage.redlock.acquire(KEY).keep_warm(20 * MS);
        Begun::new(async move { drop(run.run(async |_| tokio::time::sleep(20 * MS).await).await) })
    }),
    operation!("acquire/future::AcquireFuture", "acquire with a delay", Wants, |stage| acquiring(
        stage.redlock.acquire(KEY).ttl(TTL / 2).lock_delay(TTL / 2)
    )),
    operation!("acquire/future::AcquireFuture", "acquire a permit", Neither, |stage| acquiring(
        stage.redlock.semaphore(KEY, 2).acquire()
    )),
    operation!(
        "acquire/future::AcquireFuture",
        "acquire a permit while all are taken",
        Neither,
        |stage| {
            let semaphore = stage.other.semaphore(KEY, 1);
            let held = semaphore.acquire().await.unwrap();
            all_answered().await;
            acquiring(stage.redlock.semaphore(KEY, 1).acquire()).keeping(held)
        }
    ),
    operation!("acquire/future::AcquireFuture", "read", Wants, |stage| {
        let read = stage.redlock.rw_lock(KEY).read().into_future();
        Begun::new(async move { drop(read.await) })
    }),
    operation!("acquire/future::AcquireFuture", "try_read", Wants, |stage| {
        let read = stage.redlock.rw_lock(KEY).try_read().into_future();
        Begun::new(async move { drop(read.await) })
    }),
    operation!("acquire/future::AcquireFuture", "read beside a reader", Holds, |stage| {
        let held = read(&stage.redlock).await;
        let read = stage.redlock.rw_lock(KEY).read().keep_alive().into_future();
        Begun::new(async move { drop(read.await) }).keeping(held)
    }),
    operation!("acquire/future::AcquireFuture", "write", Wants, |stage| {
        let write = stage.redlock.rw_lock(KEY).write().into_future();
        Begun::new(async move { drop(write.await) })
    }),
    operation!("acquire/future::AcquireFuture", "write, fenced", Wants, |stage| {
        let write = stage.redlock.rw_lock(KEY).write().fenced().into_future();
        Begun::new(async move { drop(write.await) })
    }),
    operation!("run::run", "read, the body included", Wants, |stage| {
        let read = stage.redlock.rw_lock(KEY).read();
        Begun::new(async move {
            drop(read.run(async |_| tokio::time::sleep(20 * MS).await).await);
        })
    }),
    operation!("guard::extend", "extend, of a reader", Holds, |stage| {
        let guard = Rc::new(read(&stage.redlock).await);
        let extended = guard.clone();
        Begun::new(async move { drop(extended.extend().await) }).keeping(guard)
    }),
    operation!("guard::release", "release, of a reader", Holds, |stage| {
        let guard = read(&stage.redlock).await;
        Begun::new(async move { drop(guard.release().await) })
    }),
    operation!("guard/downgrade::downgrade", "downgrade", Holds, |stage| {
        let guard = write(&stage.redlock).await;
        Begun::new(async move { drop(guard.downgrade().await) })
    }),
    operation!("guard/downgrade::downgrade", "downgrade, fenced", Holds, |stage| {
        let guard = stage.redlock.rw_lock(KEY).write().fenced().await.unwrap();
        all_answered().await;
        Begun::new(async move { drop(guard.downgrade().await) })
    }),
    operation!("semaphore::available_permits", "available_permits", Neither, |stage| {
        let semaphore = stage.redlock.semaphore(KEY, 2);
        Begun::new(async move { drop(semaphore.available_permits().await) })
    }),
    operation!("semaphore::inspect", "inspect a semaphore", Neither, |stage| {
        let semaphore = stage.redlock.semaphore(KEY, 2);
        Begun::new(async move { drop(semaphore.inspect().await) })
    }),
    operation!("run::run", "run, the body included", Wants, |stage| {
        let acquire = stage.redlock.acquire(KEY);
        Begun::new(async move {
            drop(acquire.run(async |_| tokio::time::sleep(20 * MS).await).await);
        })
    }),
    operation!("once::run", "once, and the body fails", Wants, |stage| {
        let once = stage.redlock.once(KEY, TTL);
        Begun::new(async move {
            let failing = async |_| {
                tokio::time::sleep(20 * MS).await;
                Err::<(), ()>(())
            };
            drop(once.run(failing).await);
        })
    }),
    operation!("election/mod::campaign", "campaign", Wants, |stage| {
        let election = stage.redlock.election(KEY);
        Begun::new(async move { drop(election.campaign("me").await) })
    }),
    operation!("election/mod::run", "lead, the body included", Wants, |stage| {
        let election = stage.redlock.election(KEY);
        Begun::new(async move {
            drop(election.run("me", async |_| tokio::time::sleep(20 * MS).await).await);
        })
    }),
    operation!("election/mod::resign", "resign", Holds, |stage| {
        let leadership = stage.redlock.election(KEY).campaign("me").await.unwrap();
        all_answered().await;
        Begun::new(async move { drop(leadership.resign().await) })
    }),
    operation!("election/mod::leader", "leader", Neither, |stage| {
        let election = stage.redlock.election(KEY);
        Begun::new(async move { drop(election.leader().await) })
    }),
    operation!("election/watch::next", "observe", Neither, |stage| {
        let mut leaders = stage.redlock.election(KEY).observe();
        Begun::new(async move { drop(leaders.next().await) })
    }),
    operation!("acquire/future::AcquireFuture", "acquire, nested", Wants, |stage| {
        let handle = stage.redlock.reentrant();
        let next = handle.clone();
        Begun::new(async move { drop(handle.acquire(KEY).await) }).behind(async move {
            // A waiter behind it at the same handle gives up as late as it does, or later.
            while next.acquire(KEY).await.is_err() {}
        })
    }),
    operation!("acquire/future::AcquireFuture", "acquire once more", Holds, |stage| {
        let handle = stage.redlock.reentrant();
        let outer = handle.acquire(KEY).await.unwrap();
        all_answered().await;
        Begun::new(async move { drop(handle.acquire(KEY).await) }).keeping(outer)
    }),
    operation!("acquire/future::AcquireFuture", "acquire, nested and fenced", Wants, |stage| {
        let handle = stage.redlock.reentrant().fenced();
        Begun::new(async move { drop(handle.acquire(KEY).await) })
    }),
    operation!("reentrant::release", "the last re-entrant guard", Holds, |stage| {
        let handle = stage.redlock.reentrant();
        let guard = handle.acquire(KEY).await.unwrap();
        all_answered().await;
        Begun::new(async move { drop(guard.release().await) })
            .behind(async move { while handle.acquire(KEY).await.is_err() {} })
    }),
    operation!("guard::extend", "extend", Holds, |stage| {
        let guard = Rc::new(hold(&stage.redlock).await);
        let extended = guard.clone();
        Begun::new(async move { drop(extended.extend().await) }).keeping(guard)
    }),
    operation!("guard::detach", "detach", Holds, |stage| {
        let (guard, other) = (hold(&stage.redlock).await, stage.other.clone());
        Begun::new(async move {
            if let Ok(detached) = guard.detach().await {
                drop(other.adopt(detached)); // what is dropped there is released
            }
        })
    }),
    operation!("adopt::AdoptFuture", "adopt", Holds, |stage| {
        let guard = hold(&stage.other).await;
        adopting(&stage.redlock, detach(guard).await)
    }),
    operation!("adopt::AdoptFuture", "adopt several, fenced", Holds, |stage| {
        let guard = stage.other.acquire_all([KEY, "z"]).fenced().await.unwrap();
        adopting(&stage.redlock, detach(guard).await)
    }),
    operation!("guard::release", "release", Holds, |stage| {
        let guard = hold(&stage.redlock).await;
        Begun::new(async move { drop(guard.release().await) })
    }),
    operation!("guard::release", "release several, fenced", Holds, |stage| {
        let guard = stage.redlock.acquire_all([KEY, "z"]).fenced().await.unwrap();
        all_answered().await;
        Begun::new(async move { drop(guard.release().await) })
    }),
    operation!("guard::lost", "lost, of a guard", Holds, |stage| {
        let guard = Rc::new(hold(&stage.redlock).await);
        let watched = guard.clone();
        Begun::new(async move { drop(watched.lost().await) }).keeping(guard)
    }),
    operation!("guard::lost", "lost, of a lease", Holds, |stage| {
        let guard = hold(&stage.redlock).await;
        let lease = guard.lease();
        Begun::new(async move { drop(lease.lost().await) }).keeping(guard)
    }),
    operation!("guard/passed_on::wanted", "wanted", Holds, |stage| {
        let guard = Rc::new(hold(&stage.redlock).await);
        let watched = guard.clone();
        Begun::new(async move { watched.wanted().await }).keeping(guard)
    }),
    operation!(
        "acquire/future::AcquireFuture",
        "acquire what another client keeps warm",
        Wants,
        |stage| {
            has_had(stage.other.acquire(KEY).keep_warm(TTL)).await;
            acquiring(stage.redlock.acquire(KEY))
        }
    ),
    operation!("inspect::inspect", "inspect", Neither, |stage| {
        let redlock = stage.redlock.clone();
        Begun::new(async move { drop(redlock.inspect(KEY).await) })
    }),
    operation!("inspect/give_back::ask", "ask", Neither, |stage| {
        let inspection = stage.redlock.inspect(KEY).await.unwrap();
        let redlock = stage.redlock.clone();
        Begun::new(async move { drop(redlock.ask(&inspection).await) })
    }),
    operation!("inspect/give_back::force_release", "force_release", Holds, |stage| {
        let guard = hold(&stage.other).await;
        let inspection = stage.redlock.inspect(KEY).await.unwrap();
        assert!(inspection.holder().is_some());
        let redlock = stage.redlock.clone();
        Begun::new(async move { drop(redlock.force_release(&inspection).await) }).keeping(guard)
    }),
    operation!("inspect/give_back::force_release_reader", "force_release_reader", Holds, |stage| {
        let guard = read(&stage.other).await;
        let inspection = stage.redlock.inspect(KEY).await.unwrap();
        let reader = inspection.holder().unwrap().readers()[0].clone();
        let redlock = stage.redlock.clone();
        Begun::new(async move { drop(redlock.force_release_reader(&inspection, &reader).await) })
            .keeping(guard)
    }),
    operation!("operator/list/mod::next", "list", Neither, |stage| {
        let mut locks = stage.redlock.list("");
        Begun::new(async move { while locks.next().await.is_some() {} })
    }),
    operation!("redlock::status", "status", Neither, |stage| {
        let redlock = stage.redlock.clone();
        Begun::new(async move { drop(redlock.status().await) })
    }),
    operation!("redlock::wait_until_ready", "wait_until_ready", Neither, |stage| {
        let redlock = stage.redlock.clone();
        Begun::new(async move { drop(redlock.wait_until_ready(TTL).await) })
    }),
    operation!("operator/preflight/mod::preflight", "preflight of a handle", Neither, |stage| {
        let redlock = stage.redlock.clone();
        Begun::new(async move { drop(redlock.preflight().await) })
    }),
    operation!("redlock::shutdown", "shutdown, with a debt and a waiter", Neither, |stage| {
        let ending = stage.third().await;
        drop(ending.acquire("x").await.unwrap());
        let blocking = stage.other.acquire("y").await.unwrap();
        tokio::spawn(ending.acquire("y").into_future());
        settle().await;
        Begun::new(async move { drop(ending.shutdown().await) }).keeping(blocking)
    }),
    operation!("builder::connect", "connect", Neither, |stage| {
        let builder = stage.third_to_be();
        // All of `connect`, except for the clock that it names.
        Begun::new(async move { drop(builder.connect_on(Clock::tokio()).await) })
    }),
    operation!("operator/preflight/mod::preflight", "preflight of a builder", Neither, |stage| {
        let builder = stage.third_to_be();
        Begun::new(async move { drop(builder.preflight().await) })
    }),
];

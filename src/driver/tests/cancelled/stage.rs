//! Five masters and two processes that use them, and the faults that they suffer.

use super::sweep::{PROMPT, Rival};
use super::wire::{Loses, Wires};
use crate::driver::tests::{KEY, MS, Observed, SECOND, five, settle};
use crate::embedded::{Master, Masters, Memory};
use crate::kind::Detachable;
use crate::{Acquire, Backoff, Detached, Guard, ReadGuard, Redlock, RedlockBuilder, WriteGuard};
use std::ops::Range;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::sleep;

/// Ends long after everything that is checked here: a key that is gone before was deleted.
pub(super) const TTL: Duration = Duration::from_secs(30);

/// Wait for the next poll, usually longer than anything that is checked here.
const POLL: Duration = Duration::from_secs(20);

/// Time for which an operation would go on if it were not dropped.
const WAIT: Duration = Duration::from_secs(2);

/// Delay of each master's answer after that of the one before it.
const APART: Duration = Duration::from_millis(2);

/// A fault of the masters and the connections to them while a future is in progress.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fault {
    Healthy,
    OneStopped,
    OneKilled,
    MajorityStopped,
    AnswersLost,
    CutMidway,
    HeldElsewhere,
    HeldHere,
    ScriptsForgotten,
}

impl Fault {
    /// Returns whether no waiter can be served before the fault ends.
    pub(super) const fn blocks(self) -> bool {
        use Fault::{AnswersLost, HeldElsewhere, HeldHere, MajorityStopped};
        matches!(self, MajorityStopped | AnswersLost | HeldElsewhere | HeldHere)
    }

    /// Returns the time within which waiters are served from then on. It is less than the time to
    /// their next poll, if only a release or a cancel stood in their way.
    pub(super) fn patience(self, rival: Rival) -> Duration {
        match (self, rival) {
            // An attempt that gets too few answers is retried after a pause. A rollback that had to
            // wait for a connection or a timeout notifies no waiter in other processes.
            (Self::MajorityStopped, _) | (Self::AnswersLost | Self::CutMidway, Rival::There) => {
                POLL + 4 * SECOND
            }
            // Connections are made again, after a pause that doubles up to two seconds.
            (Self::AnswersLost, Rival::Here) => 4 * SECOND,
            (Self::CutMidway, Rival::Here) => SECOND,
            _ => PROMPT,
        }
    }

    /// Returns the poll before which the fault happens midway, if it does.
    pub(super) const fn midway(self) -> Option<usize> {
        if matches!(self, Self::CutMidway) { Some(4) } else { None }
    }
}

pub(super) struct Stage {
    pub(super) masters: Masters,
    wires: Wires,
    /// The client whose futures are dropped.
    pub(super) redlock: Redlock,
    driver: Observed,
    /// The client in another process.
    pub(super) other: Redlock,
    other_driver: Observed,
}

impl Stage {
    pub(super) async fn new(loses: Loses) -> Self {
        let (masters, wires) = (five(), Wires::new(loses));
        let (redlock, driver) = client(&masters, &wires).await;
        let (other, other_driver) = client(&masters, &Wires::new(Loses::Nothing)).await;
        let stage = Self { masters, wires, redlock, driver, other, other_driver };
        stage.mend(Fault::Healthy);
        sleep(SECOND).await;
        stage
    }

    /// Connects one more process, over the same wires as the one whose futures are dropped.
    pub(super) async fn third(&self) -> Redlock {
        client(&self.masters, &self.wires).await.0
    }

    pub(super) fn third_to_be(&self) -> RedlockBuilder {
        self.wires.builder(&self.masters)
    }

    /// Begins the fault. Returns the guard that holds the lock because of it, if `wanted`.
    pub(super) async fn strike(&self, fault: Fault, wanted: bool) -> Option<Guard> {
        let each = |range: Range<usize>, strike: fn(&Master)| {
            self.masters[range].iter().for_each(strike);
        };
        match fault {
            Fault::Healthy | Fault::CutMidway => {}
            Fault::OneStopped => each(1..2, Master::pause),
            Fault::OneKilled => each(1..2, Master::kill),
            Fault::MajorityStopped => each(1..4, Master::pause),
            Fault::AnswersLost => each(1..4, |master| master.set_latency(10 * TTL)),
            Fault::HeldElsewhere if wanted => return Some(hold(&self.other).await),
            Fault::HeldHere if wanted => return Some(hold(&self.redlock).await),
            Fault::HeldElsewhere | Fault::HeldHere => {}
            Fault::ScriptsForgotten => {
                for master in self.masters.iter() {
                    forget_scripts(master).await;
                }
            }
        }
        None
    }

    pub(super) fn strike_midway(&self) {
        self.wires.cut();
    }

    /// Ends the fault: masters answer one after another, so that there is a moment between any two
    /// answers.
    pub(super) fn mend(&self, fault: Fault) {
        for (place, master) in (1..).zip(self.masters.iter()) {
            master.resume();
            master.set_latency(place * APART);
        }
        if fault == Fault::OneKilled {
            self.masters[1].restart(Memory::Lost).unwrap();
        }
    }

    /// Returns the keys of locks that are left on the masters, by master; fences stay, as they
    /// should.
    pub(super) fn keys(&self) -> Vec<(usize, Vec<String>)> {
        let keys = self.masters.iter().map(|master| {
            let mut keys = master.keys();
            keys.retain(|key| !key.starts_with("quorumlock:fence:"));
            keys
        });
        keys.enumerate().filter(|(_, keys)| !keys.is_empty()).collect()
    }

    /// Waits until neither process leaves the lock to others any more.
    pub(super) async fn wanted_again(&self) {
        for driver in [&self.driver, &self.other_driver] {
            sleep(driver.leaves_for(KEY)).await;
        }
    }

    /// Returns how many callers, requests and debts each process remembers.
    pub(super) fn remembered(&self) -> [usize; 2] {
        [self.driver.remembered(), self.other_driver.remembered()]
    }
}

async fn client(masters: &Masters, wires: &Wires) -> (Redlock, Observed) {
    let builder = wires
        .builder(masters)
        .ttl(TTL)
        .backoff(Backoff { base: POLL, cap: POLL })
        .acquire_timeout(WAIT);
    Observed::connect(builder).await
}

/// Acquires the lock, and waits until the last of the masters has answered as well.
pub(super) async fn hold(redlock: &Redlock) -> Guard {
    let guard = redlock.acquire(KEY).await.unwrap();
    all_answered().await;
    guard
}

/// Wants a lock that stays on the shelf for a moment.
pub(super) fn warm(redlock: &Redlock) -> Acquire {
    redlock.acquire(KEY).keep_warm(20 * MS)
}

/// Acquires and releases, as work does that ends well.
pub(super) async fn has_had(acquire: Acquire) {
    if let Ok(guard) = acquire.await {
        drop(guard.release().await);
    }
}

/// Takes the lock from the shelf. Where another client has waited for it lately, it is released first.
pub(super) async fn lent(redlock: &Redlock) -> Guard {
    let requests = || redlock.driver.next_request().0;
    loop {
        let before = requests();
        let guard = warm(redlock).await.unwrap();
        if requests() == before + 1 {
            return guard;
        }
        drop(guard.release().await);
        settle().await;
    }
}

pub(super) async fn read(redlock: &Redlock) -> ReadGuard {
    loop {
        // The scripts may have been forgotten before.
        if let Ok(guard) = redlock.rw_lock(KEY).read().await {
            all_answered().await;
            return guard;
        }
    }
}

pub(super) async fn write(redlock: &Redlock) -> WriteGuard {
    let guard = redlock.rw_lock(KEY).write().await.unwrap();
    all_answered().await;
    guard
}

pub(super) async fn detach<K: Detachable>(mut guard: Guard<K>) -> Detached<K> {
    loop {
        // The scripts may have been forgotten before.
        match guard.detach().await {
            Ok(detached) => return detached,
            Err(refused) => guard = refused.guard,
        }
    }
}

/// Waits until the last of the masters has answered.
pub(super) async fn all_answered() {
    sleep(6 * APART).await;
}

async fn forget_scripts(master: &Master) {
    let mut stream = master.dialer()().await.unwrap();
    stream.write_all(b"*2\r\n$6\r\nSCRIPT\r\n$5\r\nFLUSH\r\n").await.unwrap();
    let mut answer = [0; 5];
    stream.read_exact(&mut answer).await.unwrap();
    assert_eq!(&answer, b"+OK\r\n");
}

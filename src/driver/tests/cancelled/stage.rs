//! Five masters and two processes that use them, and what befalls them.

use super::sweep::{PROMPT, Rival};
use super::wire::{Loses, Wires};
use crate::driver::tests::{KEY, Observed, SECOND, five};
use crate::embedded::{Master, Masters, Memory};
use crate::{Guard, Redlock, RedlockBuilder};
use std::ops::Range;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::sleep;

/// Long after everything that is checked here: what is gone before was deleted.
pub(super) const TTL: Duration = Duration::from_secs(30);

/// Who waits for its next poll waits for longer than anything that is checked here, as a rule.
const POLL: Duration = Duration::from_secs(20);

/// For how long what is dropped would go on.
const WAIT: Duration = Duration::from_secs(2);

/// How much later each master answers than the one before it.
const APART: Duration = Duration::from_millis(2);

/// What happens to the masters and the ways to them while a future is under way.
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
    /// Nobody can be served before it ends.
    pub(super) const fn blocks(self) -> bool {
        use Fault::{AnswersLost, HeldElsewhere, HeldHere, MajorityStopped};
        matches!(self, MajorityStopped | AnswersLost | HeldElsewhere | HeldHere)
    }

    /// Within what those who wait are served, from then on. Less than their next poll, where nothing
    /// but a release or a cancel stood in their way.
    pub(super) fn patience(self, rival: Rival) -> Duration {
        match (self, rival) {
            // An attempt that gets too few answers is made again after a pause. A rollback that had
            // to wait for a connection, or a timeout, tells nobody in other processes.
            (Self::MajorityStopped, _) | (Self::AnswersLost | Self::CutMidway, Rival::There) => {
                POLL + 4 * SECOND
            }
            // Connections are made anew, after a pause that doubles up to two seconds.
            (Self::AnswersLost, Rival::Here) => 4 * SECOND,
            (Self::CutMidway, Rival::Here) => SECOND,
            _ => PROMPT,
        }
    }

    /// Before which poll it happens in the middle, if it does.
    pub(super) const fn midway(self) -> Option<usize> {
        if matches!(self, Self::CutMidway) { Some(4) } else { None }
    }
}

pub(super) struct Stage {
    pub(super) masters: Masters,
    wires: Wires,
    /// Whose futures are dropped.
    pub(super) redlock: Redlock,
    driver: Observed,
    /// Another process.
    pub(super) other: Redlock,
    other_driver: Observed,
}

impl Stage {
    pub(super) async fn new(loses: Loses) -> Self {
        let (masters, wires) = (five().await, Wires::new(loses));
        let (redlock, driver) = client(&masters, &wires).await;
        let (other, other_driver) = client(&masters, &Wires::new(Loses::Nothing)).await;
        let stage = Self { masters, wires, redlock, driver, other, other_driver };
        stage.mend(Fault::Healthy);
        sleep(SECOND).await;
        stage
    }

    /// One more process, over the same wires as the one whose futures are dropped.
    pub(super) async fn third(&self) -> Redlock {
        client(&self.masters, &self.wires).await.0
    }

    pub(super) fn third_to_be(&self) -> RedlockBuilder {
        self.wires.builder(&self.masters)
    }

    /// The fault begins. Returns who holds the lock because of it, if `wanted`.
    pub(super) async fn strike(&self, fault: Fault, wanted: bool) -> Option<Guard> {
        let each = |range: Range<usize>, strike: fn(&Master)| {
            self.masters[range].iter().for_each(strike);
        };
        match fault {
            Fault::Healthy | Fault::CutMidway => {}
            Fault::OneStopped => each(1..2, Master::pause),
            Fault::OneKilled => each(1..2, Master::kill),
            Fault::MajorityStopped => each(1..4, Master::pause),
            Fault::AnswersLost => each(1..4, |master| master.slow(10 * TTL)),
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

    /// The fault ends: masters answer one after the other, so that there is a moment between any two
    /// answers.
    pub(super) fn mend(&self, fault: Fault) {
        for (place, master) in (1..).zip(self.masters.iter()) {
            master.resume();
            master.slow(place * APART);
        }
        if fault == Fault::OneKilled {
            self.masters[1].restart(Memory::Lost).unwrap();
        }
    }

    /// What is left of locks on the masters, by master; fences stay, as they should.
    pub(super) fn keys(&self) -> Vec<(usize, Vec<String>)> {
        let keys = self.masters.iter().map(|master| {
            let mut keys = master.keys();
            keys.retain(|key| !key.starts_with("quorumlock:fence:"));
            keys
        });
        keys.enumerate().filter(|(_, keys)| !keys.is_empty()).collect()
    }

    /// What both processes remember of callers, requests and debts.
    pub(super) fn remembered(&self) -> [usize; 2] {
        [self.driver.remembered(), self.other_driver.remembered()]
    }
}

async fn client(masters: &Masters, wires: &Wires) -> (Redlock, Observed) {
    let builder = wires.builder(masters).ttl(TTL).backoff(POLL, POLL).wait(WAIT);
    Observed::connect(builder).await
}

/// The last of the masters has said what it had to say, too.
pub(super) async fn hold(redlock: &Redlock) -> Guard {
    let guard = redlock.acquire(KEY).await.unwrap();
    all_answered().await;
    guard
}

/// The last of the masters has said what it had to say.
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

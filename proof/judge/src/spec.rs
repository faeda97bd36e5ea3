//! The specification: how a lock, its fencing tokens and the store behind it behave while one operation
//! follows another. A history is right if its operations could have happened in some such order, each at
//! an instant between its call and its return.

use porcupine_rs::Model;
use std::collections::BTreeMap;

/// A lock, a lock of readers and writers, or a semaphore. Its state: the holders, and which of them read.
#[derive(Clone, Debug)]
pub(crate) struct Lock;

#[derive(Clone, Debug)]
pub(crate) enum LockOp {
    /// A client gets the lock: between its request and the first instant at which it relies on it.
    Acquire { hold: u64, reads: bool, permits: usize },
    /// The hold ends. The client releases, between the call and its confirmation; or the hold expires,
    /// which is an end that the client did not choose: at any time from its deadline on, so an operation
    /// that never returns.
    End { hold: u64 },
}

impl Model for Lock {
    type State = BTreeMap<u64, bool>;
    type Op = LockOp;
    type Metadata = String;

    fn init() -> Self::State {
        BTreeMap::new()
    }

    fn step(holders: &Self::State, op: &LockOp) -> (bool, Self::State) {
        let mut next = holders.clone();
        let is_right = match *op {
            // Readers hold it with readers alone; all others, unless as many hold it as there are permits.
            LockOp::Acquire { hold, reads, permits } => {
                next.insert(hold, reads);
                let others_read = |expected| holders.values().all(|other| *other == expected);
                if reads {
                    others_read(true)
                } else {
                    others_read(false) && holders.len() < permits
                }
            }
            // What ends was held, and makes room.
            LockOp::End { hold } => next.remove(&hold).is_some(),
        };
        (is_right, next)
    }
}

/// The fencing tokens of a lock. Its state: the greatest token so far.
#[derive(Clone, Debug)]
pub(crate) struct Fence;

/// A client holds the lock with this token: an operation as long as the hold. So whichever hold begins
/// after another has ended has the greater token, and nothing is said of two that overlap.
#[derive(Clone, Debug)]
pub(crate) struct HoldsWith(pub(crate) u64);

impl Model for Fence {
    type State = u64;
    type Op = HoldsWith;
    type Metadata = String;

    fn init() -> u64 {
        0
    }

    fn step(greatest: &u64, HoldsWith(token): &HoldsWith) -> (bool, u64) {
        (token > greatest, *token)
    }
}

/// The store. Its state: the greatest token with which it has accepted a write.
#[derive(Clone, Debug)]
pub(crate) struct Store;

/// A write with a token, between its call and the store's answer.
#[derive(Clone, Debug)]
pub(crate) struct Write {
    pub(crate) token: u64,
    pub(crate) answer: Answer,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Answer {
    Accepted,
    /// The store refuses a token that is smaller than one before it, and no other.
    Stale,
    /// There was none: the write may have happened, happen at any later time, or never.
    Unknown,
}

impl Model for Store {
    type State = u64;
    type Op = Write;
    type Metadata = String;

    fn init() -> u64 {
        0
    }

    fn step(greatest: &u64, write: &Write) -> (bool, u64) {
        let is_stale = write.token < *greatest;
        let next = write.token.max(*greatest);
        match write.answer {
            Answer::Accepted => (!is_stale, next),
            Answer::Stale => (is_stale, next),
            Answer::Unknown => (true, next),
        }
    }
}

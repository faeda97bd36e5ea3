//! Whether a caller has the guard that was sent to it. The future that has won may be polled late, or never: until
//! then nothing keeps its lock alive, and the driver may take it back.

// From std here, and from loom where `proof/loom` tries every order of events on this file.
use super::atomic::{AtomicU8, Ordering};

const ON_ITS_WAY: u8 = 0;
/// An extension has been due, and waits for the caller.
const AWAITED: u8 = 1;
/// Picked up by its caller, or taken back by the driver.
const TAKEN: u8 = 2;

#[derive(Debug)]
pub(super) struct Claim(AtomicU8);

/// How the guard was found by the side that takes it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Taken {
    /// The driver does not wait for that.
    OnItsWay,
    /// The driver is to be notified: an extension waits for that.
    Awaited,
    /// Too late: the other side has it.
    Before,
}

impl Claim {
    pub(super) fn new() -> Self {
        Self(AtomicU8::new(ON_ITS_WAY))
    }

    /// Takes the guard, for either side.
    pub(super) fn take(&self) -> Taken {
        match self.0.swap(TAKEN, Ordering::AcqRel) {
            ON_ITS_WAY => Taken::OnItsWay,
            AWAITED => Taken::Awaited,
            _ => Taken::Before,
        }
    }

    /// Returns whether the caller has the guard, for the driver. If it has not, it finds that it is awaited.
    pub(super) fn is_taken_or_awaits(&self) -> bool {
        let waits =
            self.0.compare_exchange(ON_ITS_WAY, AWAITED, Ordering::AcqRel, Ordering::Acquire);
        waits == Err(TAKEN)
    }
}

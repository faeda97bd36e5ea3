//! What holds a write on its way, and what wakes it.

use super::judge::DIGIT;
use super::{StoreError, StoreResult};
use crate::FencingToken;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Wake, Waker};
use std::time::Duration;
use tokio::task::yield_now;
use tokio::time::timeout;

/// One write of one holder, as the probe orders it.
#[derive(Debug)]
pub struct Attempt {
    /// The holder's token.
    pub token: FencingToken,
    /// What to write: 1 to 13, and no other write of the play has it.
    pub value: u64,
    pub(super) gate: Arc<Gate>,
}

impl Attempt {
    /// Returns what an update writes back that has read `stored`: that, with the value appended as
    /// one hexadecimal digit. So what is stored in the end shows each update that is in it, and
    /// their order. It is below 2^53.
    #[must_use]
    pub const fn applied_to(&self, stored: u64) -> u64 {
        stored * DIGIT + self.value
    }

    /// Waits at a point on the write's way, until the schedule lets it go on. `place` names the
    /// point in the report.
    ///
    /// # Errors
    ///
    /// [`StoreError::Failed`], in some plays of [`Case::Rollback`](super::Case::Rollback): handle
    /// it as an error of the store, so that the write is rolled back.
    ///
    /// # Cancel safety
    ///
    /// The probe itself drops a write that waits here, as if its process had ended.
    pub async fn pass(&self, place: &'static str) -> StoreResult {
        self.gate.state().place = Some(place);
        // The write may be in a task of its own, and its arrival is the end of a step.
        self.gate.wake_by_ref();
        poll_fn(|cx| {
            let mut state = self.gate.state();
            state.held = Some(cx.waker().clone());
            if state.place.is_some() { Poll::Pending } else { Poll::Ready(()) }
        })
        .await;
        let mut state = self.gate.state();
        state.fails_in = state.fails_in.wrapping_sub(1);
        let fails = state.fails_in == 0;
        if fails {
            Err(StoreError::Failed(format!("the probe fails it at \"{place}\"")))
        } else {
            Ok(())
        }
    }
}

#[derive(Debug)]
pub(super) struct Gate(Mutex<State>);

#[derive(Debug, Default)]
pub(super) struct State {
    /// Whether the write can take a step.
    pub(super) woken: bool,
    /// The point at which it waits.
    pub(super) place: Option<&'static str>,
    /// The pass of that number fails.
    fails_in: u64,
    held: Option<Waker>,
    probe: Option<Waker>,
}

impl Gate {
    pub(super) fn new(fails_in: u64) -> Self {
        Self(Mutex::new(State { woken: true, fails_in, ..State::default() }))
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets the write pass the point at which it waits, and take a step.
    pub(super) fn open(&self) {
        self.state().place = None;
        let held = self.state().held.take();
        held.into_iter().for_each(Waker::wake);
        self.state().woken = false;
    }
}

impl Wake for Gate {
    fn wake(self: Arc<Self>) {
        self.state().woken = true;
        let probe = self.state().probe.take();
        probe.into_iter().for_each(Waker::wake);
    }
}

/// Waits until one of the writes can take a step. Returns false after `patience`.
pub(super) async fn any_woken(gates: &[Arc<Gate>], patience: Duration) -> bool {
    let any = || gates.iter().any(|gate| gate.state().woken);
    // Tasks that run beside the probe get their turns, even with no patience at all.
    for _ in 0..4 {
        if any() {
            return true;
        }
        yield_now().await;
    }
    let woken = poll_fn(|cx| {
        gates.iter().for_each(|gate| gate.state().probe = Some(cx.waker().clone()));
        if any() { Poll::Ready(()) } else { Poll::Pending }
    });
    any() || !patience.is_zero() && timeout(patience, woken).await.is_ok()
}

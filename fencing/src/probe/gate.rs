//! What a write passes on its way, and what wakes it.

use super::StoreError;
use super::judge::DIGIT;
use crate::FencingToken;
use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, Ordering};
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
    pub async fn pass(&self, place: &'static str) -> Result<(), StoreError> {
        self.gate.arrive(place);
        poll_fn(|cx| {
            let mut state = self.gate.state();
            state.waker = Some(cx.waker().clone());
            if state.closed { Poll::Pending } else { Poll::Ready(()) }
        })
        .await;
        self.gate.fail(place)
    }
}

#[derive(Debug)]
pub(super) struct Gate {
    state: Mutex<State>,
    pub(super) signal: Arc<Signal>,
}

#[derive(Debug, Default)]
struct State {
    place: &'static str,
    closed: bool,
    waker: Option<Waker>,
    fails_in: Option<u64>,
}

impl Gate {
    /// Returns a gate that fails the pass of that number, if one is given.
    pub(super) fn new(fails_in: Option<u64>) -> Arc<Self> {
        let state = State { fails_in, ..State::default() };
        Arc::new(Self { state: Mutex::new(state), signal: Arc::new(Signal::default()) })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn arrive(&self, place: &'static str) {
        let mut state = self.state();
        (state.place, state.closed) = (place, true);
        drop(state);
        // The write may be in a task of its own, and its arrival is the end of a step.
        self.signal.wake_by_ref();
    }

    /// Lets the write pass the point at which it waits.
    pub(super) fn open(&self) {
        let mut state = self.state();
        state.closed = false;
        let waker = state.waker.take();
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    fn fail(&self, place: &'static str) -> Result<(), StoreError> {
        let mut state = self.state();
        state.fails_in = state.fails_in.map(|passes| passes.wrapping_sub(1));
        match state.fails_in {
            Some(0) => Err(StoreError::Failed(format!("the probe failed it at \"{place}\""))),
            _ => Ok(()),
        }
    }

    /// Returns the point at which the write waits.
    pub(super) fn place(&self) -> Option<&'static str> {
        let state = self.state();
        state.closed.then_some(state.place)
    }
}

/// Whether a write was woken, so that it can take a step.
#[derive(Debug, Default)]
pub(super) struct Signal {
    woken: AtomicBool,
    listener: Mutex<Option<Waker>>,
}

impl Signal {
    pub(super) fn set(&self, woken: bool) {
        self.woken.store(woken, Ordering::SeqCst);
    }

    pub(super) fn is_set(&self) -> bool {
        self.woken.load(Ordering::SeqCst)
    }

    fn listener(&self) -> MutexGuard<'_, Option<Waker>> {
        self.listener.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Wake for Signal {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.set(true);
        let listener = self.listener().take();
        if let Some(listener) = listener {
            listener.wake();
        }
    }
}

/// Waits until one of them is set. Returns false after `patience`.
pub(super) async fn any_set(signals: &[&Signal], patience: Duration) -> bool {
    let any = || signals.iter().any(|signal| signal.is_set());
    // Tasks that run beside the probe get their turns, even with no patience at all.
    for _ in 0..4 {
        if any() {
            return true;
        }
        yield_now().await;
    }
    if patience.is_zero() {
        return any();
    }
    let set = poll_fn(|cx| {
        for signal in signals {
            *signal.listener() = Some(cx.waker().clone());
        }
        if any() { Poll::Ready(()) } else { Poll::Pending }
    });
    timeout(patience, set).await.is_ok()
}

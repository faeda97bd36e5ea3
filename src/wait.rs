//! Waiting of a thread for what is asynchronous.

use crate::error::{
    AcquireError, AdoptError, Closed, ConnectError, DetachError, DowngradeError, ExtendError,
    InspectError, ListError, Lost, OnceError, PreflightError, ReadyError, ReentrantError, RunError,
    ShutdownError, WrongContext,
};
use crate::kind::{Kind, sealed::Sealed};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};
use tokio::runtime::Handle;
use tokio::task::{consume_budget, unconstrained};

/// Blocks the thread until something asynchronous of this crate is there: for code without `async`.
///
/// ```no_run
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use quorumlock::{Redlock, Wait};
///
/// let nodes = ["redis://10.0.0.1", "redis://10.0.0.2", "redis://10.0.0.3"];
/// let redlock = Redlock::builder().nodes(nodes).own_thread(true).connect().wait()?;
/// let guard = redlock.acquire("orders:42").wait()?; // waits for up to 10 s
/// guard.check()?; // before each side effect
/// guard.release().wait()?;
/// let pages = redlock.acquire("report").run(async |lease| {
///     lease.check()?;
///     Ok::<_, quorumlock::Lost>(7) // runs on this thread, and may block it
/// });
/// assert_eq!(pages.wait()??, 7);
/// redlock.shutdown().wait()?;
/// # Ok(()) }
/// ```
///
/// The client runs on a [thread of its own](crate::RedlockBuilder::own_thread), or on a runtime, which
/// must then run meanwhile, on other threads than this one. Handles and guards can move between threads,
/// and threads can share them.
///
/// A body that blocks is not interrupted when its lock is lost. Have it call
/// [`check`](crate::Lease::check) before each side effect; the loss is reported when it returns, at the
/// latest.
///
/// # Within a tokio runtime
///
/// In `spawn_blocking` and `block_in_place` a thread may wait, on every flavor of runtime. In async code
/// it would stall a thread on which other tasks need to run, possibly the task that holds the lock. So a
/// wait there is refused before anything is sent, with a [`WrongContext`]. Calls that end or prolong a lock
/// must work wherever a guard has ended up, and wait all the same, for the masters alone: `extend`,
/// `downgrade`, `detach`, `adopt` and `release` for about an operation timeout, `shutdown` for as long as
/// its documentation says, `status` for none. A refusal ends no stream.
///
/// Only tokio's own executor can be recognised, and not within `tokio::task::unconstrained`.
pub trait Wait: IntoFuture<Output: Waited> + Sized {
    /// Blocks until it completes.
    ///
    /// # Errors
    ///
    /// Its own, and a [`WrongContext`] in async code.
    fn wait(self) -> <Self::Output as Waited>::Answer;

    /// Blocks for at most `span`; `None` if it has not completed until then, and is dropped: its cancel
    /// safety says what that means. The span counts time that the machine sleeps only where the operating
    /// system's timers do.
    ///
    /// ```no_run
    /// # use std::time::Duration;
    /// # fn example(guard: quorumlock::Guard) -> Result<(), Box<dyn std::error::Error>> {
    /// use quorumlock::Wait;
    ///
    /// for step in ["charge", "ship"] {
    ///     println!("{step}");
    ///     // A pause between two steps that ends at once when the lock is lost.
    ///     if let Some(lost) = guard.lost().wait_within(Duration::from_secs(1)) {
    ///         return Err(lost?.into());
    ///     }
    /// }
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`wait`](Self::wait).
    fn wait_within(self, span: Duration) -> Option<<Self::Output as Waited>::Answer>;
}

impl<F: IntoFuture<Output: Waited>> Wait for F {
    fn wait(self) -> <F::Output as Waited>::Answer {
        match refused::<F::Output>("wait()") {
            Some(refused) => refused,
            None => until(self.into_future()).answer(),
        }
    }

    fn wait_within(self, span: Duration) -> Option<<F::Output as Waited>::Answer> {
        match refused::<F::Output>("wait_within()") {
            Some(refused) => Some(refused),
            None => within(span, self.into_future()).map(Waited::answer),
        }
    }
}

/// The output of an asynchronous method of this crate, for which a thread can [wait](Wait). Sealed.
pub trait Waited: Sealed {
    /// The same, or the refusal to wait in async code.
    type Answer;

    #[doc(hidden)]
    fn answer(self) -> Self::Answer;

    /// Returns the answer in async code; `None` if a thread waits for this there, too.
    #[doc(hidden)]
    fn refused(refusal: WrongContext) -> Option<Self::Answer>;
}

/// An error of a call for which a thread can wait.
pub trait Refusable: Sized {
    /// Returns the refusal to wait in async code; `None` if a thread waits there, too.
    fn refused(refusal: WrongContext) -> Option<Self>;
}

impl<T, E: Refusable> Sealed for Result<T, E> {}

impl<T, E: Refusable> Waited for Result<T, E> {
    type Answer = Self;

    fn answer(self) -> Self {
        self
    }

    fn refused(refusal: WrongContext) -> Option<Self> {
        E::refused(refusal).map(Err)
    }
}

impl<T, E: Refusable> Sealed for Option<Result<T, E>> {}

/// The next item of a stream.
impl<T, E: Refusable> Waited for Option<Result<T, E>> {
    type Answer = Self;

    fn answer(self) -> Self {
        self
    }

    fn refused(refusal: WrongContext) -> Option<Self> {
        E::refused(refusal).map(|refused| Some(Err(refused)))
    }
}

/// Of [`lost`](crate::Lease::lost) and [`wanted`](crate::Lease::wanted), which have no error.
macro_rules! without_error {
    ($($output:ty),+) => {$(
        impl Sealed for $output {}

        impl Waited for $output {
            type Answer = Result<Self, WrongContext>;

            fn answer(self) -> Self::Answer {
                Ok(self)
            }

            fn refused(refusal: WrongContext) -> Option<Self::Answer> {
                Some(Err(refusal))
            }
        }
    )+};
}

without_error!(Lost, ());

macro_rules! refusable {
    ($($refused:expr => $($({ $($of:tt)+ })? $error:ty),+;)+) => {$($(
        impl $(<$($of)+>)? Refusable for $error {
            fn refused(refusal: WrongContext) -> Option<Self> {
                $refused(refusal)
            }
        }
    )+)+};
}

refusable! {
    Some => WrongContext;
    |refusal| Some(Self::from(refusal)) => AcquireError, ConnectError, InspectError, ListError,
        PreflightError, ReadyError;
    |refusal| Some(Self::from(AcquireError::from(refusal))) => ReentrantError,
        { T, E } OnceError<T, E>;
    |refusal| Some(Self::NotAcquired(AcquireError::from(refusal))) => { T } RunError<T>;
    |_| None => Closed, ExtendError, Lost, ShutdownError, { K: Kind } AdoptError<K>,
        { G } DetachError<G>, { G } DowngradeError<G>;
}

/// Returns the answer where async tasks run: a task that waits there holds up the others, and the task that it
/// waits for may be one of them.
fn refused<W: Waited>(call: &'static str) -> Option<W::Answer> {
    is_in_async_code().then(|| W::refused(WrongContext::AsyncCode { call })).flatten()
}

/// Checks whether this is async code. A thread of `spawn_blocking` has a runtime at hand, too, and
/// may well wait. Tasks differ in the budget that tokio gives each of their polls; blocking
/// sections have none. `unconstrained` takes the budget away. In the future of `block_on`, a
/// blocking section takes it away for the rest of that poll. In both cases the call is not refused.
fn is_in_async_code() -> bool {
    let mut cx = Context::from_waker(Waker::noop());
    let is_spent = |_| pin!(consume_budget()).poll(&mut cx).is_pending();
    // Once the budget is spent, the task merely yields at its next await. A budget is a `u8`.
    Handle::try_current().is_ok() && (0..=u8::MAX).any(is_spent)
}

/// Waits for a future that another thread completes. Parks, and needs no runtime.
fn until<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    loop {
        if let Some(output) = within(Duration::MAX, future.as_mut()) {
            return output;
        }
    }
}

/// Waits in the same way for at most `span`; looks once even if that is zero.
fn within<F: Future>(span: Duration, future: F) -> Option<F::Output> {
    let end = Instant::now().checked_add(span);
    // In async code a budget that is spent would stay spent for as long as the thread waits.
    let mut future = pin!(unconstrained(future));
    let waker = Arc::new(Unpark(thread::current())).into();
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return Some(output);
        }
        match end.map(|end| end.saturating_duration_since(Instant::now())) {
            None => thread::park(),
            Some(Duration::ZERO) => return None,
            Some(left) => thread::park_timeout(left),
        }
    }
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::pending;
    use tokio::runtime::{Builder, Runtime};
    use tokio::sync::oneshot;
    use tokio::task::{LocalSet, block_in_place};

    fn single() -> Runtime {
        Builder::new_current_thread().build().unwrap()
    }

    fn several() -> Runtime {
        Builder::new_multi_thread().worker_threads(2).build().unwrap()
    }

    #[test]
    fn a_thread_may_wait_wherever_no_task_is_polled() {
        assert!(!is_in_async_code());
        for runtime in [single(), several()] {
            let entered = runtime.enter();
            assert!(!is_in_async_code(), "a handle is no task");
            drop(entered);
            assert!(!spawn_blocking_on(&runtime, is_in_async_code));
            let thread = async { std::thread::spawn(is_in_async_code).join().unwrap() };
            assert!(!runtime.block_on(thread));
        }
        let runtime = several();
        assert!(!runtime.block_on(async { block_in_place(is_in_async_code) }));
        let task = runtime.spawn(async { block_in_place(is_in_async_code) });
        assert!(!runtime.block_on(task).unwrap());
    }

    #[test]
    fn async_code_is_recognised_on_every_thread_of_each_runtime() {
        let here = async || is_in_async_code();
        for runtime in [single(), several()] {
            assert!(runtime.block_on(here()));
            assert!(runtime.block_on(runtime.spawn(here())).unwrap());
            assert!(runtime.block_on(LocalSet::new().run_until(here())));
            let handle = runtime.handle().clone();
            let nested = spawn_blocking_on(&runtime, move || handle.block_on(here()));
            assert!(nested, "async again within a blocking section");
        }
        let runtime = several();
        let after = async || (block_in_place(is_in_async_code), is_in_async_code());
        assert_eq!(runtime.block_on(runtime.spawn(after())).unwrap(), (false, true));
    }

    fn spawn_blocking_on<T: Send + 'static>(
        runtime: &Runtime,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> T {
        runtime.block_on(runtime.spawn_blocking(work)).unwrap()
    }

    #[test]
    fn a_wait_for_another_thread_ends_though_the_budget_is_spent() {
        let wait = || {
            let (sender, receiver) = oneshot::channel();
            let sending = thread::spawn(move || sender.send(7).unwrap());
            let heard = until(receiver).unwrap();
            sending.join().unwrap();
            heard
        };
        assert_eq!(wait(), 7);
        let spent = single().block_on(async {
            assert!(is_in_async_code());
            wait()
        });
        assert_eq!(spent, 7);
    }

    #[test]
    fn a_bounded_wait_ends_and_takes_what_is_there_already() {
        let span = Duration::from_millis(20);
        let began = Instant::now();
        assert_eq!(within(span, pending::<()>()), None);
        assert!(began.elapsed() >= span);
        assert_eq!(within(Duration::ZERO, async { 7 }), Some(7));
        assert_eq!(within(Duration::MAX, async { 7 }), Some(7));
    }
}

//! Waiting of a thread for what its driver's thread does.

use crate::failure::WrongContext;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};
use tokio::runtime::Handle;
use tokio::task::{consume_budget, unconstrained};

/// Refuses where async tasks run: a task that waits there holds up the others, and the task that it
/// waits for may be one of them.
pub(super) fn may_wait(call: &'static str) -> Result<(), WrongContext> {
    if is_in_async_code() { Err(WrongContext::AsyncCode { call }) } else { Ok(()) }
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
pub(super) fn until<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    loop {
        if let Some(output) = within(Duration::MAX, future.as_mut()) {
            return output;
        }
    }
}

/// Waits in the same way for at most `span`; looks once even if that is zero.
pub(super) fn within<F: Future>(span: Duration, future: F) -> Option<F::Output> {
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

    fn wake_by_ref(self: &Arc<Self>) {
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

//! The process that a client belongs to. A fork of it has a copy of what the client knows, shares its sockets, and has
//! none of its threads.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;

/// The process in which this was made: by the count of forks that `pthread_atfork` keeps, or by its number where no handler
/// could be registered for want of memory.
#[derive(Clone, Debug)]
pub(crate) struct Process(Result<forkguard::Guard, u32>);

impl Process {
    pub(crate) fn of_this() -> Self {
        Self(forkguard::Guard::try_new().map_err(|_| std::process::id()))
    }

    /// Returns `false` in a fork. A fork made by the system call alone (`clone`) is not noticed.
    pub(crate) fn is_this(&self) -> bool {
        match &self.0 {
            // A guard that has noticed a fork belongs to it from then on: a copy is asked.
            Ok(guard) => !guard.clone().detected_fork(),
            Err(id) => *id == std::process::id(),
        }
    }

    /// Runs `future` in this process alone: in a fork it never goes on.
    pub(crate) async fn alone<F: Future>(self, future: F) -> F::Output {
        let mut future = pin!(future);
        poll_fn(|cx| if self.is_this() { future.as_mut().poll(cx) } else { Poll::Pending }).await
    }
}

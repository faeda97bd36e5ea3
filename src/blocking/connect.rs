//! The setup of a blocking client, and the dedicated thread that its driver runs on.

use super::redlock::Redlock;
use super::wait;
use crate::RedlockBuilder;
use crate::builder::Connected;
use crate::driver::Request;
use crate::driver::clock::Clock;
use crate::failure::{Closed, ConnectError, PreflightError, WrongContext};
use crate::preflight::Preflight;
use std::future::Future;
use std::io;
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::Duration;
use tokio::runtime::{self, Runtime};

/// Sets up a [`Redlock`]: all options of [`RedlockBuilder`], and calls that block. A builder of the
/// async API becomes one by `Builder::from`.
///
/// ```no_run
/// # fn main() -> Result<(), quorumlock::ConnectError> {
/// use quorumlock::blocking::Redlock;
/// use std::time::Duration;
///
/// let nodes = ["redis://10.0.0.1", "redis://10.0.0.2", "redis://10.0.0.3"];
/// let redlock = Redlock::builder().nodes(nodes).ttl(Duration::from_secs(10)).connect()?;
/// # Ok(()) }
/// ```
pub type Builder = RedlockBuilder<Redlock>;

impl From<RedlockBuilder> for Builder {
    fn from(builder: RedlockBuilder) -> Self {
        builder.returning()
    }
}

impl Builder {
    /// Connects. Starts a thread on which the client runs, and returns once each master has
    /// answered or failed. See [`RedlockBuilder::connect`].
    ///
    /// Streams of your own to a master ([`node_with_connector`](Self::node_with_connector)) are
    /// dialled on that thread, within its tokio runtime.
    ///
    /// # Errors
    ///
    /// As there. [`WrongContext`](ConnectError::WrongContext) also if called in async code, or if the
    /// operating system provides no thread.
    #[cfg_attr(docsrs, doc(cfg(feature = "blocking")))]
    pub fn connect(self) -> Result<Redlock, ConnectError> {
        wait::may_wait("connect()")?;
        let (hand, handed) = channel();
        named().spawn(move || drive(self, &hand)).map_err(no_thread)?;
        let (redlock, connected) = handed.recv().map_err(|_| Closed::ENDED)??;
        wait::until(connected).map_err(|_| Closed::ENDED)??;
        redlock.driver().send(Request::Connected);
        Ok(Redlock::new(redlock))
    }

    /// Asks every master whether it is fit for this lock, on a thread that ends with it. See
    /// [`Redlock::preflight`](crate::Redlock::preflight).
    ///
    /// ```no_run
    /// # fn main() -> Result<(), quorumlock::PreflightError> {
    /// use quorumlock::blocking::Redlock;
    ///
    /// let builder = Redlock::builder().nodes(["redis://10.0.0.1", "redis://10.0.0.2"]);
    /// println!("{}", builder.preflight()?);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// [`PreflightError`] if a setting cannot work, if called in async code, or if no thread is
    /// available.
    #[cfg_attr(docsrs, doc(cfg(feature = "blocking")))]
    pub fn preflight(&self) -> Result<Preflight, PreflightError> {
        wait::may_wait("preflight()")?;
        on_a_thread(self.run_preflight())?
    }
}

/// Runs a future that needs a runtime, on a thread that ends with it.
pub(super) fn on_a_thread<T: Send>(
    future: impl Future<Output = T> + Send,
) -> Result<T, WrongContext> {
    thread::scope(|scope| {
        let work = || {
            let runtime = new_runtime()?;
            let output = runtime.block_on(future);
            runtime.shutdown_background();
            Ok(output)
        };
        let working = named().spawn_scoped(scope, work).map_err(no_thread)?;
        working.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// Starts a thread with a runtime for `work`.
pub(super) fn spawn(work: impl FnOnce(&Runtime) + Send + 'static) -> Result<(), WrongContext> {
    let runtime = new_runtime()?;
    let work = move || {
        work(&runtime);
        runtime.shutdown_background();
    };
    named().spawn(work).map_err(no_thread).map(drop)
}

type Handed = Result<(crate::Redlock, Connected), ConnectError>;

/// Drives the client until the last handle and guard are gone, or until it is shut down.
fn drive(builder: Builder, hand: &Sender<Handed>) {
    let prepared = new_runtime().map_err(ConnectError::from).and_then(|runtime| {
        let entered = runtime.enter();
        let prepared = builder.prepare(Clock::boot());
        drop(entered);
        prepared.map(|prepared| (runtime, prepared))
    });
    match prepared {
        Ok((runtime, (redlock, driver, connected))) => {
            // If no caller waits for the handle any more, it is dropped, and the driver ends.
            let _ = hand.send(Ok((redlock, connected)));
            runtime.block_on(driver);
            // A file that is still being read is not worth waiting for.
            runtime.shutdown_background();
        }
        Err(error) => {
            let _ = hand.send(Err(error));
        }
    }
}

fn new_runtime() -> Result<Runtime, WrongContext> {
    let mut builder = runtime::Builder::new_current_thread();
    // The threads that read files of credentials and certificates.
    builder.enable_all().thread_name("quorumlock-file").thread_keep_alive(FILES_IDLE);
    builder.build().map_err(no_thread)
}

fn named() -> thread::Builder {
    thread::Builder::new().name("quorumlock".into())
}

#[allow(clippy::needless_pass_by_value, reason = "as `map_err` passes it")]
fn no_thread(error: io::Error) -> WrongContext {
    WrongContext::NoThread { problem: error.to_string() }
}

/// The time for which a thread that has read a file stays for the next one.
const FILES_IDLE: Duration = Duration::from_millis(100);

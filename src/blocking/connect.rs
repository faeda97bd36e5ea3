//! The dedicated thread that a blocking client's driver runs on.

use super::redlock::Redlock;
use super::wait;
use crate::RedlockBuilder;
use crate::builder::Connected;
use crate::driver::Message;
use crate::driver::clock::Clock;
use crate::error::{Closed, ConnectError, Invalid};
use crate::preflight::Preflight;
use std::future::Future;
use std::io;
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};

impl RedlockBuilder {
    /// Connects as [`connect`](Self::connect) does, for code without `async`. Starts a thread on
    /// which the client runs, and returns once each master has answered or failed. Feature
    /// `blocking`.
    ///
    /// Streams of your own to a master ([`node_via`](Self::node_via)) are dialled on that thread,
    /// within its tokio runtime.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), quorumlock::ConnectError> {
    /// use quorumlock::blocking::Redlock;
    ///
    /// let redlock = Redlock::builder().nodes(["redis://10.0.0.1"]).connect_blocking()?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`connect`](Self::connect). Also [`Invalid`](ConnectError::Invalid), if called in
    /// async code, or if the operating system provides no thread.
    #[cfg_attr(docsrs, doc(cfg(feature = "blocking")))]
    pub fn connect_blocking(self) -> Result<Redlock, ConnectError> {
        wait::may_wait("connect_blocking()")?;
        let (hand, handed) = channel();
        named().spawn(move || drive(self, &hand)).map_err(no_thread)?;
        let (redlock, connected) = handed.recv().map_err(|_| Closed::SHUT_DOWN)??;
        wait::until(connected).map_err(|_| Closed::SHUT_DOWN)??;
        redlock.driver().send(Message::Connected);
        Ok(Redlock::new(redlock))
    }

    /// Runs [`preflight`](Self::preflight) for code without `async`, on a thread that ends with it.
    /// Feature `blocking`.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), quorumlock::error::Invalid> {
    /// let builder = quorumlock::Redlock::builder().nodes(["redis://10.0.0.1", "redis://10.0.0.2"]);
    /// println!("{}", builder.preflight_blocking()?);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Invalid`] if a setting cannot work, if called in async code, or if no thread is available.
    #[cfg_attr(docsrs, doc(cfg(feature = "blocking")))]
    pub fn preflight_blocking(&self) -> Result<Preflight, Invalid> {
        wait::may_wait("preflight_blocking()")?;
        on_a_thread(self.preflight())?
    }
}

/// Runs a future that needs a runtime, on a thread that ends with it.
pub(super) fn on_a_thread<T: Send>(future: impl Future<Output = T> + Send) -> Result<T, Invalid> {
    thread::scope(|scope| {
        let work = || {
            let runtime = runtime()?;
            let output = runtime.block_on(future);
            runtime.shutdown_background();
            Ok(output)
        };
        let working = named().spawn_scoped(scope, work).map_err(no_thread)?;
        working.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

type Handed = Result<(crate::Redlock, Connected), Invalid>;

/// Drives the client until the last handle and guard are gone, or until it is shut down.
fn drive(builder: RedlockBuilder, hand: &Sender<Handed>) {
    let prepared = runtime().and_then(|runtime| {
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
            // A name that is still being resolved is not worth waiting for.
            runtime.shutdown_background();
        }
        Err(invalid) => {
            let _ = hand.send(Err(invalid));
        }
    }
}

fn runtime() -> Result<Runtime, Invalid> {
    let mut builder = Builder::new_current_thread();
    // The threads that resolve names.
    builder.enable_all().thread_name("quorumlock-name").thread_keep_alive(RESOLVERS_IDLE);
    builder.build().map_err(|error| Invalid::new("runtime", error.to_string()))
}

fn named() -> thread::Builder {
    thread::Builder::new().name("quorumlock".into())
}

#[allow(clippy::needless_pass_by_value, reason = "as `map_err` passes it")]
fn no_thread(error: io::Error) -> Invalid {
    Invalid::new("thread", format!("cannot be started: {error}"))
}

/// The time for which a thread that has resolved a name stays for the next one.
const RESOLVERS_IDLE: Duration = Duration::from_millis(100);

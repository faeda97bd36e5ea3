//! The step from settings to a running client: one machine, one task that drives it, and the
//! handle.

use super::RedlockBuilder;
use crate::credentials::Source;
#[cfg(all(test, feature = "embedded"))]
use crate::driver::clock::Clock;
use crate::driver::random::OsRandom;
use crate::driver::runtime;
use crate::driver::{Connected, Driver};
use crate::failure::{Closed, ConnectError, InvalidSetting, NoRandomness};
use crate::lists::Resolved;
use crate::own_thread;
use crate::redlock::{Redlock, Setup};
use quorumlock_core::coordinator::Random;
use tokio::runtime::Handle as Runtime;

impl RedlockBuilder {
    /// Connects, on the tokio runtime that this is awaited on, or on a [thread](Self::own_thread). Returns once each master has
    /// answered or failed, even when none is up; masters that are down are redialled in the
    /// background.
    ///
    /// A master that answers and cannot be used as configured loses its vote, and is reported
    /// loudly: by [`Redlock::status`], by the event `unfit` and the metric
    /// `quorumlock_node_standing` of the features `tracing` and `metrics`, and by the command on
    /// stderr. It is asked again and again, and votes once it is fixed. [`strict`](Self::strict)
    /// turns it into an error.
    ///
    /// # Errors
    ///
    /// - [`InvalidSetting`](ConnectError::InvalidSetting): a setting (or an address) that cannot
    ///   work; the call sent nothing.
    /// - [`WrongContext`](ConnectError::WrongContext): the call has no tokio runtime to run on, or a
    ///   runtime built without its time or I/O driver (`enable_all()` has both), or no thread; it sent
    ///   nothing. tokio answers that question with a panic, which is caught here: its text still
    ///   appears on stderr.
    /// - [`NoRandomness`](ConnectError::NoRandomness): the operating system provides no random bytes
    ///   for tokens; the call sent nothing.
    /// - [`Unfit`](ConnectError::Unfit): masters answer and cannot be used as configured (wrong
    ///   credentials, a replica, the same server twice), and without them a list has no quorum.
    ///   With [`strict`](Self::strict), any such master is enough.
    /// - [`Disagreement`](ConnectError::Disagreement): another client of a master is configured with
    ///   another `max_ttl` or fencing window, or with a list of masters that could win beside this one's;
    ///   or the masters that do not know such a client are no quorum. Otherwise a master that knows a
    ///   client of another list is reported as an unfit one, and votes once that client has gone. With
    ///   [`strict`](Self::strict), any such master is enough.
    /// - [`Closed`](ConnectError::Closed): the runtime ended in the meantime.
    ///
    /// # Cancel safety
    ///
    /// Safe: if dropped, it takes back what it has recorded at the masters, and closes what it has
    /// opened.
    pub async fn connect(self) -> Result<Redlock, ConnectError> {
        let own_thread = self.own_thread;
        let begin = || {
            let (redlock, driver, connected) = self.prepare()?;
            Ok::<_, ConnectError>(((redlock, connected), tokio::spawn(driver)))
        };
        let (redlock, connected) = own_thread::begin(own_thread, begin)?;
        connected.await.map_err(|_| Closed::ENDED)??;
        redlock.driver().in_use();
        Ok(redlock)
    }

    /// Returns every master once, and which master belongs to which list.
    pub(crate) fn masters(&self) -> Result<Resolved, InvalidSetting> {
        let credentials = self.credentials.as_ref();
        let check = credentials.map_or(Ok(()), Source::check);
        check.map_err(|problem| InvalidSetting::new("credentials_file", problem))?;
        #[cfg(feature = "config")]
        if let Some(config) = self.tls_files.read()? {
            return self.lists.resolve(Some(&config), credentials);
        }
        self.lists.resolve(self.tls.as_ref(), credentials)
    }

    /// Prepares everything but the run itself: the driver notifies `connected` when every node has
    /// answered or failed.
    pub(crate) fn prepare(self) -> Result<(Redlock, Driver, Connected), ConnectError> {
        self.options.check()?;
        let (addresses, membership) = self.masters()?;
        if OsRandom::new().bits().is_none() {
            return Err(NoRandomness.into());
        }
        runtime::check("connect()", addresses.iter().map(|address| &address.transport))?;

        let masters = (addresses, membership);
        let (handle, driver, connected) = Driver::begin(&self.options, &masters, self.clock);
        let setup = Setup {
            options: self.options,
            masters,
            own_runtime: self.own_thread.then(Runtime::current),
        };
        Ok((Redlock { setup: setup.into(), driver: handle }, driver, connected))
    }
}

#[cfg(all(test, feature = "embedded"))]
impl RedlockBuilder {
    pub(crate) async fn connect_on(self, clock: Clock) -> Result<Redlock, ConnectError> {
        self.on_clock(clock).connect().await
    }
}

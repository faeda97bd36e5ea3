//! The step from settings to a running client: one machine, one task that drives it, and the
//! handle.

use super::RedlockBuilder;
use crate::credentials::Source;
#[cfg(all(test, feature = "embedded"))]
use crate::driver::clock::Clock;
use crate::driver::random::OsRandom;
use crate::driver::runtime;
use crate::driver::{self, Callers, Driver, Ended, Handle, IdleLocks, Request};
use crate::failure::{Closed, ConnectError, InvalidSetting, NoRandomness};
use crate::lists::Resolved;
use crate::own_thread;
use crate::redlock::{Redlock, Setup};
use crate::telemetry::{Outlet, Telemetry};
use quorumlock_core::coordinator::{Coordinator, Random};
use std::sync::Arc;
use tokio::runtime::Handle as Runtime;
use tokio::sync::oneshot;

/// The outcome of the first try to connect to every node.
type Connected = oneshot::Receiver<Result<(), ConnectError>>;

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
        redlock.driver().send(Request::Connected);
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

        let clock = self.clock;
        let names = addresses.iter().map(|address| (address.name.clone(), address.login.clone()));
        let settings = self.options.settings(membership, &addresses);
        let mut machine = Coordinator::new(clock.now(), settings, names, Box::new(OsRandom::new()));
        let idle_locks = Arc::<IdleLocks>::default();
        machine.use_shelf(idle_locks.clone());
        let (requests, inbox) = driver::requests();
        let (reply, connected) = oneshot::channel();
        let outlet = Outlet::new(addresses.iter().map(|address| &address.name));
        let names = addresses.iter().map(|address| address.name.clone());
        let callers = Callers::new(
            reply,
            self.options.strict,
            self.options.key_prefix.len(),
            Telemetry::new(outlet.clone(), names),
            idle_locks.clone(),
        );
        let ended = Ended::default();
        let driver =
            Driver::new(machine, clock, inbox, callers, &addresses, &self.options, ended.clone());
        let handle = Handle::new(requests, clock, ended, outlet, idle_locks);
        let setup = Setup {
            options: self.options,
            masters: (addresses, membership),
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

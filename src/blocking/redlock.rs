//! The handle that users clone.

use super::acquire::Acquire;
use super::connect::{Builder, on_a_thread};
use super::election::Election;
use super::guard::Guard;
use super::hand_over::Adopt;
use super::reentrant::Reentrant;
use super::wait;
use crate::detached::Detached;
use crate::failure::{Closed, ReadyError, ShutdownError, WrongContext};
use crate::inspect::{Holder, InspectError, Inspection};
use crate::kind::{All, Kind};
use crate::preflight::Preflight;
use crate::report::NodeReport;
use crate::resource::{IntoResource, IntoResources};
use crate::status::Status;
use std::time::Duration;

/// A client of one set of masters, with a thread of its own. Clones share it.
///
/// It is [`quorumlock::Redlock`](crate::Redlock) for code without `async`. See there for the
/// guarantees, and [the module](crate::blocking) for the differences.
///
/// ```no_run
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use quorumlock::blocking::Redlock;
/// use std::thread;
///
/// let nodes = ["redis://10.0.0.1", "redis://10.0.0.2", "redis://10.0.0.3"];
/// let redlock = Redlock::builder().nodes(nodes).connect()?;
/// thread::scope(|scope| {
///     for worker in 0..4 {
///         let redlock = &redlock;
///         scope.spawn(move || redlock.acquire("orders:42").run(|_| println!("{worker} alone")));
///     }
/// });
/// redlock.shutdown()?;
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct Redlock {
    inner: crate::Redlock,
}

impl Redlock {
    pub(super) const fn new(inner: crate::Redlock) -> Self {
        Self { inner }
    }

    pub(super) const fn inner(&self) -> &crate::Redlock {
        &self.inner
    }

    /// Returns a builder with an empty list of masters, and defaults for everything else.
    pub fn builder() -> Builder {
        Builder::new()
    }

    /// Acquires the lock on `resource`. No master is asked before [`lock`](Acquire::lock) or
    /// [`run`](Acquire::run). See [`Redlock::acquire`](crate::Redlock::acquire).
    #[doc(alias = "lock")]
    pub fn acquire(&self, resource: impl IntoResource) -> Acquire {
        Acquire::new(self.inner.acquire(resource))
    }

    /// Acquires several resources together, under one guard. See
    /// [`Redlock::acquire_all`](crate::Redlock::acquire_all).
    ///
    /// ```no_run
    /// # fn example(redlock: quorumlock::blocking::Redlock) -> Result<(), quorumlock::AcquireError> {
    /// let both = redlock.acquire_all(["account:1", "account:2"]).lock()?;
    /// # drop(both);
    /// # Ok(()) }
    /// ```
    pub fn acquire_all(&self, resources: impl IntoResources) -> Acquire<All<Guard>> {
        Acquire::new(self.inner.acquire_all(resources))
    }

    /// Makes one attempt, and does not wait while another holder has the lock. See
    /// [`Redlock::try_acquire`](crate::Redlock::try_acquire).
    ///
    /// ```no_run
    /// # fn example(redlock: quorumlock::blocking::Redlock) -> Result<(), quorumlock::AcquireError> {
    /// use quorumlock::AcquireError;
    ///
    /// match redlock.try_acquire("nightly-report").lock() {
    ///     Ok(guard) => { /* this host writes it */ }
    ///     Err(AcquireError::Contended(_)) => { /* another one does */ }
    ///     Err(outage) => return Err(outage),
    /// }
    /// # Ok(()) }
    /// ```
    pub fn try_acquire(&self, resource: impl IntoResource) -> Acquire {
        Acquire::new(self.inner.try_acquire(resource))
    }

    /// Makes one attempt to acquire several resources together, and does not wait. See
    /// [`Redlock::try_acquire_all`](crate::Redlock::try_acquire_all).
    pub fn try_acquire_all(&self, resources: impl IntoResources) -> Acquire<All<Guard>> {
        Acquire::new(self.inner.try_acquire_all(resources))
    }

    /// Adopts a lock that [`detach`](super::Guard::detach) has turned into a value, here or in another
    /// process. See [`Redlock::adopt`](crate::Redlock::adopt).
    pub fn adopt<K: Kind>(&self, detached: Detached<K>) -> Adopt<K> {
        Adopt::new(self.inner.adopt(detached))
    }

    /// Returns a re-entrant handle, whose acquisitions of one resource nest. See
    /// [`Redlock::reentrant`](crate::Redlock::reentrant).
    #[must_use]
    pub fn reentrant(&self) -> Reentrant {
        Reentrant::new(self.inner.reentrant())
    }

    /// Returns the election of this name. See [`Redlock::election`](crate::Redlock::election).
    pub fn election(&self, name: impl IntoResource) -> Election {
        Election::new(self.inner.election(name))
    }

    /// Asks every master what it has for `resource`. See
    /// [`Redlock::inspect`](crate::Redlock::inspect).
    ///
    /// # Errors
    ///
    /// As there, and [`InspectError::WrongContext`] in async code.
    pub fn inspect(&self, resource: impl IntoResource) -> Result<Inspection, InspectError> {
        wait::may_wait("inspect()")?;
        wait::until(self.inner.inspect(resource))
    }

    /// Asks the process of the holder that `inspection` found to give the lock back. See
    /// [`Redlock::ask`](crate::Redlock::ask).
    ///
    /// # Errors
    ///
    /// As there, and [`InspectError::WrongContext`] in async code.
    pub fn ask(&self, inspection: &Inspection) -> Result<usize, InspectError> {
        wait::may_wait("ask()")?;
        wait::until(self.inner.ask(inspection))
    }

    /// Takes the lock away from the holder that `inspection` found. **That holder continues to
    /// believe that it holds the lock.** See
    /// [`Redlock::force_release`](crate::Redlock::force_release).
    ///
    /// # Errors
    ///
    /// As there, and [`InspectError::WrongContext`] in async code.
    pub fn force_release(&self, inspection: &Inspection) -> Result<Vec<NodeReport>, InspectError> {
        wait::may_wait("force_release()")?;
        wait::until(self.inner.force_release(inspection))
    }

    /// Takes the lock away from one reader that `inspection` found. **That reader continues to believe
    /// that it holds the lock.** See
    /// [`Redlock::force_release_reader`](crate::Redlock::force_release_reader).
    ///
    /// # Errors
    ///
    /// As there, and [`InspectError::WrongContext`] in async code.
    pub fn force_release_reader(
        &self,
        inspection: &Inspection,
        reader: &Holder,
    ) -> Result<Vec<NodeReport>, InspectError> {
        wait::may_wait("force_release_reader()")?;
        wait::until(self.inner.force_release_reader(inspection, reader))
    }

    /// Asks every master whether it is fit for this lock, over connections of its own and on a
    /// thread that ends with it. See [`Redlock::preflight`](crate::Redlock::preflight).
    ///
    /// # Errors
    ///
    /// [`WrongContext`] if called in async code, or if no thread is available.
    pub fn preflight(&self) -> Result<Preflight, WrongContext> {
        wait::may_wait("preflight()")?;
        on_a_thread(self.inner.preflight())?
    }

    /// Reports how each master stands with this client, and whether a quorum of them may vote.
    /// Never waits for a master. See [`Redlock::status`](crate::Redlock::status).
    ///
    /// # Errors
    ///
    /// [`Closed`] after a shutdown.
    pub fn status(&self) -> Result<Status, Closed> {
        wait::until(self.inner.status())
    }

    /// Waits until a quorum of each list may vote, for at most `within`. See
    /// [`Redlock::wait_until_ready`](crate::Redlock::wait_until_ready).
    ///
    /// ```no_run
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use quorumlock::blocking::Redlock;
    /// use std::time::Duration;
    ///
    /// let nodes = ["redis://10.0.0.1", "redis://10.0.0.2", "redis://10.0.0.3"];
    /// let redlock = Redlock::builder().nodes(nodes).connect()?;
    /// redlock.wait_until_ready(Duration::from_secs(60))?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// As there, and [`ReadyError::WrongContext`] in async code.
    pub fn wait_until_ready(&self, within: Duration) -> Result<(), ReadyError> {
        wait::may_wait("wait_until_ready()")?;
        wait::until(self.inner.wait_until_ready(within))
    }

    /// Ends this client and its thread, for all clones. Waits until every release and rollback that
    /// is owed is confirmed, within a bound. See [`Redlock::shutdown`](crate::Redlock::shutdown).
    ///
    /// A `main` that ends without a shutdown may leave keys behind for a ttl.
    ///
    /// # Errors
    ///
    /// [`ShutdownError`] if masters did not confirm in time; their keys expire.
    pub fn shutdown(&self) -> Result<(), ShutdownError> {
        wait::until(self.inner.shutdown())
    }
}

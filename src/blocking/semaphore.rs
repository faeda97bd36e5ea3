//! A semaphore for code without `async`.

use super::acquire::Acquire;
use super::guard::Guard;
use super::redlock::Redlock;
use super::wait;
use crate::inspect::InspectError;
use crate::inspect::Inspection;
use crate::kind::Permitted;
use crate::resource::IntoResource;

/// A held permit. It is a [`Guard`] that knows its slot.
pub type Permit = Guard<Permitted>;

/// A semaphore, of which a fixed number of permits are held at a time by all clients together.
///
/// It is [`quorumlock::Semaphore`](crate::Semaphore) for code without `async`. See there for the
/// guarantees.
///
/// ```no_run
/// # fn example(redlock: quorumlock::blocking::Redlock) -> Result<(), Box<dyn std::error::Error>> {
/// let permit = redlock.semaphore("import", 10).acquire().lock()?;
/// permit.release()?;
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct Semaphore {
    inner: crate::Semaphore,
}

impl Redlock {
    /// Returns the semaphore of this name, with so many permits. See
    /// [`Redlock::semaphore`](crate::Redlock::semaphore).
    pub fn semaphore(&self, name: impl IntoResource, permits: usize) -> Semaphore {
        Semaphore { inner: self.inner().semaphore(name, permits) }
    }
}

impl Semaphore {
    /// Acquires a permit. No master is asked before [`lock`](Acquire::lock) or
    /// [`run`](Acquire::run).
    pub fn acquire(&self) -> Acquire<Permit> {
        Acquire::new(self.inner.acquire())
    }

    /// Takes a permit if one is free, and does not wait. See
    /// [`Semaphore::try_acquire`](crate::Semaphore::try_acquire).
    pub fn try_acquire(&self) -> Acquire<Permit> {
        Acquire::new(self.inner.try_acquire())
    }

    /// Asks all masters how many permits are free: a hint. See
    /// [`Semaphore::available_permits`](crate::Semaphore::available_permits).
    ///
    /// # Errors
    ///
    /// As there, and [`InspectError::WrongContext`] in async code.
    pub fn available_permits(&self) -> Result<usize, InspectError> {
        wait::may_wait("available_permits()")?;
        wait::until(self.inner.available_permits())
    }

    /// Asks every master for the holder of each permit. See
    /// [`Semaphore::inspect`](crate::Semaphore::inspect).
    ///
    /// # Errors
    ///
    /// As there, and [`InspectError::WrongContext`] in async code.
    pub fn inspect(&self) -> Result<Vec<Inspection>, InspectError> {
        wait::may_wait("inspect()")?;
        wait::until(self.inner.inspect())
    }

    /// Returns the number of permits that it was created with.
    #[must_use]
    pub fn permits(&self) -> usize {
        self.inner.permits()
    }
}

//! A semaphore: permits of which a fixed number are held at a time, in all processes together.

use crate::acquire::Acquire;
use crate::guard::{Guard, Lease};
use crate::inspect::{InspectError, Inspection};
use crate::kind::Permitted;
use crate::redlock::Redlock;
use crate::resource::{Pool, Resources};
use quorumlock_core::coordinator::{Event, Question, Slots};
use std::sync::Arc;
use std::time::Duration;

/// A held permit of a [`Semaphore`]: a [`Guard`] that knows its [`slot`](Lease::slot).
pub type Permit = Guard<Permitted>;

/// A view of a held [`Permit`].
pub type PermitLease = Lease<Permitted>;

/// A semaphore, of which a fixed number of permits are held at a time by all clients together.
/// Clones share it.
///
/// Each permit is a lock of its own, on one of as many slots. So it has a ttl of its own, expires by
/// itself if its holder crashes, and is lost alone. A holder that releases does so in the same
/// background way, and each [`Permit`] has all methods of a [`Guard`].
///
/// ```no_run
/// # async fn import() {}
/// # async fn example(redlock: quorumlock::Redlock) -> Result<(), Box<dyn std::error::Error>> {
/// let imports = redlock.semaphore("import", 10);
/// let permit = imports.acquire().await?; // waits while all ten are taken
/// permit.check()?; // before each side effect, as with a lock
/// permit.release().await?;
///
/// imports.acquire().run(async |_| import().await).await?;
/// # Ok(()) }
/// ```
///
/// A permit that is free costs what a lock costs. Waiters in this process are served in the order in
/// which they came, and those of all processes if they ask with [`fair`](Acquire::fair). A permit has no fencing token: the numbers of
/// different slots would not compare.
#[derive(Clone, Debug)]
pub struct Semaphore {
    redlock: Redlock,
    pool: Arc<Pool>,
}

impl Redlock {
    /// Returns the semaphore of this name, with so many permits: 1 to 64.
    ///
    /// The number is not agreed on among clients. Where they differ, the greatest counts: a client
    /// with fewer permits uses the first of the same slots. A semaphore and a lock of one name have
    /// nothing to do with each other.
    ///
    /// ```no_run
    /// # async fn example(redlock: quorumlock::Redlock) -> Result<(), quorumlock::AcquireError> {
    /// let permit = redlock.semaphore("import", 10).acquire().await?;
    /// # drop(permit);
    /// # Ok(()) }
    /// ```
    #[doc(alias("acquire_many", "rate_limit"))]
    pub fn semaphore(&self, name: impl AsRef<str>, permits: usize) -> Semaphore {
        let (resource, options) = (Arc::from(name.as_ref()), &self.setup.options);
        let count = u8::try_from(permits).unwrap_or(Slots::MOST).min(Slots::MOST);
        let names = (0..count).map(|slot| options.slot(&resource, slot));
        let slots = Slots::new(options.slots_channel(&resource), names);
        Semaphore { redlock: self.clone(), pool: Arc::new(Pool { resource, permits, slots }) }
    }
}

impl Semaphore {
    /// Acquires a permit. Waits while all are taken or too few masters answer, but not indefinitely
    /// (10 s unless configured). Options for this call are set on the returned value; await it to begin.
    ///
    /// # Errors
    ///
    /// Those of [`Acquire`]. [`Contended`](crate::error::Contended) says that all permits were
    /// taken, and when the first of them expires. An [`InvalidSetting`](crate::InvalidSetting)
    /// refuses less than 1 permit and more than 64.
    ///
    /// # Cancel safety
    ///
    /// As [`Acquire`]: a dropped acquire leaves nothing.
    pub fn acquire(&self) -> Acquire<Permit> {
        Acquire::new((), self.redlock.clone(), Resources::AnyOf(self.pool.clone()))
    }

    /// Takes a permit if one is free, and does not wait. It tries up to four slots: one at once, and
    /// others if they look free. Does not ask at all if other callers of this process wait for a
    /// permit.
    ///
    /// See [`acquire`](Self::acquire) for errors and cancel safety.
    ///
    /// ```no_run
    /// # async fn example(redlock: quorumlock::Redlock) -> Result<(), quorumlock::AcquireError> {
    /// use quorumlock::AcquireError;
    ///
    /// match redlock.semaphore("import", 10).try_acquire().await {
    ///     Ok(permit) => println!("this import is number {}", permit.slot()),
    ///     Err(AcquireError::Contended(full)) => println!("{full}"), // all 10 permits ... are taken
    ///     Err(outage) => return Err(outage),
    /// }
    /// # Ok(()) }
    /// ```
    pub fn try_acquire(&self) -> Acquire<Permit> {
        self.acquire().timeout(Duration::ZERO)
    }

    /// Asks all masters how many permits are free. The answer is a hint, which may be wrong by the
    /// time it arrives: a permit counts as free if a quorum of masters has no holder of its slot.
    ///
    /// # Errors
    ///
    /// [`InspectError::InvalidSetting`] for a semaphore that cannot be, and
    /// [`InspectError::Closed`] after a shutdown.
    ///
    /// # Cancel safety
    ///
    /// Safe: it changes nothing.
    pub async fn available_permits(&self) -> Result<usize, InspectError> {
        self.pool.check(&self.redlock.setup.options)?;
        let (driver, keys) = (&self.redlock.driver, self.pool.slots.names().to_vec());
        let asked = driver.ask(move |machine, now, request| {
            machine.handle_question(now, Question::look(request, &keys, None));
        });
        let Event::Looked { free_in, .. } = driver.answer(asked).await? else { return Ok(0) };
        Ok(free_in.into_iter().flatten().filter(Duration::is_zero).count())
    }

    /// Asks every master for the holder of each permit: one [`Inspection`] for each slot, in their
    /// order. A permit is taken away from its holder by [`Redlock::force_release`]. Waits for all
    /// masters, at most for the operation timeout.
    ///
    /// ```no_run
    /// # async fn example(redlock: quorumlock::Redlock) -> Result<(), quorumlock::InspectError> {
    /// for permit in redlock.semaphore("import", 10).inspect().await? {
    ///     println!("{permit}"); // slot 0 of "import" is held by worker-7, expires in 8 s: …
    /// }
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// [`InspectError::InvalidSetting`] for a semaphore that cannot be, and
    /// [`InspectError::Closed`] after a shutdown.
    ///
    /// # Cancel safety
    ///
    /// Safe: it changes nothing.
    pub async fn inspect(&self) -> Result<Vec<Inspection>, InspectError> {
        let Pool { resource, slots, .. } = &*self.pool;
        self.pool.check(&self.redlock.setup.options)?;
        // All of them are asked at once.
        let ask = |key| self.redlock.ask_about(resource.clone(), key, None);
        let asked: Vec<_> = slots.names().iter().map(ask).collect();
        let own = self.redlock.driver.downgrade().own(slots.names().to_vec());
        let mut permits = Vec::with_capacity(asked.len());
        for (slot, found) in (0..).zip(asked) {
            permits.push(found.await?.at_slot(Some(slot)));
        }
        let own = own.await;
        permits.iter_mut().enumerate().for_each(|(place, permit)| permit.learn(&own, place));
        Ok(permits)
    }

    /// Returns the number of permits given when the semaphore was created.
    #[must_use]
    pub fn permits(&self) -> usize {
        self.pool.permits
    }
}

impl Lease<Permitted> {
    /// Returns the number of this permit's slot: 0 and up, and less than there are permits. Two
    /// valid permits of a semaphore never have the same slot.
    #[must_use]
    pub const fn slot(&self) -> usize {
        // An acquire of a permit always has one.
        match self.slot {
            Some(slot) => slot as usize,
            None => 0,
        }
    }
}

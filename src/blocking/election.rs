//! Elections without async.

use super::wait;
use crate::election::{Leader, Watch};
use crate::failure::{AcquireError, Lost};
use crate::fencing::FencingToken;
use crate::guard::FencedLease;
use crate::inspect::InspectError;
use crate::released::Released;
use std::ops::Deref;
use std::time::Duration;

/// An election: candidates campaign, one of them leads, and observers see the leader.
///
/// It is [`quorumlock::Election`](crate::Election) for code without `async`. Nothing here stops the
/// work of a thread, so it has to look whether it still leads.
///
/// ```no_run
/// # fn step(_: u64) -> bool { true }
/// # fn example(redlock: quorumlock::blocking::Redlock) -> Result<(), quorumlock::AcquireError> {
/// redlock.election("scheduler").run("10.0.0.7:8080", |lease| {
///     loop {
///         lease.check()?; // after a loss: campaigns again
///         if !step(lease.fencing_token().as_u64()) {
///             return Ok(()); // resigns
///         }
///     }
/// })
/// # }
/// ```
#[derive(Clone, Debug)]
#[must_use = "an election does nothing by itself"]
pub struct Election {
    inner: crate::Election,
}

impl Election {
    pub(super) const fn new(inner: crate::Election) -> Self {
        Self { inner }
    }

    /// Sets how long a leader that has crashed keeps the others out. See
    /// [`Election::ttl`](crate::Election::ttl).
    pub fn ttl(self, ttl: Duration) -> Self {
        Self { inner: self.inner.ttl(ttl) }
    }

    /// Keeps the others out for this much longer. See
    /// [`Election::lock_delay`](crate::Election::lock_delay).
    pub fn lock_delay(self, lock_delay: Duration) -> Self {
        Self { inner: self.inner.lock_delay(lock_delay) }
    }

    /// Returns its name.
    #[must_use]
    pub fn name(&self) -> &str {
        self.inner.name()
    }

    /// Blocks until this candidate leads, however long that takes; only a shutdown ends it earlier.
    /// See [`Election::campaign`](crate::Election::campaign).
    ///
    /// # Errors
    ///
    /// As there, and [`AcquireError::WrongContext`] in async code.
    pub fn campaign(&self, candidate: impl Into<String>) -> Result<Leadership, AcquireError> {
        wait::may_wait("campaign()")?;
        wait::until(self.inner.campaign(candidate)).map(|inner| Leadership { inner })
    }

    /// Campaigns, and runs `body` on this thread once it leads. If the body returns an error, as
    /// [`check`](crate::Lease::check) does after a loss, it campaigns again, and runs the body in the next
    /// term. If the body returns `Ok` while it leads, it resigns; after a loss it campaigns again, and what
    /// the body has returned is dropped.
    ///
    /// A body is not interrupted by a loss. Have it call [`check`](crate::Lease::check) before each side
    /// effect. See [`Election::run`](crate::Election::run).
    ///
    /// # Errors
    ///
    /// The errors of [`campaign`](Self::campaign). A loss is none.
    pub fn run<T>(
        &self,
        candidate: impl Into<String>,
        mut body: impl FnMut(FencedLease) -> Result<T, Lost>,
    ) -> Result<T, AcquireError> {
        let candidate = candidate.into();
        loop {
            // A panic of the body drops the leadership, and so resigns.
            let led = self.campaign(candidate.as_str())?;
            if let Ok(result) = body(led.lease())
                && led.resign().is_ok()
            {
                return Ok(result);
            }
        }
    }

    /// Asks every master for the leader. See [`Election::leader`](crate::Election::leader).
    ///
    /// # Errors
    ///
    /// As there, and [`InspectError::WrongContext`] in async code.
    pub fn leader(&self) -> Result<Option<Leader>, InspectError> {
        wait::may_wait("leader()")?;
        wait::until(self.inner.leader())
    }

    /// Follows the leader: an iterator that blocks until there is a change. See
    /// [`Election::observe`](crate::Election::observe) for what it may leave out.
    ///
    /// ```no_run
    /// # fn example(redlock: quorumlock::blocking::Redlock) -> Result<(), quorumlock::InspectError> {
    /// for leader in redlock.election("scheduler").observe() {
    ///     match leader? {
    ///         Some(leader) => println!("{leader}"), // 10.0.0.7:8080 in term 1795158604154900
    ///         None => println!("no leader"),
    ///     }
    /// }
    /// # Ok(()) }
    /// ```
    pub fn observe(&self) -> Leaders {
        Leaders { watch: Some(Box::new(Watch::new(self.inner.clone()))) }
    }
}

/// A leadership, until it is [resigned](Self::resign), dropped or lost. It has all methods of a
/// [`Lease`](super::Lease). Dropping it resigns in the background, and never blocks.
#[must_use = "a leadership that is dropped is resigned: bind it to a name"]
#[derive(Debug)]
pub struct Leadership {
    inner: crate::Leadership,
}

impl Leadership {
    /// Returns its term. See [`Leadership::term`](crate::Leadership::term).
    #[must_use]
    pub fn term(&self) -> FencingToken {
        self.inner.term()
    }

    /// Returns a read-only view of it for other threads.
    #[must_use]
    pub fn lease(&self) -> FencedLease {
        self.inner.lease()
    }

    /// Lets another candidate lead, and blocks until a quorum of masters has deleted the key, at
    /// most for the operation timeout. See [`Leadership::resign`](crate::Leadership::resign).
    ///
    /// # Errors
    ///
    /// [`Lost`] if the leadership had been lost before.
    pub fn resign(self) -> Result<Released, Lost> {
        wait::until(self.inner.resign())
    }
}

impl Deref for Leadership {
    type Target = FencedLease;

    fn deref(&self) -> &FencedLease {
        &self.inner
    }
}

/// The leaders, from the first look on: an iterator that blocks. After an error it has ended; in
/// async code, that is [`InspectError::WrongContext`].
#[must_use = "nothing is observed before the iterator is asked"]
pub struct Leaders {
    watch: Option<Box<Watch>>,
}

impl Iterator for Leaders {
    type Item = Result<Option<Leader>, InspectError>;

    fn next(&mut self) -> Option<Self::Item> {
        let watch = self.watch.as_mut()?;
        let news = loop {
            if let Err(error) = wait::may_wait("observe()") {
                break Err(error.into());
            }
            let ear = watch.ear();
            let is_notified = match watch.pause() {
                pause if pause.is_zero() => false,
                pause => wait::within(pause, ear.notified()).is_some(),
            };
            match wait::until(watch.look(is_notified)) {
                Ok(None) => {}
                Ok(Some(news)) => break Ok(news),
                Err(error) => break Err(error),
            }
        };
        if news.is_err() {
            self.watch = None;
        }
        Some(news)
    }
}

impl std::fmt::Debug for Leaders {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Leaders").field("has_ended", &self.watch.is_none()).finish_non_exhaustive()
    }
}

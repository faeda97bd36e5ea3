//! The options of an acquisition, each for the guards that can have it.

use super::{Acquire, Exclusive, Fenceable, Held};
use crate::kind::{Detachable, Listed};
#[cfg(doc)]
use crate::{guard::Guard, redlock::Redlock};
use quorumlock_core::coordinator::Label;
use quorumlock_core::quorum::Nanos;
use std::sync::Arc;
use std::time::Duration;

impl<G: Fenceable> Acquire<G> {
    /// Requests a fencing token along with the lock, in the same round trip. The token is a number
    /// greater than that of every earlier fenced win of this resource. Every system written to
    /// under the lock has to check it. The check refuses a holder that was paused past its deadline
    /// and does not know it yet.
    ///
    /// The guard is a [`FencedGuard`](crate::FencedGuard), and its token stays the same over
    /// extensions. Each guard of a lock that is [kept warm](Self::keep_warm) has one of its own. Fenced and unfenced holders of one resource exclude each other, but the writes
    /// of unfenced holders are not checked. Fence all holders of a resource, or none.
    ///
    /// ```no_run
    /// # async fn charge(_: u64) {}
    /// # async fn example(redlock: quorumlock::Redlock) -> Result<(), Box<dyn std::error::Error>> {
    /// let guard = redlock.acquire("pay:7").fenced().await?;
    /// charge(guard.fencing_token().as_u64()).await; // refuses a number below the greatest it has seen
    /// # Ok(()) }
    /// ```
    pub fn fenced(self) -> Acquire<G::Fenced> {
        Acquire { terms: self.terms, doors: self.doors }
    }
}

impl<G: Held> Acquire<G> {
    /// Sets the life of the key on the masters, unless it is released or extended. The holder may
    /// rely on it for a little less (minus the drift, and the time that the acquisition took).
    /// Truncated to whole milliseconds. At most [`max_ttl`](crate::RedlockBuilder::max_ttl);
    /// default: the builder's [`ttl`](crate::RedlockBuilder::ttl).
    pub const fn ttl(mut self, ttl: Duration) -> Self {
        self.terms.ttl = ttl;
        self
    }

    /// Lets the key live this much longer than the ttl, unless it is released. The resource of a
    /// crashed or lost holder stays closed for that long; a released one opens at once. The delay
    /// does not lengthen the time for which the holder may rely on the lock. Rounded up to whole
    /// milliseconds; ttl and delay together are at most
    /// [`max_ttl`](crate::RedlockBuilder::max_ttl). Default: the builder's
    /// [`lock_delay`](crate::RedlockBuilder::lock_delay).
    pub const fn lock_delay(mut self, lock_delay: Duration) -> Self {
        self.terms.lock_delay = lock_delay;
        self
    }

    /// Sets the time for which to keep trying while another holder has the lock or too few masters
    /// answer. Attempts begin no later than that; the last one may take an operation timeout
    /// longer. With [`Duration::MAX`], it tries until the lock is won, outages included. Default: the
    /// builder's [`acquire_timeout`](crate::RedlockBuilder::acquire_timeout); zero for `try_acquire`.
    pub const fn timeout(mut self, timeout: Duration) -> Self {
        self.terms.timeout = Nanos::of(timeout);
        self
    }

    /// Extends the lock in the background: at a third of the ttl, or up to a quarter of that
    /// sooner, so that locks that were won together are not extended together. If too few masters
    /// confirm, the extension is retried within the remaining time. This goes on until the lock is
    /// released or its time is over. If the lock is lost all the same,
    /// [`lost`](crate::Lease::lost) reports it, and the lock is never acquired again. A process
    /// that dies leaves the lock for one ttl, as any lock does.
    ///
    /// It begins when the future that has won returns the guard: if the future is not polled, its
    /// lock is not extended, and ends with the first ttl.
    ///
    /// The keep-alive ends at the builder's [`max_hold`](crate::RedlockBuilder::max_hold), 1 h
    /// unless configured.
    ///
    /// [`run`](Self::run) does the same for one body, which it stops when the lock is lost, and releases when
    /// the body ends. Take this one where a guard is kept: in a struct, or across functions. Then it is up to
    /// you to look at [`lost`](crate::Lease::lost) or [`check`](crate::Lease::check).
    #[doc(alias("watchdog", "heartbeat", "auto_renew", "auto_extend"))]
    pub fn keep_alive(mut self) -> Self {
        self.terms.keep_alive = Some(Nanos::of(self.terms.redlock.setup.options.max_hold));
        self
    }

    /// Keeps the lock alive like [`keep_alive`](Self::keep_alive), for at most this long from the
    /// start of the attempt that wins. Even [`Guard::extend`] does not move the deadline beyond
    /// that. At least the ttl. [`Duration::MAX`] has no end: a task that then hangs while it holds the guard
    /// keeps all others out until its process ends.
    pub const fn keep_alive_for(mut self, span: Duration) -> Self {
        self.terms.keep_alive = Some(Nanos::of(span));
        self
    }

    /// Names the holder of this lock, in place of the builder's
    /// [`label`](crate::RedlockBuilder::label): with an address, others learn where the holder is.
    /// It is set with the lock, in the same command, and is gone with it. [`inspect`],
    /// [`list`](Redlock::list) and the error of a caller that finds the lock [held] show it.
    ///
    /// At most 512 bytes without control characters, and not ending like the term of an election
    /// (`;term=7`). An empty one is as good as none, and leaves the builder's out, too. It is never
    /// a secret: every client that may read a key of the masters or `MONITOR` them sees it, and errors and
    /// logs repeat it.
    ///
    /// [`inspect`]: Redlock::inspect
    /// [held]: crate::AcquireError::holder
    ///
    /// ```no_run
    /// # async fn example(redlock: quorumlock::Redlock) -> Result<(), quorumlock::AcquireError> {
    /// let guard = redlock.acquire("shard:7").label("10.0.0.7:8080").await?;
    /// # drop(guard);
    /// # Ok(()) }
    /// ```
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.terms.label = Some(Arc::new(Label::Holder(String::into_boxed_str(label.into()))));
        self
    }
}

impl<G: Exclusive> Acquire<G> {
    /// Keeps the resource closed for this long from the start of the attempt that wins, whenever
    /// the work ends: for a job that must not run again on another host a moment later. An example
    /// is a short job on hosts whose clocks differ.
    ///
    /// It applies if the work ends well, which [`Guard::release`] says, and if the process dies. A
    /// guard that is dropped, in an error or a panic, opens the resource at once, so that another
    /// host may try again. [`Redlock::once`] makes that distinction by the result of a body.
    ///
    /// ```no_run
    /// # use std::time::Duration;
    /// # async fn example(redlock: quorumlock::Redlock) -> Result<(), Box<dyn std::error::Error>> {
    /// let guard = redlock.try_acquire("every-minute").min_hold(Duration::from_secs(20)).await?;
    /// // the job, which takes a second
    /// guard.release().await?; // closed for 19 seconds more
    /// # Ok(()) }
    /// ```
    ///
    /// The key lives that long from the start on, or for the ttl if that is longer, and the masters'
    /// clocks may be fast by the drift. The deadline depends on the ttl alone. If the lock is lost,
    /// the keys stay until they expire. Waiters are not notified when that time is over: they find
    /// out by asking. Until then, inspections and lists show the resource as held.
    ///
    /// Of a semaphore, it is the slot of the permit that stays closed. The time is counted from the
    /// same start as the builder's [`max_hold`](crate::RedlockBuilder::max_hold), which ends a hold.
    ///
    /// Other acquires do not win the resource within that time. This is not promised where a master
    /// forgets it and votes ([`RestartGuard::Off`](crate::RestartGuard::Off)), nor after a
    /// [`force_release`](Redlock::force_release). At most
    /// [`max_ttl`](crate::RedlockBuilder::max_ttl): the restart guard remembers no longer. A longer
    /// `max_ttl` has a cost, since a master that has restarted does not vote for that long. For a
    /// daily job, use a unique key in the database that the job writes to. Zero, the default, is for
    /// locks that open as soon as they are released.
    pub const fn min_hold(mut self, span: Duration) -> Self {
        self.terms.min_hold = Nanos::of(span);
        self
    }
}

/// For one resource, or a semaphore: [`All`](crate::kind::All) yields the guard of another type.
impl<G: Held<Guard = G, Kind: Listed>> Acquire<G> {
    /// Queues fairly: waiters are served in order of arrival, across all processes that ask for the
    /// lock, or a permit of the semaphore, with `fair(true)`.
    ///
    /// Before its first attempt, the acquire asks at one master, which keeps a
    /// [list](crate::RedlockBuilder::wake_ups) of the lock's waiters: one round trip more, also for a free lock. Only
    /// the first waiter in the list makes an attempt. A release calls it. A waiter that is called and does not come
    /// within 20 ms is passed over, and is first again when it is back. A waiter that times out or is dropped leaves
    /// at once.
    ///
    /// ```
    /// # #[cfg(feature = "embedded")]
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let masters = quorumlock::embedded::Masters::start(3)?;
    /// # let redlock = masters.builder().connect().await?;
    /// let guard = redlock.acquire("printer").fair(true).await?;
    /// // waiters that arrive in the meantime are served in their order
    /// guard.release().await?;
    /// # Ok(()) }
    /// # #[cfg(not(feature = "embedded"))]
    /// # fn main() {}
    /// ```
    ///
    /// If the connections to that master end, all waiters ask at the next one with the time that they have waited, so
    /// the order stays. It is not promised while clients do not agree on the master, for a client that cannot reach
    /// it or has no right to the list, and in a process beyond its own queue: of the tasks of one `Redlock`, only the
    /// first is in the list. Where a client has no list, it polls, as it would without this option.
    ///
    /// All clients of the resource should ask for it: a client that does not may get in between. The builder's
    /// [`fair`](crate::RedlockBuilder::fair) sets it for all calls, which `fair(false)` takes back for one of them.
    ///
    /// [`Listed`] has the kinds of lock for which there is this option. A single attempt ([`try_acquire`](Redlock::try_acquire), or a
    /// timeout of zero) is refused, and not made, where others wait. The masters' user needs the rights to sorted
    /// sets that the page on permissions lists.
    pub const fn fair(mut self, fair: bool) -> Self {
        self.terms.fair = fair;
        self
    }
}

/// For one resource: [`All`](crate::kind::All) yields the guard of another type.
impl<G: Held<Guard = G, Kind: Detachable>> Acquire<G> {
    /// Keeps the lock in this process for this long after its [`release`](Guard::release), which the end of
    /// [`run`](Self::run) is, too. The next acquire of the same resource here gets it without asking the masters, and
    /// tasks that wait here get it one after the other. For a task that locks the same resource again and again, such
    /// as a consumer with its partition.
    ///
    /// To the masters, and to all other clients, the lock is held in the meantime: they wait for up to this
    /// long, or for its ttl if the process dies. So keep it warm for about as long as the pauses between two
    /// uses, and not where processes take turns.
    ///
    /// ```
    /// # #[cfg(feature = "embedded")]
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # use std::time::Duration;
    /// # let masters = quorumlock::embedded::Masters::start_in_memory(3)?;
    /// # let redlock = masters.builder().connect().await?;
    /// let warm = redlock.acquire("partition:7").keep_warm(Duration::from_secs(2));
    /// warm.clone().await?.release().await?; // one round trip
    /// warm.clone().await?.release().await?; // none
    /// drop(warm.await?); // deleted
    /// # Ok(()) }
    /// # #[cfg(not(feature = "embedded"))]
    /// # fn main() {}
    /// ```
    ///
    /// - **Each guard has its own leases and its own loss**, and the deadline of the hold. That is at least
    ///   half of the validity away: once half of it has passed since the lock was won, it is released when it
    ///   is given back, and what is idle is released then, too. So other clients that wait get their turn. An
    ///   idle lock is not extended.
    /// - **Its keys are deleted** after the span, when a guard or a `run` is dropped, by
    ///   [`shutdown`](Redlock::shutdown), once another client [asks for it](crate::Lease::wanted) or is known to
    ///   wait, and when another kind of acquire here asks for the resource.
    /// - **The next acquire has to ask for the same**: the same ttl and label. Otherwise it is released, and
    ///   the acquire asks the masters.
    /// - **Each guard of a [fenced](Self::fenced) lock has a fencing token of its own**, greater than that of the
    ///   guard before. One acquire takes up to 1,000 tokens; after so many guards the lock is released when it is
    ///   given back, and the next acquire asks the masters.
    /// - **Refused** beside a lock-delay, a [`min_hold`](Self::min_hold) or [`fair`](Self::fair), whose locks are
    ///   not kept warm. Nor is a lock that was [adopted](Redlock::adopt).
    ///
    /// [`Detachable`] has the kinds of lock for which there is this option. The builder's
    /// [`keep_warm`](crate::RedlockBuilder::keep_warm) sets it for all calls that it suits. Zero, the default, is for
    /// locks whose keys are deleted by their release.
    pub const fn keep_warm(mut self, span: Duration) -> Self {
        self.terms.keep_warm = Some(span);
        self
    }
}

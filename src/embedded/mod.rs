//! Masters within the process: a test kit for code that uses locks, and for demos. Feature
//! `embedded`.
//!
//! ```
//! use quorumlock::embedded::Masters;
//!
//! #[tokio::main(flavor = "current_thread")] // in a test: #[tokio::test]
//! async fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let masters = Masters::start(5)?;
//!     let redlock = masters.builder().connect().await?;
//!
//!     masters[0].kill();
//!     masters[1].kill();
//!     let guard = redlock.acquire("orders:42").await?;
//!     assert!(masters[4].holder("orders:42").is_some());
//!     guard.release().await?;
//!
//!     masters[2].kill();
//!     let refused = redlock.try_acquire("orders:42").await;
//!     assert!(refused.is_err_and(|error| error.is_no_quorum()));
//!     Ok(())
//! }
//! ```
//!
//! # Scope and limits
//!
//! Each master is a small Redis, with connections, expiry, scripts and channels of its own. It
//! knows the commands that this crate sends, and a few for inspection. It answers them as
//! redis-server 7.0 does, with fewer words in some errors; our tests compare the two byte by byte. The
//! client on top of it is the
//! production client. Faults that are hard to produce with real servers take one line here: a
//! master dies, comes back without its memory, stops for a while, answers late, or is cut off.
//!
//! It is not a Redis for anything else, and proves nothing about your servers:
//! [`preflight`](crate::preflight) checks their configuration, rights and clocks. It has no TLS,
//! and no password is set.
//!
//! # Requirements
//!
//! A test needs quorumlock with the feature `embedded`, under `[dev-dependencies]` in `Cargo.toml`,
//! and a tokio runtime. Lua 5.1 is built from source, which takes a C compiler. It needs no Redis
//! and no network. There are three kinds of masters:
//!
//! | | reached by | time |
//! |---|---|---|
//! | [`Masters::start`] | ports of 127.0.0.1: [`urls`](Masters::urls), [`builder`](Masters::builder), any Redis client | the system's |
//! | [`Masters::start_in_memory`] | [`builder`](Masters::builder), [`Master::dialer`], without ports | the system's |
//! | [`Masters::start_in_virtual_time`] | as in memory | tokio's: paused, so a wait takes no time |
//!
//! A master that was made for the test reports that it has been up for a day, so that it may vote
//! at once. After a [`restart`](Master::restart) it is as young as it looks, and the client's
//! restart guard keeps it from voting for half a minute. A test that is not about that switches the
//! [`restart_guard`](crate::RedlockBuilder::restart_guard) off, sets
//! [`set_uptime`](Master::set_uptime), or lets virtual time pass.
//!
//! `tests/embedded/application.rs` in the repository tests a whole small application, a shop that
//! charges each order once. It has masters that die, two processes at once, a loss in the middle of
//! a charge, and a write that comes too late.
//!
//! # Recipes
//!
//! **Another client holds the lock.** As far as locks are concerned, a second client is a second
//! process:
//!
//! ```
//! # use quorumlock::embedded::Masters;
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let masters = Masters::start_in_memory(3)?;
//! let (ours, theirs) = (masters.builder().connect().await?, masters.builder().connect().await?);
//! let held = theirs.acquire("report").await?;
//! let refused = ours.try_acquire("report").await;
//! assert!(refused.is_err_and(|error| error.is_contended()));
//! held.release().await?;
//! # Ok(()) }
//! ```
//!
//! **A loss, step by step.** Paused time advances only while every task waits, so the test stops
//! wherever it likes:
//!
//! ```
//! # use quorumlock::embedded::Masters;
//! # use std::time::Duration;
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let mut paused = tokio::runtime::Builder::new_current_thread();
//! # paused.enable_all().start_paused(true).build()?.block_on(async {
//! // #[tokio::test(start_paused = true)]
//! let masters = Masters::start_in_virtual_time(5)?;
//! let redlock = masters.builder().connect().await?;
//! let guard = redlock.acquire("report").keep_alive().await?;
//! tokio::time::sleep(Duration::from_secs(60)).await; // the keeper extends it
//! assert!(guard.is_valid());
//!
//! masters.iter().take(3).for_each(|master| master.kill());
//! assert!(guard.is_valid(), "until its deadline, which no extension can move any more");
//! let lost = guard.lost().await; // at that deadline, and in no time
//! assert!(!guard.is_valid());
//! println!("{lost}");
//! # Ok(()) }) }
//! ```
//!
//! **A master comes back without its memory**, and does not vote before everything that it had
//! granted has expired:
//!
//! ```
//! # use quorumlock::embedded::{Masters, Memory};
//! # use std::time::Duration;
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let mut paused = tokio::runtime::Builder::new_current_thread();
//! # paused.enable_all().start_paused(true).build()?.block_on(async {
//! let masters = Masters::start_in_virtual_time(3)?;
//! let redlock = masters.builder().connect().await?;
//! masters[0].restart(Memory::Lost)?;
//! masters[1].kill();
//! let refused = redlock.acquire("report").await; // one of three may vote
//! assert!(refused.is_err_and(|error| error.is_no_quorum()));
//! tokio::time::sleep(Duration::from_secs(31)).await; // longer than the greatest ttl
//! redlock.acquire("report").await?.release().await?;
//! # Ok(()) }) }
//! ```
//!
//! **A write that comes too late.** The token of a later holder is greater, so the protected
//! resource refuses the earlier one:
//!
//! ```
//! # use quorumlock::embedded::Masters;
//! # use quorumlock::fencing::FenceCheck;
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let mut paused = tokio::runtime::Builder::new_current_thread();
//! # paused.enable_all().start_paused(true).build()?.block_on(async {
//! let masters = Masters::start_in_virtual_time(3)?;
//! let redlock = masters.builder().connect().await?;
//! let mut check = FenceCheck::new();
//! let paused = redlock.acquire("report").fenced().await?;
//! paused.lost().await; // its process stood still for longer than the ttl
//! let next = redlock.acquire("report").fenced().await?;
//! check.admit("report", next.fencing_token())?;
//! assert!(check.admit("report", paused.fencing_token()).is_err());
//! # Ok(()) }) }
//! ```
//!
//! **Masters that hang or answer late**: [`pause`](Master::pause) and [`resume`](Master::resume),
//! [`partition`](Master::partition) and [`heal`](Master::heal),
//! [`set_latency`](Master::set_latency). **Clocks**:
//! [`set_clock`](Master::set_clock). **Masters that are unfit, or durable**, as an operator would
//! make them: `CONFIG SET` of `maxmemory`, `maxmemory-policy`, `appendonly` and `appendfsync`
//! changes what `CONFIG GET` and `INFO` report. `REPLICAOF` turns a master into a replica that
//! refuses to write, or into a promoted one. Data is never evicted, saved or copied.
//! [`deny`](Master::deny) withholds rights.
//!
//! **Code that connects by itself** is given [`Masters::urls`], of masters on ports. **Code without
//! `async`** needs a runtime that runs alongside it, for as long as the masters are to live:
//!
//! ```
//! # use quorumlock::{Wait, embedded::Masters};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
//! let masters = runtime.block_on(async { Masters::start(3) })?;
//! let redlock = masters.builder().own_thread(true).connect().wait()?;
//! masters[0].kill();
//! redlock.acquire("report").wait()?.release().wait()?;
//! # Ok(()) }
//! ```

mod master;
mod shell;

pub use master::{Master, Memory};

use crate::driver::clock::Clock;
use crate::{Redlock, RedlockBuilder};
use std::io;
use std::ops::Deref;

/// Several independent masters, each reached by its index: `masters[0].kill()`.
///
/// When dropped, they are gone at once, with their ports and connections.
#[derive(Debug)]
pub struct Masters {
    masters: Vec<Master>,
    /// The clock of the clients that `builder` sets up.
    clock: Clock,
}

impl Masters {
    /// Starts `count` empty masters on free ports of 127.0.0.1. Call this within a tokio runtime
    /// with I/O and time enabled; the masters run on it. A port stays the same across restarts.
    ///
    /// # Errors
    ///
    /// Fails if no port is available, or if there is no such runtime.
    pub fn start(count: usize) -> io::Result<Self> {
        Self::of((0..count).map(|_| Master::on_port()))
    }

    /// Starts `count` empty masters that are reached only through [`builder`](Self::builder) and
    /// [`Master::dialer`], without ports, names or a kernel in between.
    ///
    /// # Errors
    ///
    /// Fails if there is no tokio runtime to run them on.
    pub fn start_in_memory(count: usize) -> io::Result<Self> {
        Self::of((1..=count).map(Master::in_memory))
    }

    /// Starts masters as [`start_in_memory`](Self::start_in_memory) does, with all time from tokio:
    /// that of the masters and that of every client that [`builder`](Self::builder) connects. On a
    /// runtime whose time is paused (`#[tokio::test(start_paused = true)]`, with tokio's feature
    /// `test-util`), time passes only while every task waits, and then jumps to whatever is due
    /// next. A lock of ten seconds lapses in no time, at exactly its deadline.
    ///
    /// Such clients and their guards are for that runtime's own thread. Their clock does not count
    /// the time that a machine sleeps; the clock of other clients does.
    ///
    /// ```
    /// use quorumlock::embedded::Masters;
    /// use std::time::Duration;
    /// use tokio::time::Instant;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let mut paused = tokio::runtime::Builder::new_current_thread();
    /// # paused.enable_all().start_paused(true).build()?.block_on(async {
    /// // In a test with `start_paused = true`:
    /// let masters = Masters::start_in_virtual_time(5)?;
    /// let redlock = masters.builder().connect().await?;
    /// let guard = redlock.acquire("orders:42").ttl(Duration::from_secs(10)).await?;
    /// let (began, left) = (Instant::now(), guard.remaining());
    /// guard.lost().await;
    /// assert_eq!(began.elapsed().as_millis(), left.as_millis());
    /// # Ok(()) }) }
    /// ```
    ///
    /// # Errors
    ///
    /// Fails if there is no tokio runtime to run them on.
    pub fn start_in_virtual_time(count: usize) -> io::Result<Self> {
        let clock = Clock::tokio();
        let masters = Self::start_in_memory(count)?;
        masters.iter().for_each(|master| master.set_clock(move || clock.wall()));
        Ok(Self { clock, ..masters })
    }

    fn of(masters: impl Iterator<Item = io::Result<Master>>) -> io::Result<Self> {
        Ok(Self { masters: masters.collect::<io::Result<_>>()?, clock: Clock::boot() })
    }

    /// Returns a builder for a [`Redlock`] over these masters, however they are reached.
    pub fn builder(&self) -> RedlockBuilder {
        let mut builder = Redlock::builder();
        builder.clock = self.clock;
        self.iter().fold(builder, |builder, master| master.add_to(builder))
    }

    /// Returns the addresses, for [`RedlockBuilder::nodes`] or any Redis client. Those of masters
    /// in memory are only names.
    pub fn urls(&self) -> Vec<String> {
        self.iter().map(Master::url).collect()
    }
}

impl Deref for Masters {
    type Target = [Master];

    fn deref(&self) -> &[Master] {
        &self.masters
    }
}

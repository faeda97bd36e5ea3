//! The same locks for code without `async`. Feature `blocking`.
//!
//! Names, options, errors and guarantees are those of the crate's root; each page here describes
//! the differences. The caller needs no tokio.
//!
//! ```no_run
//! use quorumlock::blocking::Redlock;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let redlock = Redlock::builder()
//!     .nodes(["redis://10.0.0.1", "redis://10.0.0.2", "redis://10.0.0.3"])
//!     .connect()?;
//!
//! let guard = redlock.acquire("orders:42").lock()?; // waits for up to 10 s
//! guard.check()?; // before each side effect
//! guard.release()?;
//! redlock.shutdown()?;
//! # Ok(()) }
//! ```
//!
//! | async | here |
//! |---|---|
//! | `quorumlock::Redlock::builder()` | [`blocking::Redlock::builder()`](Redlock::builder), or [`blocking::Builder::from(…)`](Builder) |
//! | `redlock.acquire("r").ttl(…).await` | `redlock.acquire("r").ttl(…).`[`lock()`](Acquire::lock) |
//! | `redlock.acquire("r").run(async \|lease\| …).await` | `redlock.acquire("r").`[`run(\|lease\| …)`](Acquire::run) |
//! | `redlock.once("r", …).run(async \|lease\| …).await` | `redlock.once("r", …).`[`run(\|lease\| …)`](Once::run) |
//! | `redlock.adopt(detached).await` | `redlock.adopt(detached).`[`lock()`](Adopt::lock) |
//! | `guard.lost().await` | [`guard.blocking_lost()`](crate::Lease::blocking_lost), [`guard.blocking_lost_within(…)`](crate::Lease::blocking_lost_within) |
//! | `guard.wanted().await` | [`guard.blocking_wanted()`](crate::Lease::blocking_wanted), [`guard.blocking_wanted_within(…)`](crate::Lease::blocking_wanted_within) |
//! | `election.run("me", async \|lease\| …).await` | `election.`[`run("me", \|lease\| …)`](Election::run): the body returns `Err` once it finds that it no longer leads |
//! | `redlock.list("orders:").next().await` | [`redlock.list("orders:")`](Redlock::list)`.next()`: an iterator |
//! | `election.observe().next().await` | [`election.observe()`](Election::observe)`.next()`: an iterator |
//! | `redlock.rw_lock("r").read().await` | `redlock.rw_lock("r").read().`[`lock()`](Acquire::lock) |
//! | `builder.credentials(async \|master\| …)` | `builder.`[`blocking_credentials(\|master\| …)`](Builder::blocking_credentials) |
//! | any other `.await` | the same call |
//!
//! # Threads
//!
//! Each connect starts one thread, named `quorumlock`, that looks after masters and locks. It ends
//! when the last handle, guard and lease are gone and their debts are settled, or by
//! [`Redlock::shutdown`]. (A second thread lives next to it for a moment while a host's name is
//! resolved.) Handles and guards can move between threads, and threads can share them. Dropping a
//! guard never blocks. Connect after a fork, not before: no thread survives a fork, and
//! each call of a client from before fails there at once.
//!
//! The work of a thread cannot be dropped from outside. The async API stops the work when its lock
//! is lost; here the thread has to look, with `check()` before each side effect.
//!
//! # Within a tokio runtime
//!
//! In `spawn_blocking` and `block_in_place` all of this works as on any thread, on every flavor of
//! runtime. In async code, a call that waits would stall a thread on which other tasks need to run,
//! possibly the one that holds the lock. `connect`, `lock`, `run`, `campaign`, `blocking_lost`,
//! `inspect`, `list`, `leader`, `observe`, `force_release` and `preflight` therefore refuse there, with a
//! [`WrongContext`](crate::WrongContext), before anything is sent. Calls that end or prolong a lock
//! must work wherever a guard has ended up, and wait only for the masters: `extend`, `downgrade`, `detach`,
//! `adopt` and `release` for about an operation timeout, `shutdown` for as long as its documentation says.
//!
//! Only tokio's own executor can be recognised, and not within `tokio::task::unconstrained`.

mod acquire;
mod connect;
mod credentials;
mod election;
mod guard;
mod hand_over;
mod list;
mod once;
mod redlock;
mod reentrant;
mod rw_lock;
mod semaphore;
mod wait;

pub use crate::guard::{FencedLease, Lease};
pub use crate::semaphore::PermitLease;
pub use acquire::{Acquire, Fenceable, Held};
pub use connect::Builder;
pub use election::{Election, Leaders, Leadership};
pub use guard::{FencedGuard, Guard};
pub use hand_over::Adopt;
pub use list::LockList;
pub use once::Once;
pub use redlock::Redlock;
pub use reentrant::{FencedReentrantGuard, Reentrant, ReentrantGuard};
pub use rw_lock::{ReadGuard, RwLock, WriteGuard};
pub use semaphore::{Permit, Semaphore};

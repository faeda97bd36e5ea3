//! The same locks for code without `async`. Feature `blocking`.
//!
//! Names, options, errors and promises are those of the crate's root; each page here says what
//! differs. The caller needs no tokio.
//!
//! ```no_run
//! use quorumlock::blocking::Redlock;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let redlock = Redlock::builder()
//!     .nodes(["redis://10.0.0.1", "redis://10.0.0.2", "redis://10.0.0.3"])
//!     .connect_blocking()?;
//!
//! let guard = redlock.acquire("orders:42").lock()?; // waits for up to 10 s
//! guard.check()?; // before each side effect
//! guard.release();
//! redlock.shutdown()?;
//! # Ok(()) }
//! ```
//!
//! | async | here |
//! |---|---|
//! | `builder.connect().await` | [`builder.connect_blocking()`](crate::RedlockBuilder::connect_blocking) |
//! | `builder.preflight().await` | [`builder.preflight_blocking()`](crate::RedlockBuilder::preflight_blocking) |
//! | `redlock.acquire("r").ttl(…).await` | `redlock.acquire("r").ttl(…).`[`lock()`](Acquire::lock) |
//! | `redlock.acquire("r").run(async \|lease\| …).await` | `redlock.acquire("r").`[`run(\|lease\| …)`](Acquire::run) |
//! | `guard.lost().await` | [`guard.lost()`](Guard::lost), [`guard.lost_within(…)`](Guard::lost_within) |
//! | any other `.await` | the same call |
//!
//! # Threads
//!
//! Each connect starts one thread, named `quorumlock`, that looks after masters and locks. It ends
//! when the last handle, guard and lease are gone and what they owe is paid, or by
//! [`Redlock::shutdown`]. (Beside it a second one lives for a moment where a host's name has to be
//! resolved.) Handles and guards go from thread to thread, and threads share them. To drop a guard
//! never blocks. Connect after a fork, not before: no thread survives one.
//!
//! Nobody can drop the work of a thread from outside: where the async API stops it at the loss of
//! its lock, here it has to look, with `check()` before each side effect.
//!
//! # Within a tokio runtime
//!
//! In `spawn_blocking` and `block_in_place` all of this works as on any thread, on every flavor of
//! runtime. In async code a call that waits would stall a thread on which others are to run, maybe
//! the one that holds the lock: connecting, `lock`, `run`, `lost`, an owner's `acquire`, `inspect`,
//! `force_release` and `preflight` refuse there, with an [`Invalid`](crate::error::Invalid) of the
//! field `thread`, before anything is sent. What is to end or to prolong a lock must work wherever
//! a guard has got to, and waits for the masters alone: `extend` and `release` for about an
//! operation timeout, `shutdown` as long as it says.
//!
//! Only tokio's own executor can be recognised, and not within `tokio::task::unconstrained`.

mod acquire;
mod connect;
mod guard;
mod owner;
mod redlock;
mod wait;

pub use acquire::Acquire;
pub use guard::{FencedGuard, FencedLease, Guard, Lease};
pub use owner::{OwnedGuard, Owner};
pub use redlock::Redlock;

#![doc = include_str!("guide/links.md")]
//! A distributed lock that you can trust with money: Redlock over independent Redis masters.
//!
//! A lock is held when a quorum (`N/2 + 1`) of the masters has granted it, so it survives the loss of any
//! minority.
//!
//! ```no_run
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! use quorumlock::Redlock;
//!
//! let nodes = ["redis://10.0.0.1", "redis://10.0.0.2", "redis://10.0.0.3"];
//! let redlock = Redlock::builder().nodes(nodes).connect().await?;
//! let guard = redlock.acquire("orders:42").await?;
//! guard.check()?; // before each side effect: an error once the lock is lost
//! guard.release().await?;
//! redlock.shutdown().await?;
//! # Ok(()) }
//! ```
//!
//! # Which call for which need
//!
//! | to | use |
//! |---|---|
//! | set up and connect | [`Redlock::builder`], [`RedlockBuilder::connect`]; from a file, `Config` |
//! | wait for a lock, or try once | [`Redlock::acquire`], [`Redlock::try_acquire`]; options on [`Acquire`] |
//! | do work under a lock that extends itself | [`Acquire::run`], [`Acquire::keep_alive`] |
//! | ask whether the lock still holds | [`check`](Lease::check), [`lost`](Lease::lost); in subtasks, [`Lease`] |
//! | elect a leader, see which client leads | [`Redlock::election`] |
//! | serve waiters in order of arrival | [`Acquire::fair`], [`RedlockBuilder::fair`] |
//! | let many read, or one write | [`Redlock::rw_lock`] |
//! | limit concurrency to N holders | [`Redlock::semaphore`] |
//! | run a job once in a period | [`Redlock::once`], [`Acquire::min_hold`] |
//! | lock several resources at once | [`Redlock::acquire_all`] |
//! | nest acquires of one resource | [`Redlock::reentrant`] |
//! | have storage reject a paused holder | [`Acquire::fenced`], [`fencing`] |
//! | give a lock to another process | [`Guard::detach`], [`Redlock::adopt`] |
//! | see which client holds a lock, take it away | [`Redlock::inspect`], [`Redlock::force_release`] |
//! | list what is held | [`Redlock::list`] |
//! | see how the masters are | [`Redlock::status`], [`Redlock::wait_until_ready`], [`preflight`] |
//! | change the list of masters | [`RedlockBuilder::joint_with`] |
//! | handle an error | [`error`], by what to do next; [`report`], what each master said |
//! | lock without `async` | [`Wait`], [`RedlockBuilder::own_thread`] |
//! | test code that locks | `embedded` |
//!
//! # Where to read on
//!
//! The [guide](guide::guide) explains each of these. [`guide`] has the other documents: recipes, questions,
//! operations, the command, permissions, and [what is guaranteed](guide::safety).
// docs.rs then names the feature that each item needs, as its `cfg` says.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![deny(missing_docs)]
#![warn(missing_debug_implementations)]

#[macro_use]
mod debug;
mod acquire;
mod address;
mod adopt;
mod builder;
#[cfg(feature = "config")]
pub mod config;
mod credentials;
mod detached;
mod driver;
mod election;
#[cfg(feature = "embedded")]
pub mod embedded;
pub mod error;
mod failure;
pub mod fencing;
#[cfg(feature = "__fuzzing")]
#[doc(hidden)]
pub mod fuzzing;
mod guard;
#[cfg(doc)]
pub mod guide;
/// Its snippets are tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
mod inspect;
pub mod kind;
mod kind_name;
mod lists;
#[cfg(feature = "metrics")]
pub mod metrics;
mod once;
mod operator;
mod options;
mod own_thread;
mod redlock;
mod reentrant;
mod released;
pub mod report;
mod resource;
mod run;
mod rw_lock;
mod semaphore;
mod telemetry;
#[cfg(test)]
mod texts;
#[cfg(feature = "tls")]
mod tls;
#[cfg(feature = "config")]
mod tls_files;
mod transport;
mod wait;

pub use acquire::{Acquire, AcquireFuture};
pub use address::IntoNode;
pub use adopt::{Adopt, AdoptFuture};
pub use builder::RedlockBuilder;
#[cfg(feature = "config")]
pub use config::Config;
pub use credentials::Credentials;
pub use detached::{Detached, FencedDetached};
pub use election::{Election, Leader, Leaders, Leadership};
#[cfg(feature = "config")]
pub use error::ConfigError;
pub use error::{
    AcquireError, AdoptError, Closed, ConnectError, DetachError, DowngradeError, ExtendError,
    InspectError, InvalidSetting, InvalidToken, ListError, Lost, OnceError, PreflightError,
    ReadyError, ReentrantError, RunError, ShutdownError, StaleToken, WrongContext,
};
pub use fencing::FencingToken;
pub use guard::{Deadline, FencedGuard, FencedLease, Guard, Lease};
pub use inspect::{Holder, Inspection, LockState, NodeInspection, NodeState};
pub use once::{Once, Ran};
pub use operator::list::{ListedLock, LockList, PossibleDeadlock};
pub use operator::preflight;
pub use operator::preflight::Preflight;
#[doc(inline)]
pub use quorumlock_core::coordinator::RestartGuard;
#[doc(inline)]
pub use quorumlock_core::pace::Backoff;
pub use quorumlock_core::quorum::{ClockDrift, FencingWindow};
pub use quorumlock_core::status::{NodeStanding, NodeStatus, Status};
/// The redis crate of which an [`IntoNode`] accepts addresses and clients: use it by this path, and the
/// versions match.
#[doc(no_inline)]
pub use redis;
pub use redlock::Redlock;
pub use reentrant::{FencedReentrantGuard, Reentrant, ReentrantGuard};
pub use released::Released;
pub use rw_lock::{ReadGuard, RwLock, WriteGuard};
pub use semaphore::{Permit, PermitLease, Semaphore};
/// The rustls that [`RedlockBuilder::tls_config`] takes a configuration of.
#[cfg(feature = "tls")]
pub use tokio_rustls::rustls;
pub use wait::{Wait, Waited};

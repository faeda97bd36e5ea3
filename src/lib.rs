#![doc = include_str!("guide/links.md")]
#![doc = include_str!("guide/pictures.md")]
//! <!-- This page has a title already: the README's is hidden, up to the end of its first comment.
#![doc = include_str!("../README.md")]
//!
//! # Where things are
//!
//! The documents of the repository are pages of [`guide`]. Of the crate:
//!
//! - [`Redlock::builder`] sets up, [`RedlockBuilder::connect`] connects.
//! - [`Redlock::acquire`] and [`Redlock::try_acquire`] ask for a lock; [`Acquire`] has their options,
//!   and says what an `Ok` proves and what becomes of an acquire that is dropped.
//! - [`Guard`] is a held lock, [`Lease`] a read-only view of it for subtasks.
//! - [`Acquire::fenced`] asks for a [`FencingToken`] along with it; guard and lease then have one.
//!   [`fencing`] has what the protected resource does with it.
//! - [`RedlockBuilder::without_restart_guard`] and [`RedlockBuilder::trust_persistence`] say whether a
//!   master that has just started may vote at once, [`RedlockBuilder::also`] names a second list of
//!   masters while one takes over from the other.
//! - With the feature `config`, `Config` has all of that from a file or the environment.
//! - [`Redlock::owner`] is for acquisitions that nest.
//! - [`Redlock::inspect`] tells who holds a lock, [`Redlock::force_release`] takes it away from them.
//! - [`error`] has what goes wrong, by what to do next; [`report`] has what each master said.
//! - [`Redlock::status`] tells how each master stands and whether locks can be had,
//!   [`Redlock::wait_until_ready`] waits until they can.
//! - [`preflight`] tells whether each master is fit, and what to do about it.
//! - With the feature `blocking`, `blocking` has the same for code without `async`; with the feature
//!   `embedded`, `embedded` has masters for tests, and a guide to testing with them.
//!
//! In the repository, `SAFETY.md` says what is guaranteed and what is not, `docs/acl.md` which rights
//! are needed, `docs/replacing-a-master.md` how the masters are exchanged, `docs/observability.md` what
//! the features `tracing` and `metrics` tell.
#![cfg_attr(docsrs, feature(doc_cfg))]

mod acquire;
mod address;
#[cfg(feature = "blocking")]
#[cfg_attr(docsrs, doc(cfg(feature = "blocking")))]
pub mod blocking;
mod builder;
#[cfg(feature = "config")]
#[cfg_attr(docsrs, doc(cfg(feature = "config")))]
pub mod config;
mod coordinator;
mod driver;
#[cfg(feature = "embedded")]
#[cfg_attr(docsrs, doc(cfg(feature = "embedded")))]
pub mod embedded;
pub mod error;
pub mod fencing;
#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod fuzzing;
mod guard;
#[cfg(doc)]
pub mod guide;
mod held;
mod hold;
mod inspect;
mod kind;
mod lists;
mod options;
mod owner;
pub mod preflight;
mod quorum;
mod redlock;
pub mod report;
mod resource;
mod run;
#[cfg(test)]
#[cfg(feature = "embedded")]
mod simulation;
mod status;
mod telemetry;

pub use acquire::{Acquire, AcquireFuture};
pub use builder::RedlockBuilder;
#[cfg(feature = "config")]
#[cfg_attr(docsrs, doc(cfg(feature = "config")))]
pub use config::{Config, ConfigError};
pub use error::{AcquireError, ConnectError, ExtendError, Lost};
pub use fencing::FencingToken;
pub use guard::{Deadline, FencedGuard, FencedLease, Guard, Lease, Released};
pub use inspect::{Holder, Inspection, LockState, NodeInspection, NodeState};
pub use kind::{Fenced, Kind, Unfenced};
pub use owner::{OwnedGuard, Owner, OwnerError};
pub use preflight::Preflight;
pub use redlock::Redlock;
pub use resource::{IntoResource, IntoResources};
pub use run::RunError;
pub use status::{NodeStanding, NodeStatus, Status};

//! A distributed lock to trust with money: Redlock over N independent Redis masters (five,
//! usually), with no replication between them, so that the lock survives the loss of any minority.
//!
//! Start at [`Redlock::builder`]; [`Redlock::acquire`] returns a [`Guard`].
#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod acquire;
mod address;
mod builder;
mod config;
mod coordinator;
mod driver;
pub mod error;
mod guard;
mod hold;
mod quorum;
mod redlock;
pub mod report;

pub use acquire::{Acquire, AcquireFuture};
pub use builder::RedlockBuilder;
pub use error::{AcquireError, ConnectError, ExtendError, Lost};
pub use guard::{Deadline, Guard, Lease, Released};
pub use redlock::Redlock;

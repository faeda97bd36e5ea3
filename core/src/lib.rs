//! The lock without I/O: its decisions, and the actions that follow from them.
//!
//! A part of the crate `quorumlock`, whose documentation is the place to start; this is not an
//! interface to rely on.

// Public for the packages of the same version.
#![allow(clippy::len_without_is_empty, clippy::new_without_default, clippy::should_implement_trait)]

pub mod coordinator;
pub mod escape;
mod lock;
mod master;
pub mod obstacle;
pub mod pace;
mod questions;
pub mod quorum;
pub mod report;
mod routing;
mod shared;
pub mod shelf;
pub mod status;
pub mod waiting;
pub mod wire;

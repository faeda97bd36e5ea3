//! Tests on masters in containers. Without a Docker daemon they print one line that says that
//! nothing was tested; where `CI` is set, that is a failure.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[cfg(target_os = "linux")]
mod chaos;
mod conformance;
#[cfg(feature = "config")]
mod deploy;
mod exclusion;
mod harness;
mod helper;
mod holds;
mod rollback;
#[path = "../support/mod.rs"]
mod support;

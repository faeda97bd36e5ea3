//! Common ground for the integration tests: real masters, an independent witness that looks at
//! their keys, a network that misbehaves on command, seeds and latency samples.
//!
//! Each test binary uses a part of it, hence the allowance for dead code. Everything here panics
//! when the *harness* fails, with the reason; it never skips.

#![allow(dead_code)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

pub(crate) mod clock;
pub(crate) mod conformance;
pub(crate) mod counter;
pub(crate) mod docker;
pub(crate) mod example;
pub(crate) mod late;
pub(crate) mod masters;
pub(crate) mod normalised;
pub(crate) mod page;
pub(crate) mod poll;
pub(crate) mod port;
pub(crate) mod prelude;
pub(crate) mod proxy;
pub(crate) mod readers;
pub(crate) mod reports;
pub(crate) mod rolling;
pub(crate) mod sabotage;
pub(crate) mod samples;
pub(crate) mod seed;
pub(crate) mod server;
pub(crate) mod witness;

//! What a fuzzer is let loose on: bytes in, and nothing must break, whatever they are. `fuzz/` is the
//! fuzzer, and what it has found worth keeping; the tests here go through all of that again.
//!
//! No part of the crate: there only with `--cfg fuzzing`, and in unit tests.

mod addresses;
mod bytes;
#[cfg(feature = "config")]
mod config;
mod replies;
#[cfg(feature = "embedded")]
mod requests;
mod session;
mod settings;

/// One thing to fuzz; panics if something is wrong.
pub type Target = fn(&[u8]);

/// By the names of their corpora.
pub const TARGETS: &[(&str, Target)] = &[
    ("addresses", addresses::run),
    #[cfg(feature = "config")]
    ("config", config::run),
    ("replies", replies::run),
    #[cfg(feature = "embedded")]
    ("requests", requests::run),
    ("session", session::run),
    ("settings", settings::run),
];

#[cfg(test)]
mod tests;

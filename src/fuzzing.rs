//! The fuzz targets: no input may break them. `fuzz/` is the fuzzer, with a corpus that the tests
//! here go through again.
//!
//! Not a part of the crate: compiled with `--cfg fuzzing`, and in unit tests.

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

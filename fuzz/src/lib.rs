//! The fuzz targets: no input may break them. `main.rs` is the fuzzer; the tests here go through its corpus
//! again. Both need `--cfg fuzzing`, with which `quorumlock` shows a little more of itself.

mod addresses;
mod bytes;
mod config;
mod replies;
mod requests;
mod session;
mod settings;

/// One thing to fuzz; panics if something is wrong.
pub type Target = fn(&[u8]);

/// By the names of their corpora.
pub const TARGETS: [(&str, Target); 6] = [
    ("addresses", addresses::run),
    ("config", config::run),
    ("replies", replies::run),
    ("requests", requests::run),
    ("session", session::run),
    ("settings", settings::run),
];

#[cfg(test)]
mod tests;

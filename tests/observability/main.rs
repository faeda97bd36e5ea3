//! The crate reports exactly what `docs/observability.md` lists, by name, level, label and field;
//! and the dashboard and the rules mention nothing else. It has a binary of its own: `tracing` keeps,
//! for the whole process, which events are listened to.

#![cfg(all(feature = "embedded", feature = "metrics", feature = "tracing"))]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod capture;
mod connecting;
mod escaped;
mod exposed;
mod files;
mod growth;
mod held;
mod page;
mod real;
mod scenario;
#[path = "../support/mod.rs"]
mod support;
mod warm;

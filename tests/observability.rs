//! The crate reports exactly what `docs/observability.md` lists, by name, level, label and field;
//! and the dashboard and the rules mention nothing else.

#![cfg(all(feature = "embedded", feature = "metrics", feature = "tracing"))]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

#[path = "observability/capture.rs"]
mod capture;
#[path = "observability/connecting.rs"]
mod connecting;
#[path = "observability/exposed.rs"]
mod exposed;
#[path = "observability/files.rs"]
mod files;
#[path = "observability/page.rs"]
mod page;
#[path = "observability/real.rs"]
mod real;
#[path = "observability/scenario.rs"]
mod scenario;

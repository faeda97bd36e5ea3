//! Tests that start redis-servers: the public API on real masters, other clients next to it, and what
//! the documents say of servers. `cargo test --test redis late_sets::` runs one module.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod acl_docs;
#[cfg(feature = "serde")]
mod adopt;
#[cfg(feature = "config")]
mod config;
mod conformance;
mod credentials;
#[cfg(feature = "embedded")]
mod demo;
#[cfg(feature = "config")]
mod deploy_docs;
mod elections;
#[cfg(feature = "embedded")]
mod embedded_differential;
mod fencing_docs;
mod flushed_scripts;
mod foreign_tokens;
mod foreign_types;
mod healthy_cycles;
mod idle_connections;
mod interop;
mod joint_change;
mod late_sets;
mod migration_docs;
mod misconfigured;
mod operations_docs;
mod preflight;
mod preflight_rights;
mod processes;
mod random_faults;
mod read_scripts;
mod release_ways;
mod rolling_restart;
mod rotation;
mod rw_throughput;
mod semaphore_processes;
mod server_kinds;
mod shutdown;
mod stepped_clocks;
#[path = "../support/mod.rs"]
mod support;
mod support_works;
mod threads;
mod ties;
#[cfg(feature = "tls")]
mod tls;
mod trust_persistence;
#[cfg(feature = "embedded")]
mod turns;
mod unfit_masters;
#[cfg(unix)]
mod unix_sockets;
#[cfg(feature = "embedded")]
mod waitlist_scripts;
#[cfg(all(unix, feature = "config", feature = "embedded", feature = "metrics"))]
mod web_service;

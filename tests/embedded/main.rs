//! Tests that start no server: locks over embedded masters, an application that is tested with
//! them, and what the compiler alone shows.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[cfg(feature = "embedded")]
mod application;
#[cfg(feature = "embedded")]
mod bursts;
#[cfg(feature = "embedded")]
mod client;
#[cfg(feature = "embedded")]
mod conformance;
#[cfg(feature = "embedded")]
mod cron;
#[cfg(feature = "embedded")]
mod deadlocks;
#[cfg(feature = "embedded")]
mod demo;
#[cfg(feature = "embedded")]
mod elections;
#[cfg(feature = "embedded")]
mod escaped;
#[cfg(feature = "embedded")]
mod fair;
#[cfg(feature = "embedded")]
mod fence_order;
#[cfg(all(unix, feature = "embedded"))]
mod fenced_holder;
#[cfg(feature = "embedded")]
mod first_snippet;
#[cfg(feature = "embedded")]
mod hand_over;
#[cfg(all(feature = "embedded", feature = "serde"))]
mod hand_over_by_value;
#[cfg(feature = "embedded")]
mod how_likely;
#[cfg(feature = "embedded")]
mod in_the_way;
#[cfg(feature = "embedded")]
mod labels;
#[cfg(feature = "embedded")]
mod late;
#[cfg(feature = "embedded")]
mod list;
#[cfg(feature = "embedded")]
mod lock;
#[cfg(feature = "embedded")]
mod many_quorums;
#[cfg(feature = "embedded")]
mod masters;
#[cfg(feature = "embedded")]
mod names;
#[cfg(feature = "embedded")]
mod own_prefix;
#[cfg(all(unix, feature = "embedded"))]
mod paused_clients;
#[cfg(feature = "embedded")]
mod philosophers;
#[cfg(feature = "embedded")]
mod proxy;
#[cfg(feature = "embedded")]
mod rolling_restart;
mod runtimes;
#[cfg(feature = "embedded")]
mod rw_lock;
#[cfg(feature = "embedded")]
mod rw_waits;
mod send_sync;
#[cfg(feature = "embedded")]
mod streaming_provider;
#[path = "../support/mod.rs"]
mod support;
#[cfg(all(feature = "embedded", feature = "serde"))]
mod values_from_outside;

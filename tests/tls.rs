//! TLS to real masters: a private authority, client certificates, and every common mistake.

#![cfg(feature = "tls")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "tls/authority.rs"]
mod authority;
#[path = "tls/life.rs"]
mod life;
#[path = "tls/masters.rs"]
mod masters;
#[path = "tls/mistakes.rs"]
mod mistakes;
mod support;

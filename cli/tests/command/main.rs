//! The command, run as a process on real masters.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod cli;
mod doctor;
mod inspect;
mod loss;
mod refused;
mod rolling_upgrade;
mod run;
mod signals;
#[path = "../../../tests/support/mod.rs"]
mod support;
mod unfit;

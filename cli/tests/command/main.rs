//! The command, run as a process on real masters, and so on a real clock.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod cli;
mod credentials;
mod deadlocks;
mod doctor;
mod doctor_shown;
mod elect;
mod escaped;
mod fair;
mod fast_clock;
mod habits;
mod image;
mod inspect;
mod limits;
mod list;
mod loss;
mod may_stop;
mod metrics_file;
mod min_hold;
mod operator;
mod pages;
mod permits;
mod recorded_run;
mod recordings;
mod refused;
mod rolling_upgrade;
mod run;
mod screen;
mod shared;
mod signals;
#[path = "../../../tests/support/mod.rs"]
mod support;
mod tls;
mod unfit;
mod waiting;
mod wanted;

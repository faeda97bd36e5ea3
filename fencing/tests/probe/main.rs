//! The probe on stores within the process: right ones, and one for each way to be wrong.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod planted;
mod planted_store;
mod right;
mod right_stores;
mod steps;

//! Each store of the kit against the real thing.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod cases;
mod file;
mod objects;
mod postgres;
mod probed;
mod redis;
mod sqlite;
mod storm;
mod support;
mod tower;
mod waiting;

//! The redis-servers that the tests start, and their witness.
#![allow(dead_code)]

#[path = "../../../tests/support/clock.rs"]
pub(crate) mod clock;
#[path = "../../../tests/support/masters.rs"]
pub(crate) mod masters;
#[path = "../../../tests/support/poll.rs"]
pub(crate) mod poll;
#[path = "../../../tests/support/port.rs"]
pub(crate) mod port;
#[path = "../../../tests/support/samples.rs"]
pub(crate) mod samples;
#[path = "../../../tests/support/server.rs"]
pub(crate) mod server;
#[path = "../../../tests/support/witness.rs"]
pub(crate) mod witness;

//! The state that guard and driver share through hand-written atomics, under every order of events
//! that the memory model allows: the files that ship, with loom's atomics in place of std's.

// Each model uses a part of what is included here.
#![cfg_attr(not(test), allow(dead_code))]

use loom::sync;
use loom::sync::atomic;
use quorumlock_core::quorum;

#[path = "../../../src/driver/lease_state/deadline.rs"]
mod deadline;
#[path = "../../../src/driver/lease_state/latch.rs"]
mod latch;
#[path = "../../../core/src/shelf/turn.rs"]
mod turn;

#[cfg(test)]
mod models;
#[cfg(test)]
mod planted;

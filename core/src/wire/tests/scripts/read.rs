//! The scripts of readers, run by an embedded master: the answer of each, and the keys after it with
//! their lives.

mod cases;
mod rights;
mod stage;
mod walks;

/// Also for a real master.
#[path = "../../../../../tests/support/readers/mod.rs"]
mod readers;

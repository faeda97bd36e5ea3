//! The line: those that wait for a lock, or for any slot of a semaphore, stand in a line at one master, which says who
//! tries next.
//!
//! What follows from what a client learns is decided by the code that ships (`core/src/waiting/rules.rs`). Commands of one
//! client reach a master in order, at any later time; an answer is read as the command is executed; a message to a client
//! is read at any later time, or lost. There is no time: a timer is due at any moment, a call lapses at any moment. So a
//! step may come as late or as early as it likes, and what is promised is promised for any pauses.

pub mod config;
mod masters;
pub mod mutants;
pub mod promises;
mod protocol;
pub mod runs;
pub mod state;
pub mod table;
mod waiters;
mod words;

pub use protocol::{Action, Line};

//! Waiters in a list at one master, of which a release calls the first: a lock that is free does not stay so for
//! long while a client waits for it, whatever becomes of messages, of those that are called, and of the list.
//!
//! A semaphore has one list for all its slots: the same holds of each of them.
//!
//! A tick is the longest pause of a waiter in front. Messages arrive, or are lost, within it. The lock is what a
//! quorum has; the key of the first node, where the list stands, is one more, which a hold may lack and which
//! may be stuck. The list grants nothing, so exclusion is no matter of this model.

pub mod config;
mod letters;
pub mod mutants;
pub mod promises;
mod protocol;
pub mod runs;
pub mod state;
mod words;

pub use protocol::{Action, Listed};

//! First come, first served among the clients that ask for it: a queue on each master, and what a
//! waiter does, phase by event.
//!
//! The table is [`crate::quorum::turns::TABLE`]. Commands arrive within the tick in which they are sent, in any
//! order, unless a run has slow ticks or losses. A tick is the second after which a waiter looks
//! again.

pub mod config;
mod messages;
pub mod mutants;
pub mod promises;
mod properties;
mod protocol;
pub mod runs;
pub mod scripts;
pub mod state;
mod steps;
pub mod table;
mod time;
mod words;

pub use protocol::{Action, Turns};

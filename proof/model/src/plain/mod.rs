//! The lock protocol itself: clients that lock, extend, hand over and release.
//!
//! Votes go through the core's tally, wins through its validity, extensions through its lease, lists
//! through its membership. The masters are modelled by [`scripts`], a function for each script.
//! Between them is [`steps`]: messages that arrive late, in any order or never.

mod at_least;
mod clients;
pub mod config;
mod hand_over;
mod messages;
pub mod mutants;
pub mod promises;
pub mod properties;
mod protocol;
pub mod runs;
pub mod scripts;
pub mod state;
mod steps;
mod time;
mod words;

pub use protocol::{Action, Protocol};

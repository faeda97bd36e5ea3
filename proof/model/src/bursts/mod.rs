//! A burst: more acquires at once than masters execute in time, while a hold is kept alive. The window is the code
//! that ships, and so is the keeper.
//!
//! A quorum answers as one master does that executes one command after the other: it is the one whose answer decides. So
//! many rounds are counted and not distinguished, and a step is as long as many commands take: an order of events is when a
//! burst comes, and when the master becomes slow and fast again.

pub mod config;
pub mod mutants;
mod properties;
mod protocol;
pub mod runs;
pub mod state;
mod words;

pub use protocol::{Action, Bursts};

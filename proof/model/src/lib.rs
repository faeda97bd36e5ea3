//! The lock protocol, in every order of its events within bounds, decided by the code that ships.
//!
//! The decisions (`quorumlock_core::quorum`) are the code that ships: votes go through its tally,
//! wins through its validity, extensions through its lease, lists through its membership. The
//! masters are modelled by [`scripts`], a function for each script. Between them is [`steps`]:
//! messages that arrive late, in any order or never.

pub mod agreement;
mod at_least;
pub mod checker;
mod clients;
pub mod config;
mod digest;
mod hand_over;
mod messages;
pub mod mutant;
pub mod properties;
mod protocol;
pub mod report;
pub mod runs;
pub mod scripts;
pub mod sharing;
pub mod state;
mod steps;
mod time;
pub mod turns;
pub mod waiting;
mod words;

pub use protocol::{Action, Protocol};

use quorumlock_core::quorum;

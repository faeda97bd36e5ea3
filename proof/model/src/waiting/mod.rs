//! A writer that waits among readers that come and go, and readers that wait: which gets in, and how
//! soon.
//!
//! Messages arrive within the tick in which they are sent, in any order, so that there is a bound on
//! every wait. Clients come back without end, so a run covers every length of time. The masters are
//! those of [`crate::sharing`].

mod clients;
pub mod config;
mod local_queue;
mod messages;
pub mod mutants;
pub mod promises;
mod properties;
mod protocol;
pub mod runs;
pub mod state;
mod words;

pub use protocol::{Action, Waiting};

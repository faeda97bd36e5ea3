//! The agreement between clients, in every order of its events within bounds, decided by the code
//! that ships.
//!
//! The rest of the model assumes that all clients have the same settings. Here they do not: each
//! client has lists and numbers of its own, notes them at the masters, and learns of the others'.
//! [`decisions`] decides when a client may send. The steps in between are [`questions`],
//! [`rounds`], [`departures`] and [`time`].

pub mod config;
mod decisions;
mod departures;
pub mod mutants;
mod names;
pub mod properties;
mod protocol;
mod questions;
mod rounds;
pub mod runs;
pub mod search;
pub mod state;
mod time;
pub mod walks;
mod words;

pub use protocol::{Action, Agreement};

//! The agreement between clients, every order of its events within bounds, decided by the code that
//! ships.
//!
//! The rest of the model takes it for granted that all clients go by the same. Here they do not: each
//! has lists and numbers of its own, notes them at the masters and is told of others'. When a client may
//! send is [`decisions`]; what happens in between, [`questions`], [`rounds`] and [`time`].

pub mod config;
mod decisions;
pub mod mutant;
mod names;
pub mod property;
mod protocol;
mod questions;

mod report;
mod rounds;
pub mod runs;

pub mod state;
mod time;
pub mod walks;
mod words;

pub use protocol::{Action, Agreement};

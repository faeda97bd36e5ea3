//! Readers and writers of one resource, in every order of their events within bounds, decided by the
//! code that ships.
//!
//! A separate model, since a key of a reader is another one: what a master has is a token, or a mark
//! and the readers behind it. [`scripts`] models a master, with a function for each script.

mod clients;
pub mod config;
mod messages;
pub mod mutants;
pub mod properties;
mod protocol;
pub mod runs;
pub mod scripts;
pub mod state;
mod steps;
mod time;
mod words;

pub use protocol::{Action, Sharing};

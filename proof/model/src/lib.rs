//! The lock protocol, every order of its events within bounds, decided by the code that ships.
//!
//! What is decided (`src/quorum` of the crate) is compiled in as it stands: votes go through its
//! tally, wins through its validity, extensions through its lease, lists through its membership.
//! What the masters do is [`scripts`], a function for each script. What lies between them, messages
//! that come late, in any order or never, is [`steps`].

#[allow(
    dead_code,
    unused_imports,
    reason = "compiled as it ships: the model decides, it never waits"
)]
#[path = "../../../src/quorum/mod.rs"]
mod quorum;

pub mod agreement;
pub mod checker;
mod clients;
pub mod config;
mod digest;
mod messages;
pub mod mutant;
pub mod properties;
mod protocol;
pub mod report;
pub mod runs;
pub mod scripts;
pub mod state;
mod steps;
mod time;
mod words;

pub use protocol::{Action, Protocol};

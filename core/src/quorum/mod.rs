//! What is decided: plain functions and values.
//!
//! No I/O, no clock, no randomness, no async and no foreign crate: whatever decides safety is a
//! function of its arguments, so that it can be enumerated, checked as a model and simulated
//! exactly as it ships. Floats round as they like: there are none.
//!
//! Sources: "Distributed Locks with Redis" (Redis documentation) for the algorithm,
//! `SAFETY.md` for the rules that were added and why.

#![deny(clippy::float_arithmetic)]

pub mod admission;
pub mod agreement;
pub mod backoff;
pub mod clocks;
pub mod fence;
pub mod instant;
pub mod keeper;
pub mod lease;
pub mod membership;
pub mod readiness;
pub mod standing;
pub mod tally;
pub mod validity;

#[cfg(test)]
mod tests;

pub use admission::{Admission, admit};
pub use agreement::{ForeignList, LONGEST_SILENCE, Numbers};
pub use backoff::Backoff;
pub use clocks::Clocks;
pub use fence::{Ballots, Window};
pub use instant::{Instant, Nanos};
pub use keeper::Keeper;
pub use lease::{Extension, Progress, Report};
pub use membership::{Membership, NodeSet};
pub use tally::{Tally, Verdict, Vote};
pub use validity::Drift;

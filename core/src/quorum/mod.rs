//! The decisions: plain functions and values.
//!
//! There is no I/O, clock, randomness, async or foreign crate here. Whatever decides safety is a
//! function of its arguments, so that it can be enumerated, model-checked and simulated exactly as
//! it ships. There are no floats, since floats round.
//!
//! Sources: "Distributed Locks with Redis" (Redis documentation) for the algorithm, and `SAFETY.md`
//! for the added rules and their reasons.

#![deny(clippy::float_arithmetic)]

pub mod admission;
pub mod agreement;
pub mod clocks;
pub mod fence;
pub mod instant;
pub mod keeper;
pub mod lease;
pub mod membership;
pub mod standing;
pub mod tally;
pub mod validity;

#[cfg(test)]
pub(crate) mod tests;

pub use admission::{Admission, admit};
pub use agreement::{ForeignList, LONGEST_SILENCE, Numbers};
pub use clocks::Clocks;
pub use fence::{Ballots, FencingWindow};
pub use instant::{Instant, Nanos};
pub use keeper::Keeper;
pub use lease::{Extension, Progress, Report};
pub use membership::{Membership, NodeSet};
pub use tally::{Tally, Verdict, Vote};
pub use validity::ClockDrift;

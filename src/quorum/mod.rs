//! What is decided: plain functions and values.
//!
//! No I/O, no clock, no randomness, no async and no foreign crate: whatever decides safety is a
//! function of its arguments, so that it can be enumerated, checked as a model and simulated
//! exactly as it ships. `tests/purity.rs` fails when something else comes in.
//!
//! Sources: "Distributed Locks with Redis" (Redis documentation) for the algorithm,
//! `SAFETY.md` for the rules that were added and why.

pub(crate) mod admission;
pub(crate) mod agreement;
pub(crate) mod backoff;
pub(crate) mod clocks;
pub(crate) mod fence;
pub(crate) mod instant;
pub(crate) mod keeper;
pub(crate) mod lease;
pub(crate) mod membership;
pub(crate) mod readiness;
pub(crate) mod standing;
pub(crate) mod tally;
pub(crate) mod validity;

#[cfg(test)]
mod tests;

pub(crate) use admission::{Admission, admit};
pub(crate) use agreement::{ForeignList, LONGEST_SILENCE, Numbers};
pub(crate) use backoff::Backoff;
pub(crate) use clocks::Clocks;
pub(crate) use fence::{Ballots, Window};
pub(crate) use instant::{Instant, Nanos};
pub(crate) use keeper::Keeper;
pub(crate) use lease::{Extension, Progress, Report};
pub(crate) use membership::{Membership, NodeSet};
pub(crate) use tally::{Tally, Verdict, Vote};
pub(crate) use validity::Drift;

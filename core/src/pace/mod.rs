//! How much at a time, and when again: the window of open rounds, the pauses between attempts, and the time until a quorum
//! may vote.
//!
//! Plain functions and values, as in `quorum`. No vote, deadline or order rests on them.

#![deny(clippy::float_arithmetic)]

pub mod backoff;
pub mod readiness;
pub mod window;

#[cfg(test)]
mod tests;

pub use backoff::Backoff;
pub use window::Window;

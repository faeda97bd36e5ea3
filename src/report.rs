//! The answers of the masters, as errors and outcomes carry them.
//!
//! ```
//! use quorumlock::AcquireError;
//! use quorumlock::report::{Answer, Refusal};
//!
//! /// The masters that an operator should look at.
//! fn down(error: &AcquireError) -> impl Iterator<Item = &str> {
//!     let down = |answer: &Answer| matches!(answer, Answer::Refused(Refusal::Down(_)));
//!     error.nodes().iter().filter(move |report| down(&report.answer)).map(|report| &*report.node)
//! }
//! ```

pub use crate::failure::listed;
pub use quorumlock_core::escape::{Escaped, OneLine, is_hidden};
pub use quorumlock_core::obstacle::Obstacle;
pub use quorumlock_core::report::{
    Answer, Folded, NodeReport, Refusal, Said, Span, UnknownCause, fold,
};

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

pub use quorumlock_core::escape::{Escaped, OneLine, is_hidden};
pub use quorumlock_core::obstacle::Obstacle;
pub use quorumlock_core::report::{
    Answer, Folded, NodeReport, Refusal, Said, Span, UnknownCause, fold,
};

/// Returns what every master said, equal answers once, as the errors have it behind their sentences.
#[must_use]
pub fn listed(nodes: &[NodeReport]) -> String {
    behind(fold(nodes.iter().map(Said::from), Some(nodes.len())).iter().map(Folded::to_string))
}

/// Joins the parts to put behind a sentence; empty without parts.
pub(crate) fn behind(parts: impl Iterator<Item = String>) -> String {
    let parts: Vec<String> = parts.collect();
    if parts.is_empty() { String::new() } else { format!(": {}", parts.join("; ")) }
}

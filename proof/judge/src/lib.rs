//! Judges a history of locks with a checker of linearizability that is not of this project.
//!
//! `history.rs` reads the lines, `spec.rs` says what is right, `verdict.rs` asks the checker. The README
//! has the format and its meaning.

#[cfg_attr(not(test), allow(dead_code))]
#[path = "../../../tests/support/edn.rs"]
mod edn;
mod history;
mod spec;
mod verdict;

pub use history::{History, Malformed};
pub use verdict::{Judgement, Part, Verdict, judge};

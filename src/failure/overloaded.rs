//! The error of an acquire for which its own client had no room.

use crate::report::{Escaped, Span};
use std::sync::Arc;
use std::time::Duration;
use thiserror::Error;

/// An acquire that could not begin in its time: this very client had as many rounds open as its masters answer in
/// time, and others of its acquires came first. It says nothing about the lock, which may be free, and no master was
/// asked.
///
/// A client has a window of such rounds, which follows from how long masters take to answer. Acquires beyond it wait
/// in this process. Holding, extending or releasing a lock does not wait for it.
#[derive(Clone, PartialEq, Eq, Error)]
#[error(
    "{:?} was not asked for (after {}): this client asks for more locks at once than its masters answer in \
     time: ask for fewer, or wait longer",
    Escaped(resource),
    Span(*waited)
)]
#[non_exhaustive]
pub struct Overloaded {
    /// The resource that was to be locked.
    pub resource: Arc<str>,
    /// The time from the call to the answer.
    pub waited: Duration,
}

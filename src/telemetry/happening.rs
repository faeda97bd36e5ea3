//! The happenings, as values: [`traced`](super::traced) and [`metered`](super::metered) report
//! them, each in its own way.

use super::Span;
use super::words::{AcquireEnd, AttemptEnd, ExtensionEnd, LossReason, Quorum, ReleaseEnd};
use crate::error::AcquireError;
use crate::report::NodeReport;
use crate::status::NodeStanding;
use quorumlock_core::status::Standing;
use std::time::Duration;

/// A thing that has happened.
#[cfg_attr(
    not(all(feature = "tracing", feature = "metrics")),
    allow(dead_code, reason = "each feature tells a part of it")
)]
pub(super) enum Happening<'a> {
    /// An attempt of an acquire is decided.
    Attempted {
        span: &'a Span,
        resource: &'a str,
        number: u32,
        verdict: AttemptEnd,
        took: Duration,
        votes: &'a [NodeReport],
    },
    /// An acquire has its answer, or its caller has gone.
    Asked {
        span: &'a Span,
        resource: &'a str,
        end: AcquireEnd,
        waited: Duration,
        error: Option<&'a AcquireError>,
    },
    /// An extension is decided; `resource` is `None` if the guard has been given up in the
    /// meantime.
    Extended {
        resource: Option<&'a str>,
        by_keeper: bool,
        end: ExtensionEnd,
        took: Duration,
        votes: &'a [NodeReport],
    },
    /// A node that had no key receives it during an extension.
    ToppedUp { resource: Option<&'a str>, node: &'a str },
    /// A hold is over, and its guard was not given up.
    Lost { resource: &'a str, reason: LossReason, held: Duration, votes: &'a [NodeReport] },
    /// A guard was given up in time, after being held this long.
    GivenUp { held: Duration },
    /// The outcome of a guard that was given up; `resource` and `held` are `None` if it had been
    /// lost before.
    Released { resource: Option<&'a str>, end: ReleaseEnd, held: Option<Duration> },
    /// The standing of a node has changed.
    Stands { place: usize, node: &'a str, before: Option<Standing>, standing: &'a NodeStanding },
    /// More or fewer nodes can be spared than before.
    Margin { before: Option<Quorum>, margin: Quorum },
    /// The debt of a node has changed.
    Owes { place: usize, node: &'a str, before: usize, owed: usize },
    /// The coordinator has ended, and its knowledge of a node with it.
    Forgotten { place: usize, standing: Option<Standing>, owed: usize },
    /// The same for its quorum.
    MarginForgotten { margin: Quorum },
}

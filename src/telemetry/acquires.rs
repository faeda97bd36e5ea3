//! The callers' view of their acquires.

use super::table::Metric;
use super::{ACQUIRE, Outlet, Span, ms};
use crate::failure::AcquireError;
use crate::kind_name::KindName;
use std::time::Duration;

/// An acquire that is about to end.
pub(crate) struct Ending<'a> {
    pub(crate) span: &'a Span,
    pub(crate) resource: &'a str,
    pub(crate) waited: Duration,
}

impl Ending<'_> {
    /// Reports that its caller has the answer.
    pub(crate) fn answered<T>(&self, outlet: &Outlet, result: &Result<T, AcquireError>) {
        let Err(error) = result else { return self.ended(outlet, "acquired", None) };
        let outcome = match error {
            AcquireError::Contended(_) => "contended",
            AcquireError::NoQuorum(_) => "no_quorum",
            AcquireError::Disagreement(_) => "disagreement",
            AcquireError::Overloaded(_) => "overloaded",
            AcquireError::InvalidSetting(_) | AcquireError::WrongContext(_) => "invalid",
            AcquireError::NoRandomness(_) => "no_randomness",
            AcquireError::Closed(_) => "closed",
        };
        self.ended(outlet, outcome, Some(error));
    }

    /// Reports that its caller has gone.
    pub(crate) fn cancelled(&self, outlet: &Outlet) {
        self.ended(outlet, "cancelled", None);
    }

    fn ended(&self, outlet: &Outlet, outcome: &str, error: Option<&AcquireError>) {
        let Self { span, resource, waited } = *self;
        outlet.count(Metric::Acquires, outcome);
        outlet.time(Metric::AcquireWait, outcome, waited);
        #[cfg(feature = "tracing")]
        {
            let waited_ms = ms(waited);
            span.end(outcome, waited_ms);
            let error =
                error.map(|error| tracing::field::display(super::redacted::Redacted(error)));
            match outcome {
                "acquired" => event!(DEBUG in span: resource, outcome, waited_ms, "acquired"),
                "no_quorum" | "disagreement" | "overloaded" | "no_randomness" => {
                    event!(WARN in span: resource, outcome, waited_ms, error, "not acquired");
                }
                _ => event!(DEBUG in span: resource, outcome, waited_ms, error, "not acquired"),
            }
        }
    }
}

impl Outlet {
    /// Reports that a caller waits for a lock.
    pub(crate) fn waits(&self, kind: KindName) {
        self.moved(Metric::WaitingCallers, 0, kind.as_str(), 0, 1);
    }

    /// Reports that a caller that waited has its answer, or is gone.
    pub(crate) fn waits_no_more(&self, kind: KindName) {
        self.moved(Metric::WaitingCallers, 0, kind.as_str(), 1, 0);
    }
}

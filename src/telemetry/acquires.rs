//! The callers' view of their acquires.

use super::table::Metric;
use super::{ACQUIRE, Outlet, Span, ms};
use crate::failure::AcquireError;
use crate::kind_name::KindName;
use std::time::Duration;

impl Outlet {
    /// Reports the end of an acquire: its caller has this answer, or has gone if there is none.
    pub(crate) fn ended(
        &self,
        span: &Span,
        resource: &str,
        waited: Duration,
        answer: Option<Result<(), &AcquireError>>,
    ) {
        let outcome = match answer {
            None => "cancelled",
            Some(Ok(())) => "acquired",
            Some(Err(AcquireError::Contended(_))) => "contended",
            Some(Err(AcquireError::NoQuorum(_))) => "no_quorum",
            Some(Err(AcquireError::Disagreement(_))) => "disagreement",
            Some(Err(AcquireError::Overloaded(_))) => "overloaded",
            Some(Err(AcquireError::InvalidSetting(_) | AcquireError::WrongContext(_))) => "invalid",
            Some(Err(AcquireError::NoRandomness(_))) => "no_randomness",
            Some(Err(AcquireError::Closed(_))) => "closed",
        };
        self.count(Metric::Acquires, outcome);
        self.time(Metric::AcquireWait, outcome, waited);
        #[cfg(feature = "tracing")]
        {
            let waited_ms = ms(waited);
            span.end(outcome, waited_ms);
            let error = answer.and_then(Result::err);
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

    /// Reports that a caller waits for a lock.
    pub(crate) fn waits(&self, kind: KindName) {
        self.moved(Metric::WaitingCallers, 0, kind.as_str(), 0, 1);
    }

    /// Reports that a caller that waited has its answer, or is gone.
    pub(crate) fn waits_no_more(&self, kind: KindName) {
        self.moved(Metric::WaitingCallers, 0, kind.as_str(), 1, 0);
    }
}

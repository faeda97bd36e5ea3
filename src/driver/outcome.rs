//! What the machine has decided, as callers are told.

use super::request::ReleaseResult;
use crate::error::{AcquireError, Contended, Disagreement, NoQuorum};
use crate::released::Released;
use crate::report::Quorum;
use quorumlock_core::coordinator::{Failure, FailureKind, Release};
use std::sync::Arc;
use std::time::Duration;

pub(super) fn not_acquired(
    resource: Arc<str>,
    failure: Failure,
    waited: Duration,
    quorum: Quorum,
) -> AcquireError {
    let Failure { kind, reports: nodes, attempts, ahead } = failure;
    match kind {
        FailureKind::Contended(obstacle) => AcquireError::Contended(Contended {
            resource,
            waited,
            attempts,
            nodes,
            obstacle,
            ahead: ahead.map(|ahead| u16::try_from(ahead).unwrap_or(u16::MAX)),
            quorum,
        }),
        FailureKind::NoQuorum | FailureKind::TooLate => {
            let quorum = Some(quorum);
            AcquireError::NoQuorum(NoQuorum { resource, waited, attempts, nodes, quorum })
        }
        FailureKind::Disagreement(cause) => {
            AcquireError::Disagreement(Disagreement { resource, waited, attempts, cause, nodes })
        }
    }
}

pub(super) fn released(release: Release) -> ReleaseResult {
    match release {
        Release::Released => Ok(Released::Confirmed),
        Release::Lost(reason) => Err(reason),
        Release::Unconfirmed(nodes) => Ok(Released::Unconfirmed(nodes)),
    }
}

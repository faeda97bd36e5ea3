//! Why there is no connection.

use super::{Closed, Invalid};
use crate::coordinator::{Fault, FaultKind};
use std::fmt;
use std::sync::Arc;
use thiserror::Error;

/// Why there is no connection to the masters. Masters that are merely down are no error: they are
/// redialled in the background, and an acquire says whether those that are up are enough.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// A setting cannot work.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// Masters answered, and what they said is evidence of a mistake.
    #[error(transparent)]
    Unfit(#[from] Unfit),
    /// Another client of these masters goes by other terms, and both could win.
    #[error(transparent)]
    Disagreement(#[from] Disagreement),
    /// The runtime went away meanwhile.
    #[error(transparent)]
    Closed(#[from] Closed),
}

/// Masters that cannot be used as configured: credentials, rights, a replica or one that was promoted,
/// eviction, one server under two names, less persistence than is trusted.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unfit {
    /// Each master's address, and what is wrong there.
    pub nodes: Vec<(Arc<str>, Arc<str>)>,
}

/// Clients of the same masters go by different terms: another `max_ttl`, another fencing window, or
/// lists of masters that have no list in common. Both could win, so the later one is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Disagreement {
    /// Each master's address, and what this client and another one of that master go by.
    pub nodes: Vec<(Arc<str>, Arc<str>)>,
}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        problems(f, "cannot be used", &self.nodes)
    }
}

impl fmt::Display for Disagreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        problems(f, "disagrees", &self.nodes)
    }
}

fn problems(f: &mut fmt::Formatter<'_>, what: &str, nodes: &[(Arc<str>, Arc<str>)]) -> fmt::Result {
    f.write_str("nodes: ")?;
    for (place, (node, problem)) in nodes.iter().enumerate() {
        write!(f, "{}{node} {what}: {problem}", if place == 0 { "" } else { "; " })?;
    }
    Ok(())
}

impl std::error::Error for Unfit {}
impl std::error::Error for Disagreement {}

impl ConnectError {
    /// Only positive evidence is an error.
    pub(crate) fn from_faults(faults: &[(Arc<str>, Fault)]) -> Option<Self> {
        let told = |wanted: fn(FaultKind) -> bool| -> Option<Vec<_>> {
            let nodes = faults.iter().filter(|(_, fault)| wanted(fault.kind));
            let nodes: Vec<_> =
                nodes.map(|(node, one)| (node.clone(), one.cause.clone())).collect();
            (!nodes.is_empty()).then_some(nodes)
        };
        let unfit = told(|kind| matches!(kind, FaultKind::Rejected | FaultKind::Unfit));
        let disagreement = || told(|kind| kind == FaultKind::Disagreement);
        unfit
            .map(|nodes| Self::Unfit(Unfit { nodes }))
            .or_else(|| disagreement().map(|nodes| Self::Disagreement(Disagreement { nodes })))
    }
}

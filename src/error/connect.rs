//! Why there is no connection.

use super::{Closed, Invalid};
use crate::quorum::Admission;
use crate::status::{NodeStanding, Status};
use std::fmt;
use std::sync::Arc;
use thiserror::Error;

/// Why there is no connection to the masters. Masters that are down or warming up are no error: they
/// are redialled in the background, and an acquire says whether those that may vote are enough. Nor
/// are unfit ones that the rest is a quorum without, unless
/// [`strict`](crate::RedlockBuilder::strict) asks for that.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// A setting cannot work.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// Masters answered, what they said is evidence of a mistake, and the others are too few (or none
    /// may be unfit).
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
    /// Why a client that has met the masters like this may not be, if it may not: only positive
    /// evidence is an error.
    pub(crate) fn from_status(status: &Status, strict: bool) -> Option<Self> {
        let told = |wanted: fn(&NodeStanding) -> Option<&Arc<str>>| -> Vec<_> {
            let nodes = status.nodes().iter();
            nodes
                .filter_map(|one| Some((one.node.clone(), wanted(&one.standing)?.clone())))
                .collect()
        };
        match status.admission(strict) {
            Admission::Granted => None,
            Admission::Unfit => {
                let nodes = told(|standing| match standing {
                    NodeStanding::Unfit(cause) | NodeStanding::Rejected(cause) => Some(cause),
                    _ => None,
                });
                Some(Self::Unfit(Unfit { nodes }))
            }
            Admission::Disagreement => {
                let nodes = told(|standing| match standing {
                    NodeStanding::Disagrees(cause) => Some(cause),
                    _ => None,
                });
                Some(Self::Disagreement(Disagreement { nodes }))
            }
        }
    }
}

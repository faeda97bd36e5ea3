//! The errors of connecting.

use super::{Closed, Invalid};
use crate::status::{NodeStanding, Status};
use quorumlock_core::quorum::Admission;
use std::fmt;
use std::sync::Arc;
use thiserror::Error;

/// The reason why there is no connection to the masters. Masters that are down or warming up are
/// not an error: they are redialled in the background, and an acquire reports whether those that
/// may vote are enough. Nor are unfit masters an error if the rest is a quorum without them, unless
/// [`strict`](crate::RedlockBuilder::strict) asks for that.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// A setting cannot work.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// Masters answered, and what they said is evidence of a mistake. The others are too few, or no
    /// master may be unfit.
    #[error(transparent)]
    Unfit(#[from] Unfit),
    /// Another client of these masters is configured with other terms, and both could win.
    #[error(transparent)]
    Disagreement(#[from] Disagreement),
    /// The runtime went away in the meantime.
    #[error(transparent)]
    Closed(#[from] Closed),
}

/// Masters that cannot be used as configured: credentials, rights, a replica or one that was
/// promoted, eviction, one server under two names, less persistence than is trusted.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unfit {
    /// Each master's address, and the problem there.
    pub nodes: Vec<(Arc<str>, Arc<str>)>,
}

/// Clients of the same masters are configured with different terms: another `max_ttl`, another
/// fencing window, or lists of masters that have no list in common. Both could win, so the later
/// one is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Disagreement {
    /// Each master's address, with the terms of this client and of another client of that master.
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
    /// Returns the reason to refuse a client that has met the masters in this state, if there is
    /// one. Only positive evidence is an error.
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

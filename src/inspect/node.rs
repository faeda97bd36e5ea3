//! The answer of one master about a lock.

use super::Holder;
use crate::report::{Answer, Span};
use quorumlock_core::coordinator::Seen;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// The answer of one master.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NodeInspection {
    /// The master's address as configured, without credentials.
    pub node: Arc<str>,
    /// The state of the lock on that master.
    pub state: NodeState,
}

/// The state of a lock on one master.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NodeState {
    /// The master has no key.
    Free,
    /// This holder's key, with the time it has left on that master.
    Held(Holder),
    /// A key without a holder: an older version keeps it for the next [fair](crate::Acquire::fair) waiter, for this
    /// long at most.
    Kept(Duration),
    /// The master did not say, or what it says does not count yet.
    Unknown(Answer),
}

impl NodeState {
    pub(crate) const fn holder(&self) -> Option<&Holder> {
        match self {
            Self::Held(holder) => Some(holder),
            _ => None,
        }
    }
}

impl From<Seen> for NodeState {
    fn from(seen: Seen) -> Self {
        match seen {
            Ok(None) => Self::Free,
            Ok(Some(stored)) if stored.value.is_kept() => {
                Self::Kept(stored.remaining.unwrap_or(Duration::MAX))
            }
            Ok(Some(stored)) => Self::Held(Holder::of(stored)),
            Err(answer) => Self::Unknown(answer),
        }
    }
}

impl fmt::Display for NodeState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Free => f.write_str("free"),
            Self::Kept(left) => write!(f, "reserved for the next waiter, for {}", Span(*left)),
            Self::Held(holder) => holder.fmt(f),
            Self::Unknown(answer) => answer.fmt(f),
        }
    }
}

//! The standing of the masters, and whether locks can be acquired.

#![warn(missing_docs)]

mod masters;

use crate::escape::OneLine;
use crate::pace::readiness::quorum_in;
use crate::quorum::Membership;
use crate::report::{Refusal, Span};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// The standing of one master with this client.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NodeStanding {
    /// The master may vote.
    Voting,
    /// The master started recently, and may have forgotten what it had granted: it votes after
    /// `remaining`.
    WarmingUp {
        /// The time until it may vote.
        remaining: Duration,
    },
    /// The master may vote but is not asked: another client, reported by the master `by`, has other
    /// lists and could win at the same time as this one.
    Barred {
        /// The master that reported it.
        by: Arc<str>,
    },
    /// The master is connected, but has not recently confirmed the settings of this client: it is
    /// being asked.
    Unconfirmed,
    /// The master answers, but is not an independent master that keeps what it has granted: a
    /// replica, a promoted one, one that evicts, the same server as another, less persistence than
    /// is trusted. It is asked again and again, and used once it is fit.
    Unfit(Arc<str>),
    /// The master answers, but does not let this client in: credentials, rights, version. It is
    /// asked again and again.
    Rejected(Arc<str>),
    /// Another client of the master is configured with something else: a `max_ttl`, a fencing
    /// window, a list of masters.
    Disagrees(Arc<str>),
    /// The master cannot be reached, or was lost. It is dialled again and again.
    Down(Arc<str>),
}

impl NodeStanding {
    /// Returns why it cannot be used, if that is more than an outage: an operator has to fix it.
    #[must_use]
    pub fn problem(&self) -> Option<&str> {
        match self {
            Self::Unfit(cause) | Self::Rejected(cause) | Self::Disagrees(cause) => Some(cause),
            _ => None,
        }
    }

    /// Returns the standing in a word, without its details, as events and metrics name it.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Voting => "voting",
            Self::WarmingUp { .. } => "warming_up",
            Self::Unconfirmed => "unconfirmed",
            Self::Unfit(_) => "unfit",
            Self::Rejected(_) => "rejected",
            // There is a client that disagrees.
            Self::Disagrees(_) | Self::Barred { .. } => "disagrees",
            Self::Down(_) => "down",
        }
    }

    /// Returns how long it does not vote if nothing but time passes.
    const fn wait(&self) -> Option<Duration> {
        match self {
            Self::Voting => Some(Duration::ZERO),
            Self::WarmingUp { remaining } => Some(*remaining),
            _ => None,
        }
    }
}

/// The distance of the masters that may vote from being too few.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Margin {
    /// Any one of them can be spared.
    Spare,
    /// They are a quorum, but at least one of them cannot be spared.
    Bare,
    /// They are not a quorum.
    None,
}

impl Margin {
    /// Returns the margin in a word, as metrics name it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Spare => "spare",
            Self::Bare => "bare",
            Self::None => "none",
        }
    }
}

/// One master, and its standing.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NodeStatus {
    /// The master's address as configured, without credentials.
    pub node: Arc<str>,
    /// The standing.
    pub standing: NodeStanding,
    /// Why this client's credentials could not be renewed on a connection that lives: their provider has
    /// failed, or the master refuses them. They are asked for again and again, and the master counts as
    /// before for as long as it keeps the connection.
    pub not_renewed: Option<Arc<str>>,
}

/// The standing of the masters when `Redlock::status` was called; printed, one line for each.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Status {
    nodes: Vec<NodeStatus>,
    membership: Membership,
    can_acquire_in: Option<Duration>,
}

impl NodeStatus {
    /// Returns the standing in words, and what else an operator should know.
    fn shown(&self) -> String {
        match &self.not_renewed {
            Some(cause) => {
                format!("{}, credentials not renewed ({})", self.standing, OneLine(cause))
            }
            None => self.standing.to_string(),
        }
    }
}

#[cfg(any(test, feature = "testing"))]
impl NodeStatus {
    /// Creates a status, for tests of texts.
    pub const fn new(node: Arc<str>, standing: NodeStanding) -> Self {
        Self { node, standing, not_renewed: None }
    }
}

impl Status {
    /// Creates a status; `nodes` are in the order of their places in `membership`.
    pub fn new(membership: Membership, nodes: Vec<NodeStatus>) -> Self {
        let waits: Vec<_> = nodes.iter().map(|node| node.standing.wait()).collect();
        let can_acquire_in = quorum_in(membership, &waits);
        Self { nodes, membership, can_acquire_in }
    }

    /// Checks whether a quorum of masters may vote, of each list if there are two. Only asking them
    /// shows whether they answer.
    #[must_use]
    pub fn can_acquire(&self) -> bool {
        self.can_acquire_in == Some(Duration::ZERO)
    }

    /// Returns how long it takes until a quorum may vote if no master changes except those that are
    /// warming up; zero if a quorum may vote now. `None` if those are too few: others are down, or
    /// have to be fixed.
    #[must_use]
    pub const fn can_acquire_in(&self) -> Option<Duration> {
        self.can_acquire_in
    }

    /// Returns each master, in the order of the configuration.
    #[must_use]
    pub fn nodes(&self) -> &[NodeStatus] {
        &self.nodes
    }

    /// Formats how many may vote and how many are needed, without the standing of each.
    pub fn count(&self) -> String {
        let Self { nodes, membership, .. } = self;
        let votes = |node: &&NodeStatus| node.standing == NodeStanding::Voting;
        let voting = nodes.iter().filter(votes).count();
        format!("{voting} of {} masters may vote, {membership} needed", nodes.len())
    }
}

impl<'a> IntoIterator for &'a Status {
    type Item = &'a NodeStatus;
    type IntoIter = std::slice::Iter<'a, NodeStatus>;

    fn into_iter(self) -> Self::IntoIter {
        self.nodes.iter()
    }
}

impl fmt::Display for NodeStanding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Voting => f.write_str("voting"),
            Self::WarmingUp { remaining } => Refusal::WarmingUp { remaining: *remaining }.fmt(f),
            Self::Barred { by } => Refusal::Barred { by: by.clone() }.fmt(f),
            Self::Unconfirmed => f.write_str("unconfirmed (being asked)"),
            Self::Unfit(cause) => write!(f, "unfit ({})", OneLine(cause)),
            Self::Rejected(cause) => write!(f, "rejected ({})", OneLine(cause)),
            Self::Disagrees(cause) => write!(f, "disagrees ({})", OneLine(cause)),
            Self::Down(cause) => write!(f, "down ({})", OneLine(cause)),
        }
    }
}

impl fmt::Display for NodeStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", OneLine(&self.node), self.shown())
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.can_acquire_in {
            Some(Duration::ZERO) => f.write_str("locks can be acquired: ")?,
            Some(left) => write!(f, "no lock can be acquired for {}: ", Span(left))?,
            None => f.write_str("no lock can be acquired: ")?,
        }
        f.write_str(&self.count())?;
        let names = || self.nodes.iter().map(|node| OneLine(&node.node).to_string());
        let width = names().map(|name| name.chars().count()).max().unwrap_or_default();
        let mut rows = names().zip(&self.nodes);
        rows.try_for_each(|(name, node)| write!(f, "\n  {name:width$}  {}", node.shown()))
    }
}

#[cfg(test)]
mod tests;

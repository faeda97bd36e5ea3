//! How the masters stand, and whether locks can be had.

use crate::driver::Message;
use crate::error::{Closed, ReadyError};
use crate::quorum::readiness::quorum_in;
use crate::quorum::{Admission, Membership, NodeSet, admit};
use crate::redlock::Redlock;
use crate::report::{Quorum, round};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::oneshot;

impl Redlock {
    /// Tells how each master stands with this client, and whether a quorum of them may vote. No
    /// master is asked: it is what the client goes by anyway, as of now.
    ///
    /// For a readiness probe that only wants to know *whether*, see [`Status::can_acquire`]; to wait
    /// until it is so, [`wait_until_ready`](Self::wait_until_ready).
    ///
    /// ```no_run
    /// # async fn example(redlock: quorumlock::Redlock) -> Result<(), quorumlock::error::Closed> {
    /// let status = redlock.status().await?;
    /// if !status.can_acquire() {
    ///     eprintln!("{status}");
    /// }
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Closed`]: after a shutdown.
    ///
    /// # Cancel safety
    ///
    /// Safe: nothing is changed.
    pub async fn status(&self) -> Result<Status, Closed> {
        let (reply, answer) = oneshot::channel();
        self.send(Message::Status(reply));
        answer.await.map_err(|_| Closed::SHUT_DOWN)
    }

    /// Waits until a quorum of each list may vote, for no longer than `within`: at the start of a
    /// process, before it says that it is ready. Complete at once where one may vote already. No
    /// master is asked; it is told when one has been reached or has warmed up.
    ///
    /// The limit is an argument, so that nobody forgets it and the error can say which masters were
    /// missing; zero looks once. A future that [`tokio::time::timeout`] drops tells less.
    ///
    /// An `Ok` is what was so a moment ago, and no promise: an acquire says for itself whether masters
    /// answer.
    ///
    /// ```no_run
    /// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
    /// use quorumlock::Redlock;
    /// use std::time::Duration;
    ///
    /// let nodes = ["redis://10.0.0.1", "redis://10.0.0.2", "redis://10.0.0.3"];
    /// let redlock = Redlock::builder().nodes(nodes).connect().await?;
    /// // Masters that have just started vote after 31 s.
    /// redlock.wait_until_ready(Duration::from_secs(60)).await?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// - [`ReadyError::NotReady`]: not within that time; it has the [`Status`].
    /// - [`ReadyError::Closed`]: shut down before or meanwhile.
    ///
    /// # Cancel safety
    ///
    /// Safe: nothing is changed.
    pub async fn wait_until_ready(&self, within: Duration) -> Result<(), ReadyError> {
        let (reply, answer) = oneshot::channel();
        self.send(Message::WaitUntilReady { within, reply });
        answer.await.map_err(|_| Closed::SHUT_DOWN)??;
        Ok(())
    }
}

/// How one master stands with this client.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NodeStanding {
    /// It may vote.
    Voting,
    /// It has started not long ago, and may have forgotten what it had granted: it votes after
    /// `remaining`.
    WarmingUp {
        /// How long until it may vote.
        remaining: Duration,
    },
    /// It may vote and is not asked: another client, of which the master `by` has told, has other lists
    /// and could win beside this one.
    Barred {
        /// The master that has told of it.
        by: Arc<str>,
    },
    /// It is connected, and has not confirmed of late what this client goes by: it is being asked.
    Unconfirmed,
    /// It answers, and is no independent master that keeps what it has granted: a replica, a promoted
    /// one, one that evicts, the same server as another, less persistence than is trusted. It is
    /// asked again and again, and used once it is fit.
    Unfit(Arc<str>),
    /// It answers, and does not let this client in: credentials, rights, version. It is asked again
    /// and again.
    Rejected(Arc<str>),
    /// Another client of it goes by something else: a `max_ttl`, a fencing window, a list of masters.
    Disagrees(Arc<str>),
    /// It cannot be reached, or was lost. It is dialled again and again.
    Down(Arc<str>),
}

impl NodeStanding {
    /// Why it cannot be used, if that is more than an outage: somebody has to mend it.
    #[must_use]
    pub fn problem(&self) -> Option<&str> {
        match self {
            Self::Unfit(cause) | Self::Rejected(cause) | Self::Disagrees(cause) => Some(cause),
            _ => None,
        }
    }

    /// How long it does not vote if nothing but time passes.
    const fn wait(&self) -> Option<Duration> {
        match self {
            Self::Voting => Some(Duration::ZERO),
            Self::WarmingUp { remaining } => Some(*remaining),
            _ => None,
        }
    }
}

/// One master, and how it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NodeStatus {
    /// The master's address as configured, without credentials.
    pub node: Arc<str>,
    /// How it stands.
    pub standing: NodeStanding,
}

/// How the masters stood when [`Redlock::status`] was asked; printed, a line for each.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Status {
    nodes: Vec<NodeStatus>,
    membership: Quorum,
    can_acquire_in: Option<Duration>,
}

impl Status {
    /// `nodes` in the order of their places in `membership`.
    pub(crate) fn new(membership: Membership, nodes: Vec<NodeStatus>) -> Self {
        let waits: Vec<_> = nodes.iter().map(|node| node.standing.wait()).collect();
        let can_acquire_in = quorum_in(membership, &waits);
        Self { nodes, membership: Quorum::new(membership), can_acquire_in }
    }

    /// Whether a quorum of masters may vote, of each list where there are two. Whether they answer is
    /// seen by asking them.
    #[must_use]
    pub fn can_acquire(&self) -> bool {
        self.can_acquire_in == Some(Duration::ZERO)
    }

    /// How long it takes until a quorum may vote if no master changes but those that warm up; zero if
    /// one may vote now. `None` if those are too few: others are down, or have to be mended.
    #[must_use]
    pub const fn can_acquire_in(&self) -> Option<Duration> {
        self.can_acquire_in
    }

    /// Each master, in the order of the configuration.
    #[must_use]
    pub fn nodes(&self) -> &[NodeStatus] {
        &self.nodes
    }

    /// Whether a client may be that has met the masters like this, for the first time.
    pub(crate) fn admission(&self, strict: bool) -> Admission {
        let places = |wanted: fn(&NodeStanding) -> bool| -> NodeSet {
            let nodes = self.nodes.iter().enumerate();
            nodes.filter_map(|(place, one)| wanted(&one.standing).then_some(place)).collect()
        };
        let unfit = |one: &_| matches!(one, NodeStanding::Unfit(_) | NodeStanding::Rejected(_));
        let disagrees = |one: &_| matches!(one, NodeStanding::Disagrees(_));
        admit(self.membership.membership(), places(unfit), places(disagrees), strict)
    }

    fn voting(&self) -> usize {
        let votes = |node: &&NodeStatus| node.standing == NodeStanding::Voting;
        self.nodes.iter().filter(votes).count()
    }

    /// Who may vote and who is needed, without saying how each stands.
    pub(crate) fn count(&self) -> String {
        let Self { nodes, membership, .. } = self;
        format!("{} of {} masters may vote, {membership} needed", self.voting(), nodes.len())
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
            Self::WarmingUp { remaining } => {
                let left = humantime::format_duration(round(*remaining));
                write!(f, "warming up (may vote in {left})")
            }
            Self::Barred { by } => write!(f, "not asked (another client of {by} could win)"),
            Self::Unconfirmed => f.write_str("unconfirmed (being asked)"),
            Self::Unfit(cause) => write!(f, "unfit ({cause})"),
            Self::Rejected(cause) => write!(f, "rejected ({cause})"),
            Self::Disagrees(cause) => write!(f, "disagrees ({cause})"),
            Self::Down(cause) => write!(f, "down ({cause})"),
        }
    }
}

impl fmt::Display for NodeStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.node, self.standing)
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.can_acquire_in {
            Some(Duration::ZERO) => f.write_str("locks can be acquired: ")?,
            Some(left) => {
                let left = humantime::format_duration(round(left));
                write!(f, "no lock can be acquired for {left}: ")?;
            }
            None => f.write_str("no lock can be acquired: ")?,
        }
        f.write_str(&self.count())?;
        let width = self.nodes.iter().map(|one| one.node.len()).max().unwrap_or_default();
        self.nodes.iter().try_for_each(|one| write!(f, "\n  {:width$}  {}", one.node, one.standing))
    }
}

#[cfg(test)]
mod tests;

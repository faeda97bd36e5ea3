//! The result: the facts that each master reported, and the findings.

use super::{Finding, FindingKind, Persistence, Role};
use crate::report::{OneLine, Span};
use quorumlock_core::coordinator::ServerFacts;
use quorumlock_core::pace::readiness::quorum_in;
use quorumlock_core::quorum::{Membership, NodeSet};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// The fitness of the configured masters for this lock; printed, a few lines for each.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Preflight {
    pub(super) nodes: Vec<NodePreflight>,
    pub(super) findings: Vec<Finding>,
    pub(super) membership: Membership,
}

/// One master. A field that it did not report is `None`.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct NodePreflight {
    /// The master's address as configured, without credentials.
    pub node: Arc<str>,
    /// The name that it gives itself: `Redis`, `Valkey`.
    pub server: Option<Arc<str>>,
    /// Its own version.
    pub version: Option<Arc<str>>,
    /// Master or replica.
    pub role: Option<Role>,
    /// The number of replicas attached to it.
    pub replicas: Option<u64>,
    /// The id of the server process.
    pub run_id: Option<Arc<str>>,
    /// The time for which that process has run, in whole seconds.
    pub uptime: Option<Duration>,
    /// The persistence across a restart.
    pub persistence: Option<Persistence>,
    /// The shortest of several times in which it answered a small command.
    pub round_trip: Option<Duration>,
    /// Its clock relative to ours.
    pub clock: Option<ClockOffset>,
    /// The findings at this master, in the order of the checks.
    pub findings: Vec<Finding>,
}

/// The distance of a master's clock from ours, ahead or behind, plus or minus half a round trip.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ClockOffset(pub(super) i64);

impl Preflight {
    /// Checks that no failure was found. There may be warnings and notes, and masters may be warming
    /// up: see [`can_acquire`](Self::can_acquire).
    #[must_use]
    pub fn is_ok(&self) -> bool {
        self.nodes.iter().all(NodePreflight::is_ok)
            && !self.findings.iter().any(Finding::is_failure)
    }

    /// Checks whether a quorum of fit masters may vote now, of each list if there are two.
    #[must_use]
    pub fn can_acquire(&self) -> bool {
        self.can_acquire_in() == Some(Duration::ZERO)
    }

    /// Returns how long it takes until a quorum may vote, if no master changes except by finishing
    /// its warm-up; zero if a quorum may vote now. `None` if too few masters are fit: an operator has
    /// to act.
    #[must_use]
    pub fn can_acquire_in(&self) -> Option<Duration> {
        let waits: Vec<_> = self.nodes.iter().map(NodePreflight::votes_in).collect();
        quorum_in(self.membership, &waits)
    }

    /// Checks whether the masters that `counts` selects are a quorum, of each list if there are two.
    /// Whether a quorum would remain without one of them, for example:
    ///
    /// ```no_run
    /// # use std::time::Duration;
    /// # async fn example(preflight: quorumlock::Preflight) {
    /// let stopped = &preflight.nodes()[0].node;
    /// let may_vote = |votes_in: Option<Duration>| votes_in.is_some_and(|wait| wait.is_zero());
    /// let remains = preflight.is_quorum(|node| node.node != *stopped && may_vote(node.votes_in()));
    /// # }
    /// ```
    #[must_use]
    pub fn is_quorum(&self, counts: impl Fn(&NodePreflight) -> bool) -> bool {
        self.membership.is_quorum(NodeSet::places(&self.nodes, counts))
    }

    /// Returns the result in a line, as `Display` begins: how far clocks are apart if that is a failure, how many
    /// masters are fit, and when a quorum may vote if it may not now.
    #[must_use]
    pub fn verdict(&self) -> String {
        let fit = self.nodes.iter().filter(|node| node.is_ok()).count();
        let (wait, rest) = match self.can_acquire_in() {
            None => ("not ok", ", which is no quorum".to_owned()),
            Some(Duration::ZERO) => ("ok", String::new()),
            Some(left) => ("not yet", format!(", and a quorum may vote in {}", Span(left))),
        };
        let verdict = if self.is_ok() { wait } else { "not ok" };
        let masters = format!("{fit} of {} masters are fit{rest}", self.nodes.len());
        let apart = self.findings.iter().find_map(|finding| match &finding.kind {
            FindingKind::ClocksApart { by, .. } => Some(Span(*by)),
            _ => None,
        });
        match apart {
            Some(by) => format!("{verdict}: clocks are {by} apart ({masters})"),
            None => format!("{verdict}: {masters}"),
        }
    }

    /// Returns each master, in the order of the configuration.
    #[must_use]
    pub fn nodes(&self) -> &[NodePreflight] {
        &self.nodes
    }

    /// Returns the findings between masters, as opposed to those at a single one.
    #[must_use]
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }
}

impl<'a> IntoIterator for &'a Preflight {
    type Item = &'a NodePreflight;
    type IntoIter = std::slice::Iter<'a, NodePreflight>;

    fn into_iter(self) -> Self::IntoIter {
        self.nodes.iter()
    }
}

impl NodePreflight {
    /// Creates the result of a master without findings.
    pub(crate) fn new(node: Arc<str>, facts: &ServerFacts) -> Self {
        Self {
            node,
            server: facts.name.as_deref().map(capitalised),
            version: facts.version.clone(),
            role: facts.role,
            replicas: facts.replicas,
            run_id: facts.run_id.clone(),
            uptime: facts.uptime,
            persistence: facts.persistence(),
            round_trip: None,
            clock: None,
            findings: Vec::new(),
        }
    }

    /// Checks that no failure was found at this master.
    #[must_use]
    pub fn is_ok(&self) -> bool {
        !self.findings.iter().any(Finding::is_failure)
    }

    /// Returns how long it takes until this master may vote; zero if it may vote now. `None` if a
    /// failure was found, which time alone does not fix.
    #[must_use]
    pub fn votes_in(&self) -> Option<Duration> {
        let waits = self.findings.iter().filter_map(|finding| match finding.kind {
            FindingKind::JustStarted { votes_in, .. } => votes_in,
            _ => None,
        });
        self.is_ok().then(|| waits.max().unwrap_or_default())
    }
}

impl ClockOffset {
    /// Returns the microseconds by which it is ahead of our clock; negative if behind.
    #[must_use]
    pub const fn as_micros(self) -> i64 {
        self.0
    }

    /// Returns the distance, in either direction.
    #[must_use]
    pub const fn distance(self) -> Duration {
        Duration::from_micros(self.0.unsigned_abs())
    }
}

impl fmt::Display for Preflight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.verdict())?;
        for finding in &self.findings {
            write!(f, "\n{finding}")?;
        }
        for node in &self.nodes {
            write!(f, "\n{node}")?;
        }
        Ok(())
    }
}

impl fmt::Display for NodePreflight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = if self.is_ok() { "fit" } else { "unfit" };
        write!(f, "{} {verdict}", OneLine(&self.node))?;
        let server = self.server.as_deref().unwrap_or("Redis");
        let facts = [
            self.version.as_ref().map(|version| format!("{server} {version}")),
            self.role.map(|role| role.to_string()),
            self.persistence.as_ref().map(ToString::to_string),
            self.uptime.map(|uptime| format!("up {}", Span(uptime))),
            self.round_trip.map(|round_trip| format!("round trip {}", Span(round_trip))),
            self.clock.map(|clock| format!("clock {clock}")),
        ];
        for fact in facts.iter().flatten() {
            write!(f, ", {}", OneLine(fact))?;
        }
        for finding in &self.findings {
            write!(f, "\n  {finding}")?;
        }
        Ok(())
    }
}

impl fmt::Display for ClockOffset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let direction = if self.0 < 0 { "behind" } else { "ahead" };
        write!(f, "{} {direction}", Span(self.distance()))
    }
}

/// Capitalises a name that servers write in lower case.
fn capitalised(name: &str) -> Arc<str> {
    let mut letters = name.chars();
    let first = letters.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(letters).collect::<String>().into()
}

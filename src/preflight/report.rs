//! The report: what each master said about itself, and the findings.

use super::Finding;
use crate::report::Span;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// The fitness of the configured masters for this lock; printed, a few lines for each.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Preflight {
    pub(super) nodes: Vec<NodePreflight>,
    pub(super) findings: Vec<Finding>,
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

/// The role of a server.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Role {
    /// A server that takes writes of its own.
    Master,
    /// A server that copies another one.
    Replica,
}

/// The writes that a server keeps across a restart, as far as locks are concerned. Snapshots do not
/// count: they lack what was granted after the last one.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Persistence {
    /// Every write that it has answered: `appendonly yes`, `appendfsync always`,
    /// `no-appendfsync-on-rewrite no`.
    EveryWrite,
    /// The same, except for writes during a rewrite of its file: `no-appendfsync-on-rewrite yes`.
    NotInRewrites,
    /// Writes with a short delay: `appendonly yes`, with this `appendfsync` if it reports one.
    Later(Option<Arc<str>>),
    /// No individual write: `appendonly no`.
    Nothing,
}

/// The distance of a master's clock from ours, ahead or behind, plus or minus half a round trip.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ClockOffset(pub(super) i64);

impl Preflight {
    /// Checks that no failure was found. There may be warnings and notes.
    #[must_use]
    pub fn is_ok(&self) -> bool {
        self.all_findings().all(|finding| !finding.is_failure())
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

    fn all_findings(&self) -> impl Iterator<Item = &Finding> {
        self.nodes.iter().flat_map(|node| &node.findings).chain(&self.findings)
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
    pub(super) const fn new(node: Arc<str>) -> Self {
        Self {
            node,
            server: None,
            version: None,
            role: None,
            replicas: None,
            run_id: None,
            uptime: None,
            persistence: None,
            round_trip: None,
            clock: None,
            findings: Vec::new(),
        }
    }

    /// Checks that no failure was found at this master.
    #[must_use]
    pub fn is_ok(&self) -> bool {
        self.findings.iter().all(|finding| !finding.is_failure())
    }

    pub(super) fn find(&mut self, kind: super::FindingKind) {
        self.findings.push(kind.into());
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
        let fit = self.nodes.iter().filter(|node| node.is_ok()).count();
        let verdict = if self.is_ok() { "ok" } else { "not ok" };
        write!(f, "{verdict}: {fit} of {} masters are fit", self.nodes.len())?;
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
        write!(f, "{} {verdict}", self.node)?;
        if let Some(version) = &self.version {
            write!(f, ", {} {version}", self.server.as_deref().unwrap_or("Redis"))?;
        }
        if let Some(role) = self.role {
            write!(f, ", {role}")?;
        }
        if let Some(persistence) = &self.persistence {
            write!(f, ", {persistence}")?;
        }
        if let Some(uptime) = self.uptime {
            write!(f, ", up {}", Span(uptime))?;
        }
        if let Some(round_trip) = self.round_trip {
            write!(f, ", round trip {}", Span(round_trip))?;
        }
        if let Some(clock) = self.clock {
            write!(f, ", clock {clock}")?;
        }
        for finding in &self.findings {
            write!(f, "\n  {finding}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Master => "master",
            Self::Replica => "replica",
        })
    }
}

impl fmt::Display for Persistence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::EveryWrite => f.write_str("appendfsync always"),
            Self::NotInRewrites => f.write_str("appendfsync always, no-appendfsync-on-rewrite yes"),
            Self::Later(Some(appendfsync)) => write!(f, "appendfsync {appendfsync}"),
            Self::Later(None) => f.write_str("appendonly yes"),
            Self::Nothing => f.write_str("appendonly no"),
        }
    }
}

impl fmt::Display for ClockOffset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let direction = if self.0 < 0 { "behind" } else { "ahead" };
        write!(f, "{} {direction}", Span(self.distance()))
    }
}

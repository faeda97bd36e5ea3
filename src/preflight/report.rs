//! The report: what each master told of itself, and what was found.

use super::{Finding, human};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Whether the configured masters are fit for this lock; printed, a few lines for each.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Preflight {
    pub(super) nodes: Vec<NodePreflight>,
    pub(super) findings: Vec<Finding>,
}

/// One master. What it did not tell is `None`.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct NodePreflight {
    /// The master's address as configured, without credentials.
    pub node: Arc<str>,
    /// What it calls itself: `Redis`, `Valkey`.
    pub server: Option<Arc<str>>,
    /// Its own version.
    pub version: Option<Arc<str>>,
    /// Master or replica.
    pub role: Option<Role>,
    /// How many replicas are attached to it.
    pub replicas: Option<u64>,
    /// Which server process it is.
    pub run_id: Option<Arc<str>>,
    /// Since when that process runs, in whole seconds.
    pub uptime: Option<Duration>,
    /// What it keeps over a restart.
    pub persistence: Option<Persistence>,
    /// The shortest time of several in which it answered a small command.
    pub round_trip: Option<Duration>,
    /// Its clock beside ours.
    pub clock: Option<ClockOffset>,
    /// What was found there, in the order in which it was looked for.
    pub findings: Vec<Finding>,
}

/// What a server is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Role {
    /// It takes writes of its own.
    Master,
    /// It copies another server.
    Replica,
}

/// What a server keeps over a restart, as far as locks are concerned. Snapshots do not count: they
/// lack what was granted after the last one.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Persistence {
    /// Every write that it has answered: `appendonly yes`, `appendfsync always`,
    /// `no-appendfsync-on-rewrite no`.
    EveryWrite,
    /// The same, but for those during a rewrite of its file: `no-appendfsync-on-rewrite yes`.
    NotInRewrites,
    /// Writes from a moment later on: `appendonly yes`, with this `appendfsync` where it tells.
    Later(Option<Arc<str>>),
    /// No single write: `appendonly no`.
    Nothing,
}

/// How far a master's clock is ahead of ours or behind it, give or take half a round trip.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ClockOffset(pub(super) i64);

impl Preflight {
    /// Whether no failure was found. Warnings and notes may be there.
    #[must_use]
    pub fn is_ok(&self) -> bool {
        self.all_findings().all(|finding| !finding.is_failure())
    }

    /// Each master, in the order of the configuration.
    #[must_use]
    pub fn nodes(&self) -> &[NodePreflight] {
        &self.nodes
    }

    /// What was found between masters and not at a single one.
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

    /// Whether no failure was found at this master.
    #[must_use]
    pub fn is_ok(&self) -> bool {
        self.findings.iter().all(|finding| !finding.is_failure())
    }

    pub(super) fn find(&mut self, kind: super::FindingKind) {
        self.findings.push(kind.into());
    }
}

impl ClockOffset {
    /// Microseconds ahead of our clock; below zero if behind.
    #[must_use]
    pub const fn as_micros(self) -> i64 {
        self.0
    }

    /// How far, whichever way.
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
            write!(f, ", up {}", human(uptime))?;
        }
        if let Some(round_trip) = self.round_trip {
            write!(f, ", round trip {}", human(round_trip))?;
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
        write!(f, "{} {direction}", human(self.distance()))
    }
}

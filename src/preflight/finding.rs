//! The findings of a preflight, their severity, and what to do about them.

use super::{ClockOffset, Difference, Persistence, Right};
use crate::report::Span;
use quorumlock_core::coordinator::{CLUSTER, SENTINEL, wire};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// The severity of a finding.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
pub enum Severity {
    /// For information; nothing needs to be done.
    Note,
    /// Locks are safe, but something does not work as well as it could, or will not work forever.
    Warning,
    /// The master is not fit for this lock.
    Failure,
}

/// One finding, and what to do about it; printed, it is one line.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Finding {
    /// The kind of finding.
    pub kind: FindingKind,
    /// The severity.
    pub severity: Severity,
    /// The action to take, or why nothing needs to be done.
    pub remedy: Arc<str>,
}

/// The kind of a finding.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum FindingKind {
    /// There is no connection to the master. Contains the reason.
    Unreachable(Arc<str>),
    /// The server took the connection, and then did not answer in time, or broke it off. Contains
    /// the details.
    Silent(Arc<str>),
    /// The server has as many clients as it accepts. Contains its words.
    TooManyClients(Arc<str>),
    /// The server that answers there is not Redis. Contains what it says instead.
    NotRedis(Arc<str>),
    /// The server is a node of a cluster, which moves keys and promotes replicas by itself.
    Cluster,
    /// The server is a Sentinel, which watches masters and keeps no keys.
    Sentinel,
    /// The server answers, but does not let us in: password, user, database. Contains its words.
    Rejected(Arc<str>),
    /// The server is older than this crate supports. Contains its version.
    TooOld(Arc<str>),
    /// The server is a replica, of the master at this address if it reports one.
    Replica(Option<Arc<str>>),
    /// The server was a replica, and may lack keys that its master had granted.
    Promoted,
    /// The master has this many replicas attached.
    HasReplicas(u64),
    /// The master deletes keys that have not expired when its memory is full.
    Evicts {
        /// The amount that it calls full, in bytes.
        maxmemory: u64,
        /// The choice of the keys to delete then: its `maxmemory-policy`.
        policy: Arc<str>,
    },
    /// The master would delete such keys if it had a `maxmemory`. Contains its `maxmemory-policy`.
    WouldEvict(Arc<str>),
    /// The master does not report whether it evicts keys.
    EvictionUntold,
    /// A restart can make the master lose keys.
    Forgets {
        /// The persistence that it has.
        persistence: Persistence,
        /// The time for which it does not vote after a restart; `None` if nothing keeps it from
        /// voting.
        stays_away: Option<Duration>,
    },
    /// The master may have lost its memory so recently that what it had granted may still be held.
    JustStarted {
        /// The time for which it has run, in whole seconds.
        uptime: Duration,
        /// The time until it may vote; `None` if nothing keeps it from voting.
        votes_in: Option<Duration>,
    },
    /// The master is trusted to keep every write, and its configuration contradicts that.
    NotPersistent(Persistence),
    /// Another client of the master is configured with something else, or was until recently.
    Disagrees(Difference),
    /// Another configured address leads to the same server. Contains that address.
    SameServer(Arc<str>),
    /// Its clock and ours are far apart.
    ClockOff(ClockOffset),
    /// The clocks of two masters are too far apart for fenced locks.
    ClocksApart {
        /// The master whose clock is behind.
        behind: Arc<str>,
        /// The master whose clock is ahead.
        ahead: Arc<str>,
        /// The distance between them.
        by: Duration,
        /// The distance that is allowed.
        bound: Duration,
    },
    /// Our user may not do this there, or the server does not know the command.
    Withheld {
        /// The right.
        right: Right,
        /// The server's words.
        error: Arc<str>,
    },
    /// Our user may do this, but it did not work.
    Fails {
        /// The right that was tried.
        right: Right,
        /// The server's words.
        error: Arc<str>,
    },
}

impl FindingKind {
    /// Returns the finding for the `mode` in an answer to HELLO, unless it is that of a standalone
    /// master.
    pub(super) fn of_mode(mode: &str) -> Option<Self> {
        match mode {
            CLUSTER => Some(Self::Cluster),
            SENTINEL => Some(Self::Sentinel),
            _ => None,
        }
    }

    const fn severity(&self) -> Severity {
        match self {
            Self::Withheld { right, .. } | Self::Fails { right, .. } => right.severity(),
            Self::HasReplicas(_) | Self::EvictionUntold | Self::ClockOff(_) => Severity::Warning,
            Self::Forgets { stays_away: None, .. } | Self::JustStarted { votes_in: None, .. } => {
                Severity::Warning
            }
            Self::Forgets { .. } | Self::JustStarted { .. } | Self::WouldEvict(_) => Severity::Note,
            _ => Severity::Failure,
        }
    }

    fn remedy(&self) -> Arc<str> {
        match self {
            Self::Unreachable(_) => "start it, or fix its address or the network on the way",
            Self::Silent(_) => {
                "see whether it is stopped, overloaded, at its maxclients, or not a Redis server"
            }
            Self::TooManyClients(_) => {
                "raise its maxclients, or see who keeps so many connections open (CLIENT LIST)"
            }
            Self::NotRedis(_) => "fix host and port in its address: something else listens there",
            Self::Cluster => {
                "name independent masters, with cluster-enabled no: a cluster decides by itself \
                 where a key is"
            }
            Self::Sentinel => {
                "name independent masters, each by its own port and without replicas to fail over to"
            }
            Self::Rejected(cause) if wire::is_unknown(cause) => {
                "upgrade it to Redis 6.2 or later, or end its rename-command of HELLO"
            }
            Self::Rejected(_) => "fix user, password or database in its address",
            Self::TooOld(_) => "upgrade it to Redis 6.2 or later",
            Self::Replica(_) => "name independent masters only",
            Self::Promoted => "replace it by a master that starts empty",
            Self::HasReplicas(_) => {
                "detach them: no lock needs them, and one that is promoted later brings a second \
                 copy of the keys"
            }
            Self::Evicts { .. } => {
                "set maxmemory-policy noeviction: each key of a lock has a ttl, which the \
                 volatile policies look for"
            }
            Self::WouldEvict(_) => {
                "set maxmemory-policy noeviction before anybody sets maxmemory: until then it keeps \
                 all keys"
            }
            Self::EvictionUntold => "make sure that its maxmemory-policy is noeviction",
            Self::SameServer(_) => "name each master once: one server is one vote",
            Self::ClockOff(_) => "keep both clocks synchronised (NTP): fenced locks go by them",
            Self::ClocksApart { .. } => "keep their clocks synchronised (NTP)",
            Self::NotPersistent(_) => {
                "trust_persistence() needs appendonly yes, appendfsync always and \
                 no-appendfsync-on-rewrite no: set them, or leave it out"
            }
            Self::Disagrees(difference) => return difference.remedy().into(),
            Self::JustStarted { votes_in: None, .. } => {
                "nothing keeps it from voting without the restart guard, though what it granted \
                 before may still be held: leave out without_restart_guard()"
            }
            Self::JustStarted { votes_in: Some(votes_in), .. } => {
                let votes_in = Span(*votes_in);
                return format!(
                    "the restart guard lets it vote in {votes_in}: what it granted before may be \
                     held until then"
                )
                .into();
            }
            Self::Forgets { stays_away: None, .. } => {
                "nothing keeps it from voting after one without the restart guard, and what was \
                 held could be granted again: leave out without_restart_guard()"
            }
            Self::Forgets { stays_away: Some(away), .. } => {
                let away = Span(*away);
                return format!(
                    "the restart guard keeps it from voting for {away} after one; only appendonly \
                     yes, appendfsync always and no-appendfsync-on-rewrite no lose nothing"
                )
                .into();
            }
            Self::Withheld { right, error } => return right.to_grant(error).into(),
            Self::Fails { right, .. } => {
                return format!("fix what it reports; until then {}", right.cost()).into();
            }
        }
        .into()
    }
}

impl From<FindingKind> for Finding {
    fn from(kind: FindingKind) -> Self {
        Self { severity: kind.severity(), remedy: kind.remedy(), kind }
    }
}

impl Finding {
    /// Checks whether it makes the master unfit.
    #[must_use]
    pub fn is_failure(&self) -> bool {
        self.severity == Severity::Failure
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Failure => "failure",
        })
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.severity, self.kind, self.remedy)
    }
}

impl fmt::Display for FindingKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreachable(cause) => write!(f, "not reachable ({cause})"),
            Self::Silent(cause) => write!(f, "fell silent ({cause})"),
            Self::TooManyClients(cause) => write!(f, "takes no more clients ({cause})"),
            Self::NotRedis(said) => write!(f, "not a Redis server ({said})"),
            Self::Cluster => f.write_str("a node of a cluster"),
            Self::Sentinel => f.write_str("a Sentinel"),
            Self::Rejected(cause) => write!(f, "does not let us in ({cause})"),
            Self::TooOld(version) => write!(f, "Redis {version} is too old"),
            Self::Replica(Some(master)) => write!(f, "a replica of {master}"),
            Self::Replica(None) => f.write_str("a replica"),
            Self::Promoted => {
                f.write_str("was promoted from a replica, and may lack keys that were granted")
            }
            Self::HasReplicas(1) => f.write_str("a replica is attached"),
            Self::HasReplicas(count) => write!(f, "{count} replicas are attached"),
            Self::Evicts { maxmemory, policy } => {
                write!(f, "evicts keys from {maxmemory} bytes on (maxmemory-policy {policy})")
            }
            Self::WouldEvict(policy) => {
                write!(f, "would evict keys if it had a maxmemory (maxmemory-policy {policy})")
            }
            Self::EvictionUntold => f.write_str("does not say whether it evicts keys"),
            Self::Forgets { persistence, .. } => {
                write!(f, "may lose keys in a restart ({persistence})")
            }
            Self::JustStarted { uptime, .. } => write!(f, "started {} ago", Span(*uptime)),
            Self::NotPersistent(persistence) => {
                write!(f, "does not keep every write ({persistence})")
            }
            Self::Disagrees(difference) => write!(f, "{difference}"),
            Self::SameServer(other) => write!(f, "the same server as {other}"),
            Self::ClockOff(offset) => {
                let direction = if offset.as_micros() < 0 { "behind" } else { "ahead of" };
                write!(f, "its clock is {} {direction} ours", Span(offset.distance()))
            }
            Self::ClocksApart { behind, ahead, by, bound } => {
                let (by, bound) = (Span(*by), Span(*bound));
                write!(f, "the clock of {ahead} is {by} ahead of that of {behind}, over {bound}")
            }
            Self::Withheld { right, error } => write!(f, "{right} is denied ({error})"),
            Self::Fails { right, error } => write!(f, "{right} fails ({error})"),
        }
    }
}

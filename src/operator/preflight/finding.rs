//! The findings of a preflight, their severity, and what to do about them.

use super::{ClockOffset, Difference, Permission, Persistence};
use crate::report::{OneLine, Span};
use Severity::{Failure, Note, Warning};
use quorumlock_core::coordinator::wire;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// The severity of a finding.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
pub enum Severity {
    /// For information; it needs no action.
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
    /// The provider of this client's credentials failed, so the master was not even dialled. Contains
    /// the reason.
    NoCredentials(Arc<str>),
    /// The server took the connection, and then did not answer in time, or broke it off. Contains
    /// the details.
    Silent(Arc<str>),
    /// The server has as many clients as it accepts. Contains its words.
    TooManyClients(Arc<str>),
    /// The server has more than four fifths of the clients that it accepts.
    NearlyFull {
        /// The number of its clients, the preflight's own connection among them.
        clients: u64,
        /// The most that it accepts: its `maxclients`, or less if it may not open that many files.
        most: u64,
    },
    /// The server answers, and so slowly that an option is too short for it.
    TooShort {
        /// The option.
        option: &'static str,
        /// Its current value.
        is: Duration,
        /// The value that would fit the measured round trip.
        needs: Duration,
        /// Every answer of this master comes too late.
        never_votes: bool,
    },
    /// The server that answers there is not Redis. Contains what it says instead.
    NotRedis(Arc<str>),
    /// The server is a node of a cluster, which moves keys and promotes replicas by itself.
    Cluster,
    /// The server is a Sentinel, which watches masters and keeps no keys.
    Sentinel,
    /// The server answers, but refuses this client: password, user, database. Contains its words.
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
    /// The master is trusted to keep every write, and will drop those of fenced locks and of several
    /// resources when it reads its append-only file: its user `default` may not make them. Contains
    /// the server's words.
    DropsTransactions(Arc<str>),
    /// Another client of the master is configured with something else, or was until recently.
    Disagrees(Difference),
    /// Another configured address leads to the same server. Contains that address.
    SameServer(Arc<str>),
    /// Its clock and ours are far apart.
    ClockOff(ClockOffset),
    /// Its clock has stopped, was set, or runs at another speed than ours: further off than the
    /// drift.
    ClockSpeed {
        /// The time that has passed here between two questions.
        ours: Duration,
        /// The time that has passed by its clock between the answers; zero if that went back.
        theirs: Duration,
    },
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
        /// The permission.
        permission: Permission,
        /// The server's words.
        error: Arc<str>,
    },
    /// Our user may do this, but it did not work.
    Fails {
        /// The permission that was tried.
        permission: Permission,
        /// The server's words.
        error: Arc<str>,
    },
}

/// Declares, for each kind, the severity of the finding, its text and its remedy.
macro_rules! findings {
    ($($kind:pat $(if $when:expr)? => $severity:expr, [$($text:tt)+], [$($remedy:tt)+];)+) => {
        impl FindingKind {
            /// Returns its severity, its text and its remedy.
            fn row(&self) -> (Severity, String, String) {
                match self {
                    $($kind $(if $when)? => ($severity, format!($($text)+), format!($($remedy)+)),)+
                }
            }
        }
    };
}

findings! {
    Self::Unreachable(cause) => Failure, ["not reachable ({cause})"],
        ["start it, or fix its address or the network on the way"];
    Self::NoCredentials(cause) => Failure, ["no credentials for it ({cause})"],
        ["see why their provider fails, such as the file in credentials_file"];
    Self::Silent(cause) => Failure, ["fell silent ({cause})"],
        ["see whether it is stopped, overloaded, at its maxclients, or not a Redis server; if it is only \
          slow, raise operation_timeout"];
    Self::TooManyClients(cause) => Failure, ["takes no more clients ({cause})"],
        ["raise its maxclients, or find the clients that keep so many connections open (CLIENT LIST)"];
    Self::NearlyFull { clients, most } => Warning,
        ["has {clients} of the {most} clients that it accepts"],
        ["raise its maxclients, and its limit of open files with it: once it is full, a client that \
          starts or reconnects cannot use it"];
    Self::TooShort { option, is, needs, never_votes } =>
        if *never_votes { Failure } else { Warning },
        ["its round trip is long for {option} ({})", Span(*is)],
        ["raise {option} to {} or more, if it cannot stand nearer", Span(*needs)];
    Self::NotRedis(reply) => Failure, ["not a Redis server ({reply})"],
        ["fix host and port in its address: something else listens there"];
    Self::Cluster => Failure, ["a node of a cluster"],
        ["name independent masters, with cluster-enabled no: a cluster decides by itself where a \
          key is"];
    Self::Sentinel => Failure, ["a Sentinel"],
        ["name independent masters, each by its own port and without replicas to fail over to"];
    Self::Rejected(cause) if wire::is_unknown(cause) => Failure, ["refuses this client ({cause})"],
        ["upgrade it to Redis 6.2 or later, or end its rename-command of HELLO"];
    Self::Rejected(cause) => Failure, ["refuses this client ({cause})"],
        ["fix user, password or database in its address"];
    Self::TooOld(version) => Failure, ["Redis {version} is too old"],
        ["upgrade it to Redis 6.2 or later"];
    Self::Replica(Some(master)) => Failure, ["a replica of {master}"],
        ["name independent masters only"];
    Self::Replica(None) => Failure, ["a replica"], ["name independent masters only"];
    Self::Promoted => Failure, ["was promoted from a replica, and may lack keys that were granted"],
        ["replace it by a master that starts empty"];
    Self::HasReplicas(1) => Warning, ["a replica is attached"], ["{DETACH}"];
    Self::HasReplicas(count) => Warning, ["{count} replicas are attached"], ["{DETACH}"];
    Self::Evicts { maxmemory, policy } => Failure,
        ["evicts keys from {maxmemory} bytes on (maxmemory-policy {policy})"],
        ["set maxmemory-policy noeviction: each key of a lock has a ttl, which the volatile \
          policies look for"];
    Self::WouldEvict(policy) => Note,
        ["would evict keys if it had a maxmemory (maxmemory-policy {policy})"],
        ["set maxmemory-policy noeviction before anybody sets maxmemory: until then it keeps all \
          keys"];
    Self::EvictionUntold => Warning, ["does not say whether it evicts keys"],
        ["make sure that its maxmemory-policy is noeviction"];
    Self::Forgets { persistence, stays_away: None } => Warning,
        ["may lose keys in a restart ({persistence})"],
        ["nothing keeps it from voting after one without the restart guard, and what was held \
          could be granted again: turn restart_guard on"];
    Self::Forgets { persistence, stays_away: Some(away) } => Note,
        ["may lose keys in a restart ({persistence})"],
        ["the restart guard keeps it from voting for {} after one; only appendonly yes, \
          appendfsync always and no-appendfsync-on-rewrite no lose nothing", Span(*away)];
    Self::JustStarted { uptime, votes_in: None } => Warning, ["started {} ago", Span(*uptime)],
        ["nothing keeps it from voting without the restart guard, though what it granted before \
          may still be held: turn restart_guard on"];
    Self::JustStarted { uptime, votes_in: Some(votes_in) } => Note,
        ["started {} ago", Span(*uptime)],
        ["the restart guard lets it vote in {}: what it granted before may be held until then",
         Span(*votes_in)];
    Self::NotPersistent(persistence) => Failure, ["does not keep every write ({persistence})"],
        ["a restart_guard that trusts persistence needs appendonly yes, appendfsync always and \
          no-appendfsync-on-rewrite no: set them, or leave it out"];
    Self::DropsTransactions(words) => Failure,
        ["would drop transactions when it reads its append-only file ({words})"],
        ["ACL SETUSER default ~* &* +@all, which may stay off: the server reads the file as that \
          user, and would forget fenced locks and those of several resources"];
    Self::Disagrees(difference) => Failure, ["{difference}"], ["{}", difference.remedy()];
    Self::SameServer(other) => Failure, ["the same server as {other}"],
        ["name each master once: one server is one vote"];
    Self::ClockOff(offset) => Warning,
        ["its clock is {} {} this host's", Span(offset.distance()),
         if offset.as_micros() < 0 { "behind" } else { "ahead of" }],
        ["keep both clocks synchronised (NTP): fenced locks depend on them"];
    Self::ClockSpeed { ours, theirs: Duration::ZERO } => Failure,
        ["its clock stood still for {}", Span(*ours)], ["{SPEED}"];
    Self::ClockSpeed { ours, theirs } => Failure,
        ["its clock moved on by {} in {}", Span(*theirs), Span(*ours)], ["{SPEED}"];
    Self::ClocksApart { behind, ahead, by, bound } => Failure,
        ["the clock of {ahead} is {} ahead of that of {behind}, over {}", Span(*by), Span(*bound)],
        ["keep their clocks synchronised (NTP)"];
    Self::Withheld { permission, error } => permission.severity(),
        ["{permission} is denied ({error})"],
        ["{}", permission.to_grant(error)];
    Self::Fails { permission, error } => permission.severity(), ["{permission} fails ({error})"],
        ["fix what it reports; until then {}", permission.cost()];
}

const DETACH: &str = "detach them: no lock needs them, and one that is promoted later brings a \
                      second copy of the keys";

const SPEED: &str = "fix the clock of its machine, or of this host if it is found at all masters: locks need clocks \
                     of nearly the same speed, within the drift (A2 of SAFETY.md), or keys expire early, late or never";

impl From<FindingKind> for Finding {
    fn from(kind: FindingKind) -> Self {
        let (severity, _, remedy) = kind.row();
        Self { kind, severity, remedy: remedy.into() }
    }
}

impl Finding {
    /// Checks whether it makes the master unfit.
    #[must_use]
    pub fn is_failure(&self) -> bool {
        self.severity == Failure
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(["note", "warning", "failure"][*self as usize])
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.severity, self.kind, OneLine(&self.remedy))
    }
}

impl fmt::Display for FindingKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        OneLine(self.row().1).fmt(f)
    }
}

//! What our user at a master must be allowed to do, and what it costs where it is not.

use super::Severity;
use std::fmt;

/// A right that this crate uses, named by the command.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
pub enum Right {
    /// `SET key token NX PX ttl`: the acquire.
    Set,
    /// `EVAL`, with `GET` and `DEL` in the script: release and rollback.
    Eval,
    /// `SCRIPT LOAD`: the extension's script.
    ScriptLoad,
    /// `EVALSHA`, with `GET`, `PTTL` and `PEXPIRE` in the script: the extension.
    EvalSha,
    /// `PTTL`: how long another holder's key has yet to live.
    Pttl,
    /// `CLIENT KILL`: the end of a replaced connection.
    ClientKill,
    /// `INFO`: which server this is, and since when.
    Info,
    /// `CONFIG GET`: whether each write is persisted.
    ConfigGet,
    /// `TIME` within a script: what a fenced acquire is measured by.
    ScriptTime,
    /// `TIME`: the clock, for this report.
    Time,
    /// `PUBLISH`: a release tells who waits.
    Publish,
    /// `SUBSCRIBE`: who waits is told of a release.
    Subscribe,
}

impl Right {
    /// What does not work without it.
    #[must_use]
    pub const fn cost(self) -> &'static str {
        match self {
            Self::Set => "no lock can be had there",
            Self::Eval => "nothing is released or rolled back there: keys stay until they expire",
            Self::ScriptLoad | Self::EvalSha => "no lock can be extended or kept alive there",
            Self::Pttl => "who waits does not learn for how long, and asks more often",
            Self::ClientKill => "a late SET on a replaced connection can leave a key for one ttl",
            Self::Info => {
                "a replica, a restart or a server that is named twice goes unnoticed, and a late \
                 SET can leave a key for one ttl"
            }
            Self::ConfigGet => "nobody can tell whether each write is persisted",
            Self::ScriptTime => "no fenced lock can be had there",
            Self::Time => "its clock cannot be compared",
            Self::Publish | Self::Subscribe => {
                "a release wakes nobody in other processes: they poll"
            }
        }
    }

    pub(super) const fn severity(self) -> Severity {
        match self {
            Self::Set | Self::Eval | Self::ScriptLoad | Self::EvalSha => Severity::Failure,
            Self::Pttl | Self::ClientKill | Self::Info | Self::ScriptTime => Severity::Warning,
            Self::ConfigGet | Self::Time | Self::Publish | Self::Subscribe => Severity::Note,
        }
    }

    /// As `ACL SETUSER` takes it.
    const fn rule(self) -> &'static str {
        match self {
            Self::Set => "+set",
            Self::Eval => "+eval +get +del",
            Self::ScriptLoad => "+script|load",
            Self::EvalSha => "+evalsha +get +pttl +pexpire",
            Self::Pttl => "+pttl",
            Self::ClientKill => "+client|kill",
            Self::Info => "+info",
            Self::ConfigGet => "+config|get",
            Self::ScriptTime | Self::Time => "+time",
            Self::Publish => "+publish",
            Self::Subscribe => "+subscribe +unsubscribe",
        }
    }

    /// What to grant, by what the server says is missing.
    pub(super) fn to_grant(self, error: &str) -> String {
        let whose = if error.contains("one of the keys") || error.contains("access at least one") {
            "a pattern that covers our keys (~)"
        } else if error.contains("one of the channels") {
            "a pattern that covers our channels (&)"
        } else {
            self.rule()
        };
        format!("grant {whose}; without it {}", self.cost())
    }
}

impl fmt::Display for Right {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Set => "SET",
            Self::Eval => "EVAL",
            Self::ScriptLoad => "SCRIPT LOAD",
            Self::EvalSha => "EVALSHA",
            Self::Pttl => "PTTL",
            Self::ClientKill => "CLIENT KILL",
            Self::Info => "INFO",
            Self::ConfigGet => "CONFIG GET",
            Self::ScriptTime => "TIME within a script",
            Self::Time => "TIME",
            Self::Publish => "PUBLISH",
            Self::Subscribe => "SUBSCRIBE",
        })
    }
}

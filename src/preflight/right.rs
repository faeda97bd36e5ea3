//! The rights that our user at a master needs, and the cost of lacking them.

use super::Severity;
use quorumlock_core::coordinator::wire;
use std::fmt;

/// A right that this crate uses, named by the command.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
pub enum Right {
    /// `SET key token NX PX ttl`: the acquire.
    Set,
    /// `EVAL`: release, rollback, the agreement with other clients, `inspect`.
    Eval,
    /// `SCRIPT LOAD`: the scripts of extensions, fenced acquires and several resources.
    ScriptLoad,
    /// `EVALSHA`: extensions, fenced acquires, several resources; releases that need not be in
    /// full.
    EvalSha,
    /// `GET`, within scripts: the owner of a key.
    Get,
    /// `DEL`, within scripts: release and rollback.
    Del,
    /// `DELIFEQ`: release and rollback, where the server has it (Valkey 9).
    DelIfEq,
    /// `PTTL`: the remaining life of a key, within scripts too.
    Pttl,
    /// `PEXPIRE`, within scripts: the extension, and the life of the agreement.
    Pexpire,
    /// `TIME`: the clock that fenced acquires and the agreement use, within scripts.
    Time,
    /// `HGET`, within a script: the agreement.
    Hget,
    /// `HGETALL`: the agreement, within a script; this report reads it, too.
    Hgetall,
    /// `HSET`, within a script: the agreement.
    Hset,
    /// `HDEL`, within a script: the agreement, once a list of masters is out of use.
    Hdel,
    /// `CLIENT KILL`: the end of a replaced connection.
    ClientKill,
    /// `INFO`: which server this is, and since when.
    Info,
    /// `CONFIG GET`: whether each write is persisted.
    ConfigGet,
    /// `PUBLISH`: a release notifies the waiters.
    Publish,
    /// `SUBSCRIBE`: a waiter is notified of a release.
    Subscribe,
}

/// The words for a missing right to keys, until 7.0 and from 7.2 on.
const KEYS: [&str; 3] = ["one of the keys", "access at least one", "permissions to access a key"];
const CHANNELS: [&str; 2] = ["one of the channels", "permissions to access a channel"];

impl Right {
    /// Returns what does not work without it.
    #[must_use]
    pub const fn cost(self) -> &'static str {
        match self {
            Self::Set => "no lock can be had there",
            Self::Eval | Self::Time | Self::Hget | Self::Hgetall | Self::Hset => {
                "connect() refuses it: clients could not agree there"
            }
            Self::Pexpire => {
                "connect() refuses it: clients could not agree there, and no lock be extended"
            }
            Self::Hdel => "connect() refuses it while a list of masters is noted that lapsed",
            Self::ScriptLoad | Self::EvalSha => {
                "no lock can be extended or kept alive there, and neither fenced locks nor several \
                 resources be had"
            }
            Self::Get => {
                "nothing is released, rolled back or extended there (keys stay until they expire), \
                 and neither fenced locks nor several resources can be had"
            }
            Self::Del => "nothing is released or rolled back there: keys stay until they expire",
            Self::DelIfEq => {
                "releases go by a script instead, which costs the server three times as much"
            }
            Self::Pttl => {
                "no lock can be extended or kept alive there, and who waits does not learn for how \
                 long"
            }
            Self::ClientKill => "a late SET on a replaced connection can leave a key for one ttl",
            Self::Info => {
                "a replica, a restart or a server that is named twice goes unnoticed, the restart \
                 guard keeps it from voting for a while after every connection, and a late SET can \
                 leave a key for one ttl"
            }
            Self::ConfigGet => {
                "nobody can tell whether each write is persisted, and trust_persistence() changes \
                 nothing"
            }
            Self::Publish => "a release there wakes nobody who waits: they only poll",
            Self::Subscribe => "who waits is not woken by a release there, and only polls",
        }
    }

    pub(super) const fn severity(self) -> Severity {
        match self {
            Self::Hdel | Self::ClientKill | Self::Info => Severity::Warning,
            Self::DelIfEq | Self::ConfigGet | Self::Publish | Self::Subscribe => Severity::Note,
            _ => Severity::Failure,
        }
    }

    /// Returns the right in the notation of `ACL SETUSER`.
    const fn rule(self) -> &'static str {
        match self {
            Self::Set => "+set",
            Self::Eval => "+eval",
            Self::ScriptLoad => "+script|load",
            Self::EvalSha => "+evalsha",
            Self::Get => "+get",
            Self::Del => "+del",
            Self::DelIfEq => "+delifeq",
            Self::Pttl => "+pttl",
            Self::Pexpire => "+pexpire",
            Self::Time => "+time",
            Self::Hget => "+hget",
            Self::Hgetall => "+hgetall",
            Self::Hset => "+hset",
            Self::Hdel => "+hdel",
            Self::ClientKill => "+client|kill",
            Self::Info => "+info",
            Self::ConfigGet => "+config|get",
            Self::Publish => "+publish",
            Self::Subscribe => "+subscribe +unsubscribe",
        }
    }

    /// Returns the right to a command that is called within scripts, by the command's name.
    pub(super) fn named(command: &str) -> Option<Self> {
        Some(match command {
            "SET" => Self::Set,
            "GET" => Self::Get,
            "DEL" => Self::Del,
            "PTTL" => Self::Pttl,
            "PEXPIRE" => Self::Pexpire,
            "TIME" => Self::Time,
            "HGET" => Self::Hget,
            "HGETALL" => Self::Hgetall,
            "HSET" => Self::Hset,
            "HDEL" => Self::Hdel,
            _ => return None,
        })
    }

    /// Returns what to grant, according to what the server says is missing.
    pub(super) fn to_grant(self, error: &str) -> String {
        let says = |words: &[&str]| words.iter().any(|words| error.contains(words));
        let what = if says(&KEYS) {
            "grant a pattern that covers our keys (~)".to_owned()
        } else if says(&CHANNELS) {
            "grant a pattern that covers our channels (&)".to_owned()
        } else if wire::is_unknown(error) {
            "the server lacks it or has it renamed (rename-command): bring it back".to_owned()
        } else {
            format!("grant {}", self.rule())
        };
        format!("{what}; without it {}", self.cost())
    }
}

impl fmt::Display for Right {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Set => "SET",
            Self::Eval => "EVAL",
            Self::ScriptLoad => "SCRIPT LOAD",
            Self::EvalSha => "EVALSHA",
            Self::Get => "GET",
            Self::Del => "DEL",
            Self::DelIfEq => "DELIFEQ",
            Self::Pttl => "PTTL",
            Self::Pexpire => "PEXPIRE",
            Self::Time => "TIME",
            Self::Hget => "HGET",
            Self::Hgetall => "HGETALL",
            Self::Hset => "HSET",
            Self::Hdel => "HDEL",
            Self::ClientKill => "CLIENT KILL",
            Self::Info => "INFO",
            Self::ConfigGet => "CONFIG GET",
            Self::Publish => "PUBLISH",
            Self::Subscribe => "SUBSCRIBE",
        })
    }
}

//! The permissions that our user at a master needs, and the cost of lacking them.

use super::Severity::{self, Failure, Note, Warning};
use quorumlock_core::coordinator::wire;
use std::fmt;

/// Declares every permission: its command, and the severity and the cost of lacking it.
macro_rules! permissions {
    ($($(#[$about:meta])+ $permission:ident = $command:literal, $severity:ident: $cost:expr;)+) => {
        /// A permission that this crate uses, named by the command.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[non_exhaustive]
        pub enum Permission { $($(#[$about])+ $permission,)+ }

        impl Permission {
            const ALL: &[Self] = &[$(Self::$permission),+];

            /// Returns its command, and the severity and the cost of lacking it.
            const fn row(self) -> (&'static str, Severity, &'static str) {
                match self { $(Self::$permission => ($command, $severity, $cost),)+ }
            }
        }
    };
}

permissions! {
    /// `SET key token NX PX ttl`: the acquire.
    Set = "SET", Failure: "no lock can be acquired there";
    /// `EVAL`: release, rollback, the agreement with other clients, `inspect`.
    Eval = "EVAL", Failure: NO_AGREEMENT;
    /// `SCRIPT LOAD`: the scripts of extensions, fenced acquires and several resources.
    ScriptLoad = "SCRIPT LOAD", Failure: NO_SCRIPTS;
    /// `EVALSHA`: extensions, fenced acquires, several resources; releases that need not be in
    /// full.
    EvalSha = "EVALSHA", Failure: NO_SCRIPTS;
    /// `GET`, within scripts: the owner of a key.
    Get = "GET", Failure:
        "nothing is released, rolled back or extended there (keys stay until they expire), and \
         no fenced lock and no lock of several resources can be acquired";
    /// `DEL`, within scripts: release and rollback.
    Del = "DEL", Failure: "nothing is released or rolled back there: keys stay until they expire";
    /// `DELIFEQ`: release and rollback, where the server has it (Valkey 9).
    DelIfEq = "DELIFEQ", Note:
        "releases go by a script instead, which costs the server three times as much";
    /// `DELEX`: release and rollback, where the server has it (Redis 8.4).
    DelEx = "DELEX", Note:
        "releases go by a script instead, which costs the server three times as much";
    /// `PTTL`: the remaining life of a key, within scripts too.
    Pttl = "PTTL", Failure:
        "no lock can be extended or kept alive there, and waiters cannot see the remaining time";
    /// `PEXPIRE`, within scripts: the extension, and the life of the agreement.
    Pexpire = "PEXPIRE", Failure:
        "connect() refuses it: clients could not agree there, and no lock be extended";
    /// `TIME`: the clock that fenced acquires and the agreement use, within scripts.
    Time = "TIME", Failure: NO_AGREEMENT;
    /// `HGET`, within a script: the agreement.
    Hget = "HGET", Failure: NO_AGREEMENT;
    /// `HGETALL`: the agreement, within a script; this report reads it, too.
    Hgetall = "HGETALL", Failure: NO_AGREEMENT;
    /// `HSET`, within a script: the agreement.
    Hset = "HSET", Failure: NO_AGREEMENT;
    /// `HDEL`, within a script: the agreement, once a list of masters is out of use.
    Hdel = "HDEL", Warning: "connect() refuses it while a list of masters is noted that lapsed";
    /// `ZADD`, within scripts: a reader of a read-write lock, a place in a waitlist.
    Zadd = "ZADD", Warning: NO_SORTED_SETS;
    /// `ZREM`, within scripts: a reader or a waiter that leaves.
    Zrem = "ZREM", Warning: NO_SORTED_SETS;
    /// `ZSCORE`, within scripts: until when a reader reads, where in a waitlist a client is.
    Zscore = "ZSCORE", Warning: NO_SORTED_SETS;
    /// `ZRANGE`, within scripts: the last of the readers, the readers, and the first in a waitlist.
    Zrange = "ZRANGE", Warning: NO_SORTED_SETS;
    /// `ZREMRANGEBYSCORE`, within scripts: readers whose time is over.
    ZremRangeByScore = "ZREMRANGEBYSCORE", Warning: NO_READERS;
    /// `ZRANGEBYSCORE`, within scripts: the waiters that have died, and how many wait.
    ZrangeByScore = "ZRANGEBYSCORE", Warning: NO_WAITLIST;
    /// `ZRANK`, within scripts: how many are ahead in a waitlist.
    Zrank = "ZRANK", Warning: NO_WAITLIST;
    /// `ZCARD`, within scripts: how long a waitlist is.
    Zcard = "ZCARD", Warning: NO_WAITLIST;
    /// `CLIENT KILL`: the end of a replaced connection.
    ClientKill = "CLIENT KILL", Warning:
        "a late SET on a replaced connection can leave a key for one ttl";
    /// `INFO`: which server this is, and since when.
    Info = "INFO", Warning:
        "a replica, a restart or a server that is named twice goes unnoticed, the restart guard \
         keeps it from voting for a while after every connection, and a late SET can leave a key \
         for one ttl";
    /// `CONFIG GET`: whether each write is persisted.
    ConfigGet = "CONFIG GET", Note:
        "nobody can tell whether each write is persisted, and a restart_guard that trusts \
         persistence changes nothing";
    /// `ACL DRYRUN`: rights of the user `default`, as which a server reads its append-only file.
    AclDryRun = "ACL DRYRUN", Note:
        "this report cannot tell whether the user default may SET (ACL GETUSER default shows it); \
         many servers read their append-only file as that user";
    /// `SCAN`: the list of locks.
    Scan = "SCAN", Note: "no list of locks can be made there; locks do not need it";
    /// `PUBSUB NUMSUB`: how many clients wait for a lock, in a list.
    PubSubNumSub = "PUBSUB NUMSUB", Note:
        "a list of locks does not say how many wait; locks do not need it";
    /// `PUBLISH`: a release notifies the waiters.
    Publish = "PUBLISH", Note: "releases there cannot notify waiters, which fall back to polling";
    /// `SUBSCRIBE`: a waiter is notified of a release.
    Subscribe = "SUBSCRIBE", Note: "waiters there are not notified of a release, and fall back to polling";
}

const NO_AGREEMENT: &str = "connect() refuses it: clients could not agree there";
const NO_READERS: &str = "no read-write lock can be read there, and no writer be downgraded; other \
                          locks do not need it";
const NO_WAITLIST: &str = "there is no waitlist there: clients poll, in no order (fair)";
const NO_SORTED_SETS: &str = "no read-write lock can be read there, no writer be downgraded, and there \
                              is no waitlist: clients poll, in no order (fair)";
const NO_SCRIPTS: &str = "no lock can be extended or kept alive there, and no fenced lock and no \
                          lock of several resources be acquired";

/// The words for a missing permission for keys, until 7.0 and from 7.2 on.
const KEYS: [&str; 3] = ["one of the keys", "access at least one", "permissions to access a key"];
const CHANNELS: [&str; 2] = ["one of the channels", "permissions to access a channel"];

impl Permission {
    /// Returns what does not work without it.
    #[must_use]
    pub const fn cost(self) -> &'static str {
        self.row().2
    }

    pub(super) const fn severity(self) -> Severity {
        self.row().1
    }

    /// Returns the permission for the command of this name.
    pub(super) fn named(command: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|permission| permission.row().0 == command)
    }

    /// Returns what to grant, according to what the server says is missing.
    pub(super) fn to_grant(self, error: &str) -> String {
        let says = |words: &[&str]| words.iter().any(|words| error.contains(words));
        let what = if says(&KEYS) {
            "grant a pattern that covers the client's keys (~), or set the key_prefix that a \
             granted one covers"
                .to_owned()
        } else if says(&CHANNELS) {
            "grant a pattern that covers the client's channels (&)".to_owned()
        } else if wire::is_unknown(error) {
            "the server lacks it or has it renamed (rename-command): bring it back".to_owned()
        } else {
            format!("grant {}", self.rule())
        };
        format!("{what}; without it {}", self.cost())
    }

    /// Returns the permission in the notation of `ACL SETUSER`.
    fn rule(self) -> String {
        let rule = format!("+{}", self.row().0.to_ascii_lowercase().replace(' ', "|"));
        if self == Self::Subscribe { rule + " +unsubscribe" } else { rule }
    }
}

impl fmt::Display for Permission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.row().0)
    }
}

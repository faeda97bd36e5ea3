//! Why a master has no session.

use super::wire::Reply;
use crate::report::Reason;
use std::sync::Arc;

/// Why a master has no session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) kind: FaultKind,
    pub(crate) cause: Arc<str>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FaultKind {
    /// Not reachable, or lost: it may come back by itself.
    Down,
    /// It answers, and says that it cannot be used like this: credentials, rights, version.
    Rejected,
    /// It answers, and is no independent master.
    Unfit,
}

/// What HELLO says of itself where it is no master by itself: its `mode`.
pub(crate) const CLUSTER: &str = "cluster";
pub(crate) const SENTINEL: &str = "sentinel";

/// Before it is let in, whatever it sends.
pub(crate) const TOO_MANY_CLIENTS: &str = "max number of clients";

impl Fault {
    pub(super) fn down(cause: impl Into<Arc<str>>) -> Self {
        Self { kind: FaultKind::Down, cause: cause.into() }
    }

    pub(super) fn rejected(cause: impl Into<Arc<str>>) -> Self {
        Self { kind: FaultKind::Rejected, cause: cause.into() }
    }

    pub(super) fn unfit(cause: impl Into<Arc<str>>) -> Self {
        Self { kind: FaultKind::Unfit, cause: cause.into() }
    }

    /// An answer to HELLO that is not the one of a master that lets us in.
    pub(crate) fn from_hello(reply: &Reply) -> Self {
        let Some(error) = reply.error().cloned() else {
            return Self::rejected("HELLO 3 was not answered as by a Redis server");
        };
        if error.contains("unknown command") {
            // What follows repeats our arguments, the password among them.
            let error = error.split(", with args").next().unwrap_or_default();
            let needed = "Redis 6.2 or later is needed, and HELLO not renamed";
            return Self::rejected(format!("{error}: {needed}"));
        }
        match error.split(' ').next() {
            // Its own words speak of HELLO, which nobody wrote.
            Some("NOAUTH") => {
                Self::rejected("NOAUTH it asks for a password: redis://:password@host:port")
            }
            Some("WRONGPASS" | "NOPERM" | "DENIED") => Self::rejected(error),
            _ if error.contains(TOO_MANY_CLIENTS) => Self::down(format!("{error} (maxclients)")),
            _ => Self::down(error),
        }
    }

    /// What is no master by itself, by the `mode` in its answer to HELLO.
    pub(crate) fn from_mode(hello: &Reply) -> Option<Self> {
        let what = match hello.field("mode")? {
            CLUSTER => "a node of a cluster, which moves keys and promotes replicas by itself",
            SENTINEL => "a Sentinel, which keeps no keys",
            _ => return None,
        };
        Some(Self::unfit(format!("{what}: name independent masters only")))
    }

    /// An error to SELECT: a database that there is none of, or a passing one (BUSY, LOADING).
    pub(crate) fn from_select(error: &str, database: i64) -> Self {
        let cause = format!("{error}: database {database}");
        match error.split(' ').next() {
            Some("ERR" | "NOPERM") => Self::rejected(cause),
            _ => Self::down(cause),
        }
    }

    pub(super) fn reason(&self) -> Reason {
        match self.kind {
            FaultKind::Down | FaultKind::Rejected => Reason::Down(self.cause.clone()),
            FaultKind::Unfit => Reason::Unfit(self.cause.clone()),
        }
    }
}

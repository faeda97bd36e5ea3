//! The reason why a master has no session.

use crate::report::Refusal;
use crate::wire::Reply;
use std::sync::Arc;

/// The reason why a master has no session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    pub kind: FaultKind,
    pub cause: Arc<str>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// The master is not reachable, or was lost: it may come back by itself.
    Down,
    /// The master answers, and reports that it cannot be used like this: credentials, rights,
    /// version.
    Rejected,
    /// The master answers, and is not an independent master.
    Unfit,
}

/// The `mode` in the answer to HELLO of a server that is not a master by itself.
pub const CLUSTER: &str = "cluster";
pub const SENTINEL: &str = "sentinel";

/// The error that a client gets before it is let in, whatever it sends.
pub const TOO_MANY_CLIENTS: &str = "max number of clients";

impl Fault {
    pub(crate) fn down(cause: impl Into<Arc<str>>) -> Self {
        Self { kind: FaultKind::Down, cause: cause.into() }
    }

    pub(crate) fn rejected(cause: impl Into<Arc<str>>) -> Self {
        Self { kind: FaultKind::Rejected, cause: cause.into() }
    }

    pub(crate) fn unfit(cause: impl Into<Arc<str>>) -> Self {
        Self { kind: FaultKind::Unfit, cause: cause.into() }
    }

    /// Reads an answer to HELLO that is not the one of a master that lets us in.
    pub fn from_hello(reply: &Reply) -> Self {
        let Some(error) = reply.error().cloned() else {
            return Self::rejected("HELLO 3 was not answered as by a Redis server");
        };
        if error.contains("unknown command") {
            // What follows repeats our arguments, including the password.
            let error = error.split(", with args").next().unwrap_or_default();
            let needed = "Redis 6.2 or later is needed, and HELLO not renamed";
            return Self::rejected(format!("{error}: {needed}"));
        }
        match error.split(' ').next() {
            // The server's own words mention HELLO, which the user did not write.
            Some("NOAUTH") => {
                Self::rejected("NOAUTH it asks for a password: redis://:password@host:port")
            }
            Some("WRONGPASS" | "NOPERM" | "DENIED") => Self::rejected(error),
            _ if error.contains(TOO_MANY_CLIENTS) => Self::down(format!("{error} (maxclients)")),
            _ => Self::down(error),
        }
    }

    /// Returns a fault if the `mode` in the answer to HELLO is not the one of an independent
    /// master.
    pub fn from_mode(hello: &Reply) -> Option<Self> {
        let what = match hello.field("mode")? {
            CLUSTER => "a node of a cluster, which moves keys and promotes replicas by itself",
            SENTINEL => "a Sentinel, which keeps no keys",
            _ => return None,
        };
        Some(Self::unfit(format!("{what}: name independent masters only")))
    }

    /// Reads an error to SELECT: the database does not exist, or the error is transient (BUSY,
    /// LOADING).
    pub fn from_select(error: &str, database: i64) -> Self {
        let cause = format!("{error}: database {database}");
        match error.split(' ').next() {
            Some("ERR" | "NOPERM") => Self::rejected(cause),
            _ => Self::down(cause),
        }
    }

    pub(crate) fn refusal(&self) -> Refusal {
        match self.kind {
            FaultKind::Down | FaultKind::Rejected => Refusal::Down(self.cause.clone()),
            FaultKind::Unfit => Refusal::Unfit(self.cause.clone()),
        }
    }
}

//! What must be known, and who must be dead, before the first SET.

use super::{Purpose, Session, Settled, State};
use crate::coordinator::fault::Fault;
use crate::coordinator::{Settings, wire};
use crate::quorum::Instant;
use redis::Value;
use std::sync::Arc;

/// What the handshake tells of a connection.
#[derive(Clone, Default)]
pub(in crate::coordinator) struct Identity {
    client_id: Option<i64>,
    /// The server process; `None` if INFO is denied.
    pub(in crate::coordinator) run_id: Option<Arc<str>>,
    pub(in crate::coordinator) replica_of: Option<Arc<str>>,
}

impl Identity {
    fn learn(&mut self, info: &Value) {
        let Some(info) = wire::text(info) else { return };
        if let Some(run_id) = wire::info_field(info, "run_id") {
            self.run_id = Some(run_id.into());
        }
        if let Some(host) = wire::info_field(info, "master_host") {
            let port = wire::info_field(info, "master_port").unwrap_or("?");
            self.replica_of = Some(format!("{host}:{port}").into());
        }
    }

    /// Whether an INFO reply comes from another server process.
    pub(super) fn contradicts(&self, info: &Value) -> bool {
        let told = wire::text(info).and_then(|info| wire::info_field(info, "run_id"));
        matches!((&self.run_id, told), (Some(mine), Some(told)) if **mine != *told)
    }
}

impl Session {
    /// The stream is there: everything that must be known before the first SET, in one write.
    pub(in crate::coordinator) fn connected(&mut self, now: Instant, settings: &Settings) {
        self.identity = Identity::default();
        self.state = State::Handshake { until: now.after(settings.connect_timeout) };
        self.push(Purpose::Hello, &wire::hello(&self.login));
        if self.login.database != 0 {
            self.push(Purpose::Select, &wire::select(self.login.database));
        }
        self.push(Purpose::InfoServer, &wire::info("server"));
        self.push(Purpose::InfoReplication, &wire::info("replication"));
        self.push(Purpose::Load, &wire::load(wire::EXTEND));
    }

    pub(super) fn hello_answered(&mut self, reply: &Value) -> Settled {
        self.identity.client_id = wire::hello_id(reply);
        if self.identity.client_id.is_some() {
            Settled::Nothing
        } else {
            Settled::Broken(Fault::from_hello(reply))
        }
    }

    /// A denied INFO tells nothing. Any other error (BUSY, say) is no reason to go on without the
    /// `run_id`: it is what the hand-over and the search for twins rest on.
    pub(super) fn info_answered(&mut self, reply: &Value) -> Settled {
        if let Some(error) = wire::error(reply).filter(|_| !wire::is_denied(reply)) {
            return Settled::Broken(Fault::down(error));
        }
        self.identity.learn(reply);
        Settled::Nothing
    }

    /// Kills the predecessor; `true` if there is nobody to wait for. A server that has restarted
    /// since has it no more, and its ids start over: the wrong client would die.
    pub(in crate::coordinator) fn hand_over(&mut self, now: Instant) -> bool {
        let Some(predecessor) = &self.predecessor else { return true };
        let id = match (&predecessor.run_id, &self.identity.run_id) {
            (Some(theirs), Some(mine)) if theirs == mine => predecessor.client_id,
            (Some(_), Some(_)) => return true,
            _ => None,
        };
        match id {
            Some(id) => self.push(Purpose::Kill, &wire::kill(id)),
            // INFO is denied: nobody knows whose id that is now.
            None => self.unkillable_since = Some(now),
        }
        id.is_none()
    }

    pub(super) fn kill_answered(&mut self, now: Instant, reply: &Value) -> Settled {
        match reply {
            // Zero: it was gone already.
            Value::Int(_) => {}
            // Without the right to kill, repeating the rollback for a ttl is the best there is.
            denied if wire::is_denied(denied) => self.unkillable_since = Some(now),
            other => return Settled::Broken(Fault::down(wire::unexpected(other))),
        }
        Settled::HandedOver
    }
}

//! The steps before the first SET: what must be known, and which connection must be dead.

use super::confirmation::Confirmation;
use super::releases::Known;
use super::{Identity, State};
use crate::master::{Fault, Incoming, PendingReply, RestartGuard, Session};
use crate::quorum::Instant;
use crate::wire::{self, Native, Reply};

/// The sections read from a server: its process and age, its role, whether it evicts keys.
const SECTIONS: [&str; 3] = ["server", "replication", "memory"];

/// The scripts that each session loads.
const SCRIPTS: [&str; 2] = [wire::ACQUIRE, wire::EXTEND];

impl Session {
    /// Sends, once the stream is there, everything that must be known before the first SET, in one
    /// write. If a database has to be selected, the rest waits for that: otherwise it would run in
    /// another one.
    pub(crate) fn connected(&mut self, now: Instant) {
        self.identity = Identity::default();
        self.confirmation = Confirmation::default();
        self.departure.connected();
        self.known = Known::default();
        self.state = State::Handshake { until: now.after(self.settings.connect_timeout) };
        self.push(PendingReply::Hello, &wire::hello(&self.login));
        if self.login.database != 0 {
            self.push(PendingReply::Select, &wire::select(self.login.database));
        } else {
            self.introduce(now);
        }
    }

    /// Continues in the database that was asked for.
    pub(super) fn introduce(&mut self, now: Instant) {
        self.ask_identity();
        self.load_all(&SCRIPTS);
        self.ask_to_confirm(now);
    }

    /// Loads what each session loads once more: the server has forgotten all scripts.
    pub(crate) fn reload(&mut self) {
        self.forget_scripts();
        self.load_all(&SCRIPTS);
    }

    /// Notes that the server has forgotten all scripts.
    pub(crate) fn forget_scripts(&mut self) {
        self.known.loaded.clear();
    }

    /// Loads scripts that are called by their hashes, unless they were loaded on this connection before.
    pub(crate) fn load_all(&mut self, scripts: &[&'static str]) {
        for script in scripts {
            if !self.known.loaded.contains(script) {
                self.known.loaded.push(script);
                self.push(PendingReply::Load, &wire::load(script));
            }
        }
    }

    /// Asks again, in case something has changed.
    pub(super) fn beat(&mut self, now: Instant) {
        if self.departure.leaves.is_some() {
            return;
        }
        self.ask_identity();
        self.ask_to_confirm(now);
    }

    /// Asks which server this is, and whether it may vote.
    fn ask_identity(&mut self) {
        for section in SECTIONS {
            self.push(PendingReply::Info, &wire::info(section));
        }
        if self.settings.restart_guard == RestartGuard::TrustPersistence {
            self.push(PendingReply::Persistence, &wire::config_get("*append*"));
        }
    }

    pub(super) fn hello_answered(&mut self, reply: &Reply) -> Incoming {
        self.identity.client_id = reply.hello_id();
        self.known.native = Native::of(reply);
        if self.identity.client_id.is_none() {
            return Incoming::Broken(Fault::from_hello(reply));
        }
        Fault::from_mode(reply).map_or(Incoming::Nothing, Incoming::Broken)
    }

    /// Handles an INFO section. A denied INFO reveals nothing. Any other error (BUSY, say) is no
    /// reason to open without the `run_id`: the hand-over and the search for twins rest on it.
    pub(super) fn info_answered(&mut self, now: Instant, reply: &Reply) -> Incoming {
        let error = reply.error().filter(|_| !reply.is_denied() && !self.is_open()).cloned();
        if let Some(error) = error {
            return Incoming::Broken(Fault::down(error));
        }
        if self.identity.contradicts(reply) {
            let cause = "the server behind this connection has changed: is there a proxy?";
            return Incoming::Broken(Fault::down(cause));
        }
        self.identity.learn(now, reply);
        Incoming::Nothing
    }

    /// Kills the predecessor; returns `true` if there is no connection to wait for. A server that
    /// has restarted since then no longer has it, and its ids start over: the wrong client would be
    /// killed.
    pub(crate) fn hand_over(&mut self, now: Instant) -> bool {
        let Some(predecessor) = &self.predecessor else { return true };
        let id = match (&predecessor.facts.run_id, &self.identity.facts.run_id) {
            (Some(theirs), Some(mine)) if theirs == mine => predecessor.client_id,
            (Some(_), Some(_)) => return true,
            _ => None,
        };
        match id {
            Some(id) => self.push(PendingReply::Kill, &wire::kill(id)),
            // INFO is denied: it is unknown whose id that is now.
            None => self.unkillable_since = Some(now),
        }
        id.is_none()
    }

    pub(super) fn kill_answered(&mut self, now: Instant, reply: &Reply) -> Incoming {
        match reply {
            // Zero: the predecessor was gone already.
            Reply::Int(_) => {}
            // Without the right to kill, repeating the rollback for a ttl is the best option.
            denied if denied.is_denied() => self.unkillable_since = Some(now),
            other => return Incoming::Broken(Fault::down(other.unexpected())),
        }
        Incoming::HandedOver
    }
}

//! What must be known, and who must be dead, before the first SET.

use super::confirmation::Confirmation;
use super::releases::Known;
use super::{Identity, Purpose, Session, Settled, State};
use crate::coordinator::fault::Fault;
use crate::coordinator::ledger::{Debt, Deleted, Deletion};
use crate::coordinator::wire::{Packer, Reply};
use crate::coordinator::{RestartGuard, Settings, wire};
use crate::quorum::Instant;

/// What is read of a server: its process and age, its role, whether it forgets under pressure.
const SECTIONS: [&str; 3] = ["server", "replication", "memory"];

impl Session {
    /// The stream is there: everything that must be known before the first SET, in one write; where a
    /// database is to be chosen, once that is done, or the rest would be done in another one.
    pub(in crate::coordinator) fn connected(&mut self, now: Instant, settings: &Settings) {
        self.identity = Identity::default();
        self.confirmation = Confirmation::default();
        self.known = Known::default();
        self.state = State::Handshake { until: now.after(settings.connect_timeout) };
        self.push(Purpose::Hello, &wire::hello(&self.login));
        if self.login.database != 0 {
            self.push(Purpose::Select, &wire::select(self.login.database));
        } else {
            self.introduce(now, settings);
        }
    }

    /// In the database that was asked for.
    pub(super) fn introduce(&mut self, now: Instant, settings: &Settings) {
        self.ask_who(settings);
        self.load(wire::ACQUIRE);
        self.load(wire::EXTEND);
        self.ask_to_confirm(now, settings);
    }

    /// The server does not know a script, or does not know it any more.
    pub(in crate::coordinator) fn load(&mut self, script: &str) {
        self.push(Purpose::Load, &wire::load(script));
    }

    /// Asks again, in case something has changed.
    pub(super) fn beat(&mut self, now: Instant, settings: &Settings) {
        if self.withdraws {
            return;
        }
        self.ask_who(settings);
        self.ask_to_confirm(now, settings);
    }

    /// Who the server is, and whether it may vote.
    fn ask_who(&mut self, settings: &Settings) {
        for section in SECTIONS {
            self.push(Purpose::Info, &wire::info(section));
        }
        if settings.restart_guard == RestartGuard::TrustPersistence {
            self.push(Purpose::Persistence, &wire::config_get("*append*"));
        }
    }

    pub(super) fn hello_answered(&mut self, reply: &Reply) -> Settled {
        self.identity.client_id = reply.hello_id();
        self.known.native = reply.has_delifeq();
        if self.identity.client_id.is_none() {
            return Settled::Broken(Fault::from_hello(reply));
        }
        Fault::from_mode(reply).map_or(Settled::Nothing, Settled::Broken)
    }

    /// A denied INFO tells nothing. Any other error (BUSY, say) is no reason to open without the
    /// `run_id`: it is what the hand-over and the search for twins rest on.
    pub(super) fn info_answered(&mut self, now: Instant, reply: &Reply) -> Settled {
        let error = reply.error().filter(|_| !reply.is_denied() && !self.is_open()).cloned();
        if let Some(error) = error {
            return Settled::Broken(Fault::down(error));
        }
        if self.identity.contradicts(reply) {
            let cause = "the server behind this connection has changed: is there a proxy?";
            return Settled::Broken(Fault::down(cause));
        }
        self.identity.learn(now, reply);
        Settled::Nothing
    }

    /// This client will not be: what it was the first to note is taken back, or whoever comes with
    /// better terms would have to wait until it lapses. It asks no more, and what a question that is
    /// under way prolongs is taken back once that is answered.
    pub(in crate::coordinator) fn withdraw(
        &mut self,
        now: Instant,
        settings: &Settings,
        packer: &mut Packer,
    ) {
        self.withdraws = true;
        self.take_back(now, settings, packer);
    }

    /// Takes back what was noted, once this client withdraws and no answer is awaited.
    pub(in crate::coordinator) fn take_back(
        &mut self,
        now: Instant,
        settings: &Settings,
        packer: &mut Packer,
    ) {
        if !self.withdraws || self.confirmation.is_asking() {
            return;
        }
        if let Some(ends) = self.noted_until.take() {
            let what = Deleted::Note(settings.agreement.withdrawal(ends));
            let ttl = settings.agreement.life();
            let deletion = Deletion { what, ttl, is_told: false, round: None, began: now };
            self.settle(Debt::new(deletion.into()), packer);
        }
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

    pub(super) fn kill_answered(&mut self, now: Instant, reply: &Reply) -> Settled {
        match reply {
            // Zero: it was gone already.
            Reply::Int(_) => {}
            // Without the right to kill, repeating the rollback for a ttl is the best there is.
            denied if denied.is_denied() => self.unkillable_since = Some(now),
            other => return Settled::Broken(Fault::down(other.unexpected())),
        }
        Settled::HandedOver
    }
}

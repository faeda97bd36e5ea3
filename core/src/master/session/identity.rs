//! A connection's identity, and that of the server behind it.

use super::ServerFacts;
use crate::master::Fault;
use crate::quorum::Instant;
use crate::wire::{self, Reply};
use std::time::Duration;

/// The known facts about a connection and the server behind it.
#[derive(Clone, Default)]
pub(crate) struct Identity {
    pub(super) client_id: Option<i64>,
    /// The server's account of itself; no `run_id` if INFO is denied.
    pub(crate) facts: ServerFacts,
    /// The uptime, taken from the facts, and when it was read.
    pub(super) uptime: Option<(Instant, Duration)>,
    /// The server process that was met before under this address is noted here.
    pub(super) remembers: bool,
    /// The reason why it did not report, in the handshake, whether its other clients have the same
    /// settings.
    pub(crate) unconfirmed: Option<Fault>,
}

impl Identity {
    /// Learns from one section of INFO, which was read at `now`.
    pub(super) fn learn(&mut self, now: Instant, info: &Reply) {
        self.facts.learn_info(info);
        self.uptime = self.facts.uptime.take().map(|uptime| (now, uptime)).or(self.uptime);
    }

    /// Returns whether an INFO reply comes from another server process.
    pub(super) fn contradicts(&self, info: &Reply) -> bool {
        let run_id = info.text().and_then(|info| wire::info_field(info, "run_id"));
        matches!((&self.facts.run_id, run_id), (Some(mine), Some(theirs)) if **mine != *theirs)
    }

    /// Returns why this is not an independent master that keeps what it has granted, if it is not.
    pub(crate) fn unfit(&self) -> Option<String> {
        let facts = &self.facts;
        if let Some(master) = &facts.replica_of {
            return Some(format!("a replica of {master}: name independent masters only"));
        }
        if facts.promoted {
            let problem = "a promoted replica, which may lack what its master had granted: name \
                           masters that never replicated, or restart it empty";
            return Some(problem.into());
        }
        match (facts.maxmemory, facts.maxmemory_policy.as_deref()) {
            (Some(1..), Some(policy)) if policy != "noeviction" => Some(format!(
                "maxmemory-policy is {policy}, which evicts locks that are held: set noeviction"
            )),
            _ => None,
        }
    }
}

//! A server's description of itself.

use crate::coordinator::fault::Fault;
use crate::coordinator::wire::{self, Reply};
use crate::quorum::Instant;
use std::sync::Arc;
use std::time::Duration;

/// The known facts about a connection and the server behind it.
#[derive(Clone, Default)]
pub(in crate::coordinator) struct Identity {
    pub(super) client_id: Option<i64>,
    /// The server process; `None` if INFO is denied.
    pub(in crate::coordinator) run_id: Option<Arc<str>>,
    /// The uptime that it reported, and when that report was read.
    pub(super) uptime: Option<(Instant, Duration)>,
    replica_of: Option<Arc<str>>,
    /// It had another history before: it was a replica.
    promoted: bool,
    maxmemory: u64,
    eviction: Option<Arc<str>>,
    pub(super) persistence: Persistence,
    /// How long it had at least remembered its clients' settings when it was asked.
    pub(super) memory: Option<Duration>,
    /// The reason why it did not report, in the handshake, whether its other clients have the same
    /// settings.
    pub(in crate::coordinator) unconfirmed: Option<Fault>,
}

/// Whether the server writes each command to disk before it answers.
#[derive(Clone, PartialEq, Eq, Default)]
pub(super) enum Persistence {
    /// Not asked, or the server may not say.
    #[default]
    Untold,
    Durable,
    /// The setting that the server reports instead.
    Volatile(Arc<str>),
}

impl Identity {
    /// Learns from one section of INFO; a denied one reveals nothing.
    pub(super) fn learn(&mut self, now: Instant, info: &Reply) {
        let Some(info) = info.text() else { return };
        let field = |name| wire::info_field(info, name);
        if let Some(run_id) = field("run_id") {
            self.run_id = Some(run_id.into());
        }
        if let Some(Ok(seconds)) = field("uptime_in_seconds").map(str::parse::<i64>) {
            // Negative on a master whose clock was set back.
            let seconds = u64::try_from(seconds).unwrap_or(0);
            self.uptime = Some((now, Duration::from_secs(seconds)));
        }
        if field("role").is_some() {
            self.replica_of = field("master_host").map(|host| {
                let port = field("master_port").unwrap_or("?");
                format!("{host}:{port}").into()
            });
        }
        if let Some(history) = field("master_replid2") {
            self.promoted = history.bytes().any(|digit| digit != b'0');
        }
        if let Some(Ok(bytes)) = field("maxmemory").map(str::parse) {
            self.maxmemory = bytes;
        }
        if let Some(policy) = field("maxmemory_policy") {
            self.eviction = Some(policy.into());
        }
    }

    /// Learns from the answer to `CONFIG GET *append*`.
    pub(super) fn learn_persistence(&mut self, reply: &Reply) {
        let setting = |name| reply.field(name);
        let needed = [
            ("appendonly", "yes"),
            ("appendfsync", "always"),
            // Otherwise nothing is synced while the file is rewritten.
            ("no-appendfsync-on-rewrite", "no"),
        ];
        let told = needed.map(|(name, wanted)| (name, wanted, setting(name)));
        let wrong = told.iter().find_map(|(name, wanted, told)| match told {
            Some(told) if told != wanted => Some(format!("{name} is {told}")),
            _ => None,
        });
        self.persistence = match wrong {
            Some(wrong) => Persistence::Volatile(wrong.into()),
            None if told.iter().any(|(_, _, told)| told.is_none()) => Persistence::Untold,
            None => Persistence::Durable,
        };
    }

    /// Returns whether an INFO reply comes from another server process.
    pub(super) fn contradicts(&self, info: &Reply) -> bool {
        let told = info.text().and_then(|info| wire::info_field(info, "run_id"));
        matches!((&self.run_id, told), (Some(mine), Some(told)) if **mine != *told)
    }

    /// Returns why this is not an independent master that keeps what it has granted, if it is not.
    pub(in crate::coordinator) fn unfit(&self) -> Option<String> {
        if let Some(master) = &self.replica_of {
            return Some(format!("a replica of {master}: name independent masters only"));
        }
        if self.promoted {
            let problem = "a promoted replica, which may lack what its master had granted: name \
                           masters that never replicated, or restart it empty";
            return Some(problem.into());
        }
        match self.eviction.as_deref() {
            Some(policy) if self.maxmemory > 0 && policy != "noeviction" => Some(format!(
                "maxmemory-policy is {policy}, which evicts locks that are held: set noeviction"
            )),
            _ => None,
        }
    }
}

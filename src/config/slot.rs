//! The keys, where the value of each goes, and which values it takes.

use super::written::{self, Written};
use super::{Config, NodeAddress, RestartGuard};
use std::path::PathBuf;
use std::time::Duration;

/// The place where the value of one key goes.
pub(super) enum Slot<'a> {
    Nodes(&'a mut Option<Vec<NodeAddress>>),
    /// Same as `Nodes`, but may be empty.
    Also(&'a mut Option<Vec<NodeAddress>>),
    Span(&'a mut Option<Duration>),
    Ppm(&'a mut Option<u32>),
    Guard(&'a mut Option<RestartGuard>),
    Switch(&'a mut Option<bool>),
    Text(&'a mut Option<String>),
    Pem(&'a mut Option<PathBuf>),
}

/// The number of keys: one for each field.
const COUNT: usize = 23;

impl Config {
    /// Returns the one table of keys, for files, the environment, other formats and layers.
    pub(super) fn slots(&mut self) -> [(&'static str, Slot<'_>); COUNT] {
        // Destructured, so that a field without a line below is a compile error.
        let Self {
            nodes,
            also,
            ttl,
            max_ttl,
            wait,
            max_hold,
            operation_timeout,
            connect_timeout,
            drift_rate_ppm,
            drift_constant,
            backoff_base,
            backoff_cap,
            fencing_window_back,
            fencing_window_ahead,
            restart_guard,
            wakes_up,
            strict,
            key_prefix,
            lock_delay,
            label,
            tls_ca_file,
            tls_cert_file,
            tls_key_file,
        } = self;
        [
            ("nodes", Slot::Nodes(nodes)),
            ("also", Slot::Also(also)),
            ("ttl", Slot::Span(ttl)),
            ("max_ttl", Slot::Span(max_ttl)),
            ("wait", Slot::Span(wait)),
            ("max_hold", Slot::Span(max_hold)),
            ("operation_timeout", Slot::Span(operation_timeout)),
            ("connect_timeout", Slot::Span(connect_timeout)),
            ("drift_rate_ppm", Slot::Ppm(drift_rate_ppm)),
            ("drift_constant", Slot::Span(drift_constant)),
            ("backoff_base", Slot::Span(backoff_base)),
            ("backoff_cap", Slot::Span(backoff_cap)),
            ("fencing_window_back", Slot::Span(fencing_window_back)),
            ("fencing_window_ahead", Slot::Span(fencing_window_ahead)),
            ("restart_guard", Slot::Guard(restart_guard)),
            ("wakes_up", Slot::Switch(wakes_up)),
            ("strict", Slot::Switch(strict)),
            ("key_prefix", Slot::Text(key_prefix)),
            ("lock_delay", Slot::Span(lock_delay)),
            ("label", Slot::Text(label)),
            ("tls_ca_file", Slot::Pem(tls_ca_file)),
            ("tls_cert_file", Slot::Pem(tls_cert_file)),
            ("tls_key_file", Slot::Pem(tls_key_file)),
        ]
    }

    pub(super) fn slot(&mut self, key: &str) -> Option<Slot<'_>> {
        self.slots().into_iter().find(|(name, _)| *name == key).map(|(_, slot)| slot)
    }

    pub(super) fn keys() -> [&'static str; COUNT] {
        Self::default().slots().map(|(name, _)| name)
    }
}

impl Slot<'_> {
    /// Takes the value, or returns what is wrong with it, and never the value itself.
    pub(super) fn take(self, value: Written) -> Result<(), String> {
        match self {
            Self::Nodes(to) => *to = Some(written::nodes(value, false)?),
            Self::Also(to) => *to = Some(written::nodes(value, true)?),
            Self::Span(to) => *to = Some(written::span(&value)?),
            Self::Ppm(to) => *to = Some(written::ppm(&value)?),
            Self::Guard(to) => *to = Some(written::guard(&value)?),
            Self::Switch(to) => *to = Some(written::switch(&value)?),
            Self::Text(to) => *to = Some(written::text(value)?),
            Self::Pem(to) => *to = Some(written::pem(value)?),
        }
        Ok(())
    }

    pub(super) const fn is_set(&self) -> bool {
        match self {
            Self::Nodes(it) | Self::Also(it) => it.is_some(),
            Self::Span(it) => it.is_some(),
            Self::Ppm(it) => it.is_some(),
            Self::Guard(it) => it.is_some(),
            Self::Switch(it) => it.is_some(),
            Self::Text(it) => it.is_some(),
            Self::Pem(it) => it.is_some(),
        }
    }

    /// Keeps what is set, or else takes what `below` has.
    pub(super) fn or(self, below: Slot<'_>) {
        fn fill<T>(above: &mut Option<T>, below: &mut Option<T>) {
            *above = above.take().or_else(|| below.take());
        }
        match (self, below) {
            (Self::Nodes(it), Slot::Nodes(below)) | (Self::Also(it), Slot::Also(below)) => {
                fill(it, below);
            }
            (Self::Span(it), Slot::Span(below)) => fill(it, below),
            (Self::Ppm(it), Slot::Ppm(below)) => fill(it, below),
            (Self::Guard(it), Slot::Guard(below)) => fill(it, below),
            (Self::Switch(it), Slot::Switch(below)) => fill(it, below),
            (Self::Text(it), Slot::Text(below)) => fill(it, below),
            (Self::Pem(it), Slot::Pem(below)) => fill(it, below),
            // Both belong to one key, and so are of one kind.
            _ => {}
        }
    }
}

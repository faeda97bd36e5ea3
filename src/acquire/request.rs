//! What the driver is asked for, once the options are known to work.

use super::Acquire;
use crate::error::InvalidSetting;
use crate::kind::Kind;
use crate::options::check_label;
use crate::resource::Resources;
use quorumlock_core::coordinator::AcquireRequest;
use std::sync::Arc;

/// Whether an acquisition waits in turn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Turn {
    No,
    /// Where there is a queue: the builder's default.
    IfAlone,
    /// The call asks for it.
    Asked,
}

impl Turn {
    /// Returns whether to wait in turn for these resources.
    fn of(self, resources: &Resources) -> Result<bool, InvalidSetting> {
        let problem = match (self, resources.is_alone(), resources.pool()) {
            (Self::No, ..) => return Ok(false),
            (Self::IfAlone, is_alone, _) => return Ok(is_alone),
            (Self::Asked, true, _) => return Ok(true),
            (Self::Asked, _, Some(_)) => {
                "the permits of a semaphore are not given in turn: leave it out"
            }
            (Self::Asked, ..) => {
                "several resources have no queue in common: acquire one that stands for them all"
            }
        };
        Err(InvalidSetting::new("fair", problem))
    }
}

impl<K: Kind> Acquire<K> {
    pub(super) fn request(&self) -> Result<AcquireRequest, InvalidSetting> {
        let options = self.redlock.options();
        options.check_may_acquire()?;
        options.check_resources(self.resources.names())?;
        self.resources.pool().map_or(Ok(()), |pool| pool.check(options))?;
        let ttl = options.check_ttl("ttl", self.ttl)?;
        let lock_delay = options.check_lock_delay(self.lock_delay, ttl)?;
        if let Some(keep_alive) = self.keep_alive {
            let longest = keep_alive.max_hold();
            let is_the_builders = longest == options.max_hold;
            let field = if is_the_builders { "max_hold" } else { "keep_alive_for" };
            options.check_max_hold(field, longest, ttl)?;
        }
        if let Some(label) = &self.label {
            let field = if label.is_candidate() { "candidate" } else { "label" };
            check_label(field, label.text())?;
        }
        let in_turn = self.turn.of(&self.resources)?;
        let keys = self.resources.locked(options, in_turn).ok_or_else(|| {
            let problem = "there is none: name at least one, such as \"orders:42\"";
            InvalidSetting::new("resource", problem)
        })?;
        let fence = |resource: &Arc<str>| options.fence(resource);
        Ok(AcquireRequest {
            keys,
            fences: K::IS_FENCED.then(|| self.resources.keys(fence)).flatten().map(Arc::new),
            ttl: ttl.into(),
            lock_delay: lock_delay.into(),
            wait: self.timeout,
            keep_alive: self.keep_alive,
            label: self.label.clone(),
            at_least: options.check_at_least(self.at_least.span())?,
            probes: false,
        })
    }
}

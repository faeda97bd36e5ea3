//! The terms of an acquisition, and the request that it becomes once its options are known to work.

use crate::failure::InvalidSetting;
use crate::options::{check_keep_warm, check_label};
use crate::redlock::Redlock;
use crate::resource::Resources;
use quorumlock_core::coordinator::{AcquireRequest, Label};
use quorumlock_core::quorum::Nanos;
use std::sync::Arc;
use std::time::Duration;

#[derive(Clone, Debug)]
pub(crate) struct Terms {
    pub(crate) redlock: Redlock,
    pub(crate) resources: Resources,
    pub(crate) ttl: Duration,
    pub(crate) lock_delay: Duration,
    pub(super) timeout: Nanos,
    pub(super) keep_alive: Option<Nanos>,
    /// Shared, since it is part of every attempt.
    pub(super) label: Option<Arc<Label>>,
    /// Zero if the keys need not stay.
    pub(crate) min_hold: Nanos,
    /// Whether it is fair, where there is a list.
    pub(super) fair: bool,
    /// How long the hold stays idle after its release. `None`: as long as the builder says, if nothing else that the
    /// acquire asks for has it released.
    pub(super) keep_warm: Option<Duration>,
}

impl Terms {
    pub(super) fn new(redlock: Redlock, resources: Resources) -> Self {
        let options = redlock.options();
        Self {
            ttl: options.ttl,
            lock_delay: options.lock_delay,
            timeout: Nanos::of(options.acquire_timeout),
            fair: options.fair,
            keep_warm: None,
            redlock,
            resources,
            keep_alive: None,
            label: None,
            min_hold: Nanos::of(Duration::ZERO),
        }
    }

    pub(super) fn request(&self, is_fenced: bool) -> Result<AcquireRequest, InvalidSetting> {
        let options = self.redlock.options();
        options.check_may_acquire()?;
        options.check_resources(self.resources.names())?;
        if let Resources::AnyOf(pool) = &self.resources {
            pool.check(options)?;
        }
        let ttl = options.check_ttl("ttl", self.ttl)?;
        let lock_delay = options.check_lock_delay(self.lock_delay, ttl)?;
        if let Some(keep_alive) = self.keep_alive {
            let longest = keep_alive.span();
            let is_the_builders = longest == options.max_hold;
            let field = if is_the_builders { "max_hold" } else { "keep_alive_for" };
            options.check_max_hold(field, longest, ttl)?;
        }
        if let Some(label) = &self.label {
            let field = if label.is_candidate() { "candidate" } else { "label" };
            check_label(field, label.text())?;
        }
        if let Some(span) = self.keep_warm {
            check_keep_warm(span, self.fair, lock_delay, self.min_hold.span())?;
        }
        let keys = self.resources.locked(options);
        let keys = keys.ok_or_else(|| {
            let problem = "there is none: name at least one, such as \"orders:42\"";
            InvalidSetting::new("resource", problem)
        })?;
        let fence = |resource: &Arc<str>| options.fence(resource);
        Ok(AcquireRequest {
            keys,
            fences: is_fenced.then(|| self.resources.keys(fence)).flatten().map(Arc::new),
            ttl: ttl.into(),
            lock_delay: lock_delay.into(),
            wait: self.timeout,
            keep_alive: self.keep_alive,
            label: self.label.clone(),
            at_least: options.check_min_hold(self.min_hold.span())?,
            keep_warm: Nanos::of(self.keep_warm.unwrap_or(options.keep_warm)),
            is_fair: self.fair && self.resources.has_list(),
            probes: false,
        })
    }
}

//! One acquire, from its caller's request to its answer.

use super::waitlist::Entry;
use super::{Contention, Phase};
use crate::obstacle::Obstacle;
use crate::quorum::Instant;
use crate::shared::{AcquireRequest, Event, Failure, RequestId, Settings};
use std::sync::Arc;

/// One acquire, over all its attempts.
pub(crate) struct Acquisition {
    pub(crate) request: AcquireRequest,
    pub(crate) began: Instant,
    /// `None` while another acquire or a holder in this process has the place. Boxed, since
    /// thousands may wait, of which one contends.
    pub(crate) contention: Option<Box<Contention>>,
}

impl Acquisition {
    /// Returns the instant after which no attempt begins.
    pub(crate) fn until(&self) -> Instant {
        self.request.until(self.began)
    }

    /// Returns the phase of its contention; `None` while it waits in the queue.
    pub(crate) fn phase(&self) -> Option<&Phase> {
        self.contention.as_ref().map(|contention| &contention.phase)
    }

    /// Returns whether its wait is over, and it is a fair one, which then makes no attempt if others are before it.
    pub(crate) fn is_over_fairly(&self, now: Instant) -> bool {
        let waits = matches!(self.phase(), Some(Phase::Waiting { .. }));
        self.request.is_fair && waits && !self.may_retry(now)
    }

    /// Returns the name of the list in which it waits, or would.
    pub(super) fn list(&self) -> Option<&Arc<str>> {
        Some(self.contention.as_ref()?.list(&self.request.keys))
    }

    /// Returns its entry in that list.
    pub(super) fn entry(&self) -> Option<&Entry> {
        self.contention.as_ref()?.place.entry.as_deref()
    }

    /// Returns whether the list of its key has others before it.
    pub(crate) fn is_behind(&self) -> bool {
        self.entry().is_some_and(Entry::is_behind)
    }

    /// Returns the number of attempts begun.
    pub(crate) fn attempts(&self) -> u32 {
        self.contention.as_ref().map_or(0, |contention| contention.attempts)
    }

    /// Builds the caller's answer when no further attempt is made. It is the outcome of the latest
    /// attempt, if there is one. Otherwise it is what keeps the acquire `in_front` from winning, or
    /// that this one waited behind others in this process.
    pub(crate) fn not_served(self, request: RequestId, now: Instant, in_front: Failure) -> Event {
        let waited = now.since(self.began);
        let attempts = self.attempts();
        let in_line = self.contention.as_ref().and_then(|contention| contention.failure_in_line());
        let failure = match self.contention.map(|contention| contention.phase) {
            _ if in_line.is_some() => in_line.unwrap_or(in_front),
            Some(Phase::Waiting { failure, .. }) => failure,
            Some(Phase::Confirming | Phase::InLine { .. } | Phase::Trying { .. }) => {
                Failure::contended(Obstacle::LocalQueue, attempts)
            }
            None => in_front,
        };
        Event::NotAcquired { request, failure, waited }
    }

    /// Returns whether a further attempt may begin after `now`.
    pub(crate) fn may_retry(&self, now: Instant) -> bool {
        now < self.until()
    }

    /// Returns whether an attempt that asks a node now asks for the remaining life, too, of the key
    /// that refuses us.
    pub(crate) fn asks_remaining(&self, now: Instant, settings: &Settings) -> bool {
        let timeout = settings.round_timeout(self.request.ttl.span());
        let asks = |contention: &Contention| contention.asks_remaining(now, timeout, settings);
        // One that takes any of several keys looks at all of them instead.
        !self.request.probes && self.contention.as_deref().is_some_and(asks)
    }
}

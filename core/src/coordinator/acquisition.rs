//! One acquire, from its caller's request to its answer.

use super::attempt::Subject;
use super::contention::{Contention, Phase};
use super::request::KeepAlive;
use super::{Event, Failure, RequestId};
use crate::quorum::Instant;

/// One acquire, over all its attempts.
pub(super) struct Acquisition {
    pub(super) subject: Subject,
    pub(super) keep_alive: Option<KeepAlive>,
    pub(super) began: Instant,
    /// No attempt begins after this.
    pub(super) until: Instant,
    /// `None` while another acquire or a holder in this process has the place. Boxed, since
    /// thousands may wait, of which one contends.
    pub(super) contention: Option<Box<Contention>>,
}

impl Acquisition {
    /// Returns the phase of its contention; `None` while it waits in the queue.
    pub(super) fn phase(&self) -> Option<&Phase> {
        self.contention.as_ref().map(|contention| &contention.phase)
    }

    /// Returns the number of attempts begun.
    pub(super) fn attempts(&self) -> u32 {
        self.contention.as_ref().map_or(0, |contention| contention.attempts)
    }

    /// Builds the caller's answer when no further attempt is made. It is the outcome of the latest
    /// attempt, if there is one. Otherwise it is what keeps the acquire `in_front` from winning, or
    /// that this one waited behind others in this process.
    pub(super) fn not_served(
        self,
        request: RequestId,
        now: Instant,
        in_front: Option<Failure>,
    ) -> Event {
        let waited = now.since(self.began);
        let contended = Failure::contended(self.attempts());
        let failure = match self.contention.map(|contention| contention.phase) {
            Some(Phase::Waiting { failure, .. }) => failure,
            Some(Phase::Confirming | Phase::Trying { .. }) | None => in_front.unwrap_or(contended),
        };
        Event::NotAcquired { request, failure, waited }
    }

    /// Returns whether a further attempt may begin after `now`.
    pub(super) fn may_retry(&self, now: Instant) -> bool {
        now < self.until
    }
}

//! The acquires that wait because this client has as many rounds open as its masters answer in time.
//!
//! They cost the masters nothing. The oldest goes first, so that one that was called, or that has lost an
//! attempt, does not begin again behind newer ones. One that does not wait goes by turns with these: its time
//! is a round trip.

use super::{Phase, Waiters};
use crate::quorum::Instant;
use crate::shared::{Cx, Failure, RequestId};
use std::collections::BTreeSet;

/// The acquires that are to begin a round, by age.
#[derive(Default)]
pub(crate) struct Backlog {
    waiting: BTreeSet<Ticket>,
    /// Those that make a single attempt.
    at_once: BTreeSet<Ticket>,
    /// The latest that went was one of them.
    is_at_once: bool,
}

/// Ordered by the caller's request: the machine's own are as old as those that they serve.
type Ticket = (RequestId, RequestId);

const fn ticket(request: RequestId) -> Ticket {
    (request.callers(), request)
}

impl Backlog {
    pub(crate) fn len(&self) -> usize {
        self.waiting.len() + self.at_once.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty() && self.at_once.is_empty()
    }

    pub(super) fn leave(&mut self, request: RequestId) {
        if !self.is_empty() {
            let ticket = ticket(request);
            let _was_there = self.waiting.remove(&ticket) || self.at_once.remove(&ticket);
        }
    }

    fn pop(&mut self) -> Option<RequestId> {
        self.is_at_once = !self.is_at_once && !self.at_once.is_empty() || self.waiting.is_empty();
        let next = if self.is_at_once { &mut self.at_once } else { &mut self.waiting };
        next.pop_first().map(|(_, request)| request)
    }
}

impl Waiters {
    /// Returns whether the attempt of an acquire may begin. Otherwise it begins by itself once it may, or ends: at
    /// once if it does not wait and others are far ahead of it.
    pub(crate) fn may_begin(&mut self, cx: &mut Cx, request: RequestId) -> bool {
        if cx.masters.have_room(cx.now) {
            return true;
        }
        let Some(acquisition) = self.acquisitions.get(request) else { return false };
        let timeout = cx.masters.settings.round_timeout(acquisition.request.ttl.span());
        let until = self.semaphores.seeks_until(request).unwrap_or_else(|| acquisition.until());
        let waits = cx.now < until;
        // That of each attempt after the first, which is not the caller's to lose.
        let until = if waits { until } else { cx.now.after(timeout / 2) };
        let (window, ahead) = (&cx.masters.window, self.backlog.at_once.len());
        let is_late =
            window.wait_behind(2 * ahead).is_some_and(|wait| wait > window.allowance(timeout));
        let Some(contention) = self.acquisitions.contention_mut(request) else { return false };
        contention.line_up(until);
        if !waits && is_late {
            self.end_in_line(cx, request, cx.now);
            return false;
        }
        let line = if waits { &mut self.backlog.waiting } else { &mut self.backlog.at_once };
        line.insert(ticket(request));
        self.begin_pause(cx, request);
        cx.events.overloaded(request);
        false
    }

    /// Lets the next of them begin if there is room. Returns `false` if there is none.
    #[inline]
    pub(crate) fn serve_backlog(&mut self, cx: &mut Cx) -> bool {
        if self.backlog.is_empty() || !cx.masters.have_room(cx.now) {
            return false;
        }
        let Some(request) = self.backlog.pop() else { return false };
        let known = self.acquisitions.get(request).and_then(|known| known.phase());
        if matches!(known, Some(Phase::InLine { .. })) {
            self.end_pause(cx, request);
            self.try_again(cx, request);
        }
        true
    }

    /// Ends an acquire that could not begin an attempt in its time.
    pub(super) fn end_in_line(&mut self, cx: &mut Cx, request: RequestId, until: Instant) {
        if cx.now < until {
            return;
        }
        if cx.masters.window.is_unanswered
            && let Some(contention) = self.acquisitions.contention_mut(request)
            && let Phase::InLine { failure, .. } = &mut contention.phase
        {
            // That is an outage, and this one would have had no answer either.
            failure.get_or_insert_with(|| Failure::unanswered(cx.masters.names()));
        }
        self.give_up(cx, request);
    }
}

impl super::Contention {
    /// Waits until another round may begin.
    fn line_up(&mut self, until: Instant) {
        let failure = match std::mem::replace(&mut self.phase, Phase::Confirming) {
            Phase::Waiting { failure, .. } if self.attempts > 0 => Some(failure),
            Phase::InLine { failure, .. } => failure,
            _ => None,
        };
        self.phase = Phase::InLine { until, failure };
    }

    /// Returns why one that waits in line has not been served: what has ended its latest attempt, or that it could
    /// begin none.
    pub(super) fn failure_in_line(&self) -> Option<Failure> {
        let Phase::InLine { failure, .. } = &self.phase else { return None };
        Some(failure.clone().unwrap_or_else(Failure::overloaded))
    }
}

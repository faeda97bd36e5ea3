//! The acquires of this client that have no answer yet, in the order in which they are served, and what
//! they listen to.
//!
//! They set nothing at the masters by themselves: whatever asks for a vote leaves as a `Step`.

mod acquisition;
mod acquisitions;
mod asking;
mod backlog;
mod clocks;
pub(crate) mod contention;
mod decided;
mod give_up;
mod left;
mod line;
mod listeners;
pub(crate) mod local_queue;
mod mailboxes;
mod pause;
mod permit;
mod policy;
mod reader;
pub mod rules;
mod several;
mod tuning;
mod unheard;
mod waitlist;
mod wake_ups;
mod warm;
mod writer;

use crate::lock::{Asking, Round};
use crate::master::barrier;
use crate::obstacle::Obstacle;
use crate::pace::Backoff;
use crate::quorum::{Instant, Nanos};
use crate::shared::{
    AcquireRequest, AttemptId, Cx, Event, Failure, Keys, RequestId, RoundId, Slots,
};
use crate::waiting::acquisitions::Acquisitions;
use crate::waiting::left::Left;
use crate::waiting::listeners::Listeners;
use crate::waiting::local_queue::LocalQueue;
use crate::waiting::mailboxes::Mailboxes;
use crate::waiting::pause::set_timer;
use crate::waiting::permit::Semaphores;
use crate::waiting::reader::Readers;
use crate::waiting::waitlist::Waitlists;
use crate::waiting::wake_ups::WakeUps;
use crate::waiting::writer::Hints;
use acquisition::Acquisition;
use asking::Asked;
use backlog::Backlog;
use contention::{Contention, Phase};
pub(crate) use left::left_at;
use std::num::NonZeroU64;
use std::sync::Arc;
pub(crate) use warm::NextHolder;

/// The acquires of this client.
#[derive(Default)]
pub(crate) struct Waiters {
    pub(crate) acquisitions: Acquisitions,
    pub(crate) local_queue: LocalQueue,
    left: Left,
    pub(crate) wake_ups: WakeUps,
    mailboxes: Mailboxes,
    waitlists: Waitlists,
    asked: Asked,
    pub(crate) listeners: Listeners,
    pub(crate) semaphores: Semaphores,
    pub(crate) readers: Readers,
    pub(crate) hints: Hints,
    pub(crate) backlog: Backlog,
    steps: Vec<Step>,
}

/// What an acquire asks for: its only way to the locks.
pub(crate) enum Step {
    /// An attempt at its keys.
    Attempt(RequestId),
    /// A look at these slots: at the first node of their channel, or at all nodes.
    Look { request: RequestId, slots: Arc<Slots>, all: bool },
    /// The end of an attempt whose caller is gone.
    Withdraw { round: RoundId, attempt: AttemptId },
    /// The hold that is idle under its key, or the release of whatever is idle under its keys.
    Reuse(RequestId),
    /// The release of a lock that no caller waits for any more.
    Release(AttemptId),
    /// The release of what is idle, for an acquire that needs no place in this process.
    MakeWay(AttemptId),
    /// A client elsewhere has asked for this key.
    GiveWay(Arc<str>),
}

/// An attempt that was lost and rolled back.
pub(crate) struct Refused {
    pub(crate) request: RequestId,
    pub(crate) attempt: AttemptId,
    pub(crate) round: Round,
    pub(crate) ballot: Option<NonZeroU64>,
    /// A quorum has granted, but too late.
    pub(crate) too_late: bool,
}

/// What an acquire that has won leaves to its hold.
pub(crate) struct Won {
    pub(crate) attempts: u32,
    pub(crate) keep_alive: Option<Nanos>,
    pub(crate) warm: Nanos,
}

impl Waiters {
    /// Returns whether no caller waits, and none listens.
    pub(crate) fn is_empty(&self) -> bool {
        self.acquisitions.is_empty() && self.listeners.is_empty() && self.semaphores.is_empty()
    }

    #[inline]
    pub(crate) const fn has_steps(&self) -> bool {
        !self.steps.is_empty()
    }

    /// Returns the next step. Those that a step leads to come before those that were behind it: `known` is
    /// the number of the latter.
    #[inline]
    pub(crate) fn next_step(&mut self, known: usize) -> Option<(Step, usize)> {
        self.steps[known..].reverse();
        let step = self.steps.pop()?;
        Some((step, self.steps.len()))
    }

    /// Takes the places of an acquire in this process, or waits for them behind others that want or have one of
    /// its keys. An acquire that does not wait has lost. Some need no place.
    pub(crate) fn enter(
        &mut self,
        cx: &mut Cx,
        request: RequestId,
        acquire: AcquireRequest,
        needs_places: bool,
    ) {
        let mut acquisition = Acquisition { request: acquire, began: cx.now, contention: None };
        if !needs_places || self.local_queue.take(&acquisition.request.keys, request) {
            let contention = self.acquisitions.contend(cx.now, acquisition.until());
            acquisition.contention = Some(contention);
            self.acquisitions.insert(request, acquisition);
            if !(needs_places && self.lets_others_go_first(cx, request)
                || self.begins_in_waitlist(cx, request))
            {
                self.try_again(cx, request);
            }
            return;
        }
        let is_idle = acquisition.request.keys.iter().any(|key| self.idle(key).is_some());
        if !is_idle && !acquisition.may_retry(cx.now) {
            let in_front = self.failure_in_front(&acquisition.request.keys);
            return cx.events.push(acquisition.not_served(request, cx.now, in_front));
        }
        if !is_idle {
            cx.events.queued(request, &self.obstacle_here(&acquisition.request.keys));
        }
        self.local_queue.wait(&acquisition.request.keys, request);
        set_timer(cx, request, None, acquisition.due_at());
        let key = acquisition.request.keys.first().clone();
        self.acquisitions.insert(request, acquisition);
        self.want_behind(cx, &key);
        if is_idle {
            self.steps.push(Step::Reuse(request));
        }
    }

    /// Returns what keeps an acquire of `keys` from asking the masters.
    fn obstacle_here(&self, keys: &Keys) -> Obstacle {
        if self.local_queue.is_held(keys) { Obstacle::OwnGuard } else { Obstacle::LocalQueue }
    }

    /// Returns why an acquire that waits for one of `keys` in this process has not been served. If
    /// the acquire that contends for it has met an outage, that is the reason: it must not be
    /// reported as contention to the acquires behind it.
    pub(crate) fn failure_in_front(&self, keys: &Keys) -> Failure {
        let contenders = keys.iter().filter_map(|key| self.local_queue.contender(key));
        let mut failures = contenders.filter_map(|contender| {
            let contention = self.acquisitions.contention(contender)?;
            match &contention.phase {
                Phase::Waiting { failure, .. } => Some(failure.clone()),
                Phase::InLine { .. } => contention.failure_in_line(),
                Phase::Confirming | Phase::Trying { .. } => None,
            }
        });
        let outage = failures.find(|failure| !failure.kind.is_contended());
        outage.unwrap_or_else(|| {
            let unnamed = (keys.len() > 1).then(|| keys.clone());
            Failure { unnamed, ..Failure::contended(self.obstacle_here(keys), 0) }
        })
    }

    /// Serves the next acquire whose places have become free. One that is first in all its queues begins at
    /// once, in the same write as the release before it. So no other client gets in between. Returns
    /// `false` if there is none.
    pub(crate) fn serve_next(&mut self, cx: &mut Cx) -> bool {
        let Some(request) = self.local_queue.next_head() else { return false };
        let Some(acquisition) = self.acquisitions.get(request) else { return true };
        let keys = &acquisition.request.keys;
        if self.local_queue.advance(keys, request) {
            let (began, until) = (acquisition.began, acquisition.until());
            let is_fair = acquisition.request.is_fair;
            set_timer(cx, request, Some(until), None);
            let steps_back = self.local_queue.steps_back(keys);
            let contention = self.acquisitions.contend(began, until);
            if let Some(acquisition) = self.acquisitions.get_mut(request) {
                acquisition.contention = Some(contention);
            }
            // What passes on here is for no waiter of a list: a fair acquire takes its place there.
            if self.lets_others_go_first(cx, request)
                || is_fair && self.begins_in_waitlist(cx, request)
            {
                return true;
            }
            match steps_back {
                true => self.step_back(cx, request),
                false => self.try_again(cx, request),
            }
        }
        true
    }

    /// Retries an acquire whose next attempt is due.
    pub(crate) fn retry(&mut self, cx: &mut Cx, request: RequestId) {
        let Some(acquisition) = self.acquisitions.get(request) else {
            return self.seek_again(cx, request);
        };
        match acquisition.phase() {
            None => return self.give_up(cx, request),
            Some(Phase::Waiting { .. }) => self.end_pause(cx, request),
            Some(&Phase::InLine { until, .. }) => return self.end_in_line(cx, request, until),
            Some(Phase::Confirming | Phase::Trying { .. }) => return,
        }
        // A timer is usually a little late, and very late after the process was stopped.
        let round_timeout = cx.masters.settings.round_timeout(acquisition.request.ttl.span());
        if cx.now > acquisition.until().after(round_timeout) {
            return self.give_up(cx, request);
        }
        self.resume(cx, request);
    }

    /// Asks for an attempt of an acquire, now or once the barrier lets it through.
    pub(crate) fn try_again(&mut self, cx: &mut Cx, request: RequestId) {
        let Some(acquisition) = self.acquisitions.get(request) else { return };
        let life = acquisition.request.life().span();
        if !cx.masters.is_held_up(cx.now, life, barrier::Round::Acquire(request)) {
            self.steps.push(Step::Attempt(request));
        } else if let Some(contention) = self.acquisitions.contention_mut(request) {
            contention.phase = Phase::Confirming;
        }
    }

    /// Lets an acquire begin that the barrier has held up.
    pub(crate) fn let_through(&mut self, request: RequestId) {
        if let Some(contention) = self.acquisitions.contention(request)
            && matches!(contention.phase, Phase::Confirming)
        {
            self.steps.push(Step::Attempt(request));
        }
    }

    /// Returns what the next attempt of an acquire asks for, and how, and where to note that it was begun.
    pub(crate) fn ask(
        &mut self,
        cx: &Cx,
        request: RequestId,
    ) -> Option<(AcquireRequest, Asking, &mut Contention)> {
        let acquisition = self.acquisitions.get_mut(request)?;
        let remaining = acquisition.asks_remaining(cx.now, &cx.masters.settings);
        let acquire = acquisition.request.clone();
        let ends_at = if acquire.probes { Instant::NEVER } else { acquisition.until() };
        let contention = acquisition.contention.as_mut()?;
        let probes = contention.probes(cx.now, &cx.masters.settings) || acquire.probes;
        let speaker = contention.standing.speaker();
        let list = contention.list(&acquire.keys);
        let life = acquire.ttl.span();
        let first = probes.then(|| cx.masters.asked_first(cx.now, list, life, speaker)).flatten();
        Some((acquire, Asking { remaining, first, ends_at }, contention))
    }

    /// Returns whether a node that an attempt asks now is asked for the remaining life, too, of the key that
    /// refuses us.
    pub(crate) fn asks_remaining(&self, cx: &Cx, request: RequestId) -> bool {
        let acquisition = self.acquisitions.get(request);
        let settings = &cx.masters.settings;
        acquisition.is_some_and(|acquisition| acquisition.asks_remaining(cx.now, settings))
    }

    /// Ends an acquire that has no random bits for a token.
    pub(crate) fn without_randomness(&mut self, cx: &mut Cx, request: RequestId) {
        self.end(cx, request);
        cx.events.push(Event::NoRandomness { request });
    }

    /// Lets others go first for a moment.
    fn step_back(&mut self, cx: &mut Cx, request: RequestId) {
        let base = cx.masters.settings.backoff.base;
        let jitter = Backoff { base, cap: base }.delay(0, None, cx.masters.random.jitter());
        self.begin_at(cx, request, cx.now.after(base / 2 + jitter / 2));
    }

    /// Lets an acquire begin then, or when it is to end.
    fn begin_at(&mut self, cx: &mut Cx, request: RequestId, at: Instant) {
        let Some(contention) = self.acquisitions.contention_mut(request) else { return };
        contention.step_back(cx.now, at);
        self.begin_pause(cx, request);
    }
}

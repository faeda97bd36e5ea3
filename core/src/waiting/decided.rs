//! What follows for an acquire from the verdict on its attempt: its end, or a pause and the next attempt.
//!
//! Source: "Distributed Locks with Redis", section "Retry on Failure".

use super::rules::{Does, News, next};
use super::{Contention, Refused, Waiters, Won};
use crate::quorum::{Instant, Nanos};
use crate::report::{Answer, Refusal};
use crate::shared::{AttemptId, Cx, Event, Failure, FailureKind, Keys, RequestId};
use std::time::Duration;

impl Waiters {
    /// Ends an acquire that has won.
    pub(crate) fn won(&mut self, cx: &mut Cx, request: RequestId) -> Won {
        let Some(mut won) = self.acquisitions.remove(request) else {
            return Won { attempts: 0, keep_alive: None, warm: Nanos::ZERO };
        };
        if won.contention.as_ref().is_some_and(|contention| contention.is_behind_others) {
            self.left.share(cx.now, &won.request.keys);
        }
        self.leave(cx, request, &mut won, true);
        let attempts = won.attempts();
        self.acquisitions.keep_room(won.contention);
        let (keep_alive, warm) = (won.request.keep_alive, won.request.warm());
        Won { attempts, keep_alive, warm }
    }

    /// Lets an acquire wait for its next attempt, or gives the caller its answer.
    pub(crate) fn refused(&mut self, cx: &mut Cx, refused: Refused) {
        let Refused { request, attempt, round, ballot, too_late } = refused;
        let reports = round.reports(cx.masters.names());
        let apart = self.learn_clocks(cx, request, &reports, round.started, ballot);
        let Some(acquisition) = self.acquisitions.get(request) else { return };
        let is_barred = cx.masters.barred(cx.now, acquisition.request.life().span()).is_some();
        let quorum_can_vote = !is_barred && cx.masters.quorum_can_vote(cx.now);
        let keys = acquisition.request.keys.clone();
        let rests = keys.len() > 1 && self.change_list(cx, request, &keys);
        let Some(contention) = self.acquisitions.contention_mut(request) else { return };
        let (list, awaited) = (contention.list(&keys).clone(), contention.awaited(&keys));
        let has_asked_all = round.held_back.is_none();
        let standing = has_asked_all.then(|| cx.masters.refused_by(cx.now, &list, &reports));
        if let Some(standing) = standing {
            contention.find(standing, &reports);
        }
        let may_hurry = contention.may_hurry(&reports);
        for (node, report) in reports.iter().enumerate() {
            let free_in = match report.answer {
                Answer::Granted => Some(Duration::ZERO),
                Answer::Refused(Refusal::Held { remaining }) => remaining,
                Answer::Refused(Refusal::Wanted { remaining }) => Some(remaining),
                Answer::Refused(Refusal::Stale | Refusal::Clock { .. }) => {
                    may_hurry.then_some(Duration::ZERO)
                }
                // It may have reported the remaining life, but not its refusal yet.
                Answer::Outstanding => round.life(node),
                _ => None,
            };
            contention.remaining.extend(free_in.map(|left| (node, left)));
        }
        // An attempt that a quorum granted too late was not refused.
        let kind = match apart {
            _ if too_late => FailureKind::TooLate,
            Some(cause) => FailureKind::Disagreement(cause),
            None => FailureKind::of(cx.masters.settings.membership, &reports, round.named()),
        };
        let (number, took) = (contention.attempts, cx.now.since(round.started));
        cx.events.attempt(request, number, Err(&kind), took, || reports.clone());
        // The fault was our own, and is fixed. A caller that asks for one attempt does not mean
        // that one.
        if contention.is_mended(cx.masters.settings.membership, &kind, &reports) {
            contention.probes = false;
            return self.try_again(cx, request);
        }
        let attempts = contention.attempts;
        let ahead = contention.place.entry.as_ref().and_then(|entry| entry.ahead);
        let failure = Failure { kind, reports, attempts, ahead: None, unnamed: None };
        let Some(acquisition) = self.acquisitions.get(request) else { return };
        let mut failure = failure.unless_named(round.has_named(), &acquisition.request.keys);
        // A fair one tries as the first.
        failure.ahead = ahead.filter(|_| acquisition.request.is_fair).map(|_| 0);
        if acquisition.may_retry(cx.now) {
            if failure.kind.is_contended() {
                self.want(cx, request, &keys);
            }
            // While too few masters can vote, only time or another session changes anything.
            let random = quorum_can_vote.then(|| cx.masters.random.jitter());
            let is_notified = failure.kind.is_contended() && cx.masters.settings.wake_ups;
            let enlists = is_notified && self.may_ask_waitlist(cx, request);
            // Where a hold is known to lack its key, it pauses outside of the list.
            let is_outside =
                self.acquisitions.contention(request).is_some_and(Contention::lacks_key);
            // Where waiters are known to be called, one that stands in the list need not listen to all releases.
            let is_waited_for = self.waitlists.is_waited_for(cx.now, &list);
            let is_called = enlists && !is_outside && is_waited_for;
            let listening = is_notified && (is_called || self.listen(cx, &awaited));
            // Where this one waits, others may: its release calls.
            for (channel, _) in keys.messages().filter(|_| failure.kind.is_contended()) {
                self.waitlists.note(cx.now, channel, true);
            }
            let polls = self.polls(request, &keys);
            let asks = polls && failure.kind.is_contended();
            let Some(contention) = self.acquisitions.contention_mut(request) else { return };
            // No question is due: where the list is, the key was free.
            let waits = contention.waits();
            let is_in_vain = rests
                || contention.is_in_vain(&failure.reports)
                || keys.len() > 1 && contention.lacks_key();
            (contention.probes, contention.listening) = (is_notified, listening && !is_in_vain);
            let random = random.filter(|_| polls);
            let failed = if rests && random.is_some() { AttemptId::NONE } else { attempt };
            contention.wait(cx.now, &cx.masters.settings, failed, failure, took, random);
            let is_early = contention.is_early() || is_in_vain;
            let news = if is_early { News::RefusedEarly } else { News::Refused };
            let asks_now = enlists && next(waits, news) == Does::Ask;
            self.begin_pause(cx, request);
            if asks_now {
                self.ask_waitlist(cx, request);
            }
            if asks {
                self.ask_holders(cx, request, &awaited);
            }
            self.observe_wait(cx, request);
        } else {
            let waited = cx.now.since(acquisition.began);
            self.end(cx, request);
            cx.events.push(Event::NotAcquired { request, failure, waited });
        }
    }

    /// Gives the places of these keys to a hold.
    pub(crate) fn occupy(&mut self, keys: &Keys, id: AttemptId) {
        self.local_queue.occupy(keys, id);
    }

    /// Frees the places of a hold that is over: the keys may still be at the masters. `began` is the time at which it was
    /// asked for, if its keys do not stay there: keys that stay become free for all clients at the same time.
    pub(crate) fn left(&mut self, cx: &Cx, keys: &Keys, id: AttemptId, began: Option<Instant>) {
        if let Some(began) = began {
            self.left.note(cx.now, began, keys, cx.masters.settings.backoff.cap);
        }
        self.local_queue.leave(keys, id);
    }

    /// Retries at once every acquire that waits because too few masters could vote, if enough can
    /// vote now. Called when a node has opened, has warmed up, or has confirmed our settings.
    pub(crate) fn wake_starved(&mut self, cx: &mut Cx) {
        if !cx.masters.quorum_can_vote(cx.now) {
            return;
        }
        for request in self.starved().collect::<Vec<_>>() {
            self.retry(cx, request);
        }
    }
}

//! Waitlists: an acquire that was refused waits in a list at the key's first node, and a release calls the first
//! waiter there. So a hand-over costs the same, however many wait.
//!
//! 1. An acquire that was refused asks `wait.lua`, which enters it, and says how many are ahead. The further back
//!    it stands, the more seldom it asks again.
//! 2. A release by a client that knows of waiters calls the first of them (`call.lua`), in the mailbox of its
//!    process. For a moment, no other waiter tries. A question that finds the key free calls the first, too.
//! 3. The waiter that is called asks all masters, as any acquire does.
//!
//! A list decides only which client tries when: it gives no vote. A call that is lost, or whose waiter has
//! stopped, costs that moment: the last of the list watches each call. What is lost besides is found by
//! polling. Whatever has been seen to be waited for lately is asked for in its list first.

mod calls;
mod entry;
mod fair;
mod place;

use super::Waiters;
use super::contention::Phase;
use crate::obstacle::Obstacle;
use crate::quorum::Instant;
use crate::shared::{AttemptId, Cx, Event, Failure, Keys, Lately, RequestId};
use crate::waiting::tuning::{ASKS_ALL_AFTER, NONE_FOR};
use crate::wire::waitlist::{Found, KNOWN_FOR};
use crate::wire::{Reply, Token};
pub(crate) use entry::Entry;
pub(in crate::waiting) use entry::Trial;
pub(crate) use place::Place;
pub(in crate::waiting) use place::{Heard, Question};
use std::sync::Arc;

/// What was seen of a key.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Seen {
    /// Clients listen on its channel. They may wait in its list.
    Listeners,
    Waiters,
    /// A call has found no waiter.
    NoWaiters,
}

/// What this process knows of the lists of keys. Any other key is released, and asked for, as one that no client
/// waits for.
pub(crate) struct Waitlists(Lately<Seen>);

impl Default for Waitlists {
    fn default() -> Self {
        Self(Lately::new(KNOWN_FOR))
    }
}

impl Waitlists {
    /// Notes what was seen of a key.
    pub(super) fn note(&mut self, now: Instant, key: &Arc<str>, seen: Seen) {
        let stays = match self.0.get(now, key) {
            Some((at, Seen::NoWaiters)) => seen == Seen::Listeners && now < at.after(NONE_FOR),
            Some(_) => seen == Seen::Listeners,
            None => false,
        };
        if !stays {
            self.0.note(now, key, seen);
        }
    }

    /// Returns whether waiters were seen in the list of a key, or of a semaphore's channel, lately.
    pub(super) fn is_waited_for(&self, now: Instant, key: &str) -> bool {
        self.seen(now, key) == Some(Seen::Waiters)
    }

    fn seen(&self, now: Instant, key: &str) -> Option<Seen> {
        self.0.get(now, key).map(|(_, seen)| seen)
    }

    /// Returns whether a waiter may stand in the list of one of `keys`.
    pub(super) fn is_any_waited_for(&self, now: Instant, keys: &Keys) -> bool {
        let may_wait = |seen| matches!(seen, Some(Seen::Listeners | Seen::Waiters));
        !self.0.is_empty() && keys.channels().any(|(_, channel)| may_wait(self.seen(now, channel)))
    }
}

impl Waiters {
    /// Returns whether an acquire that was refused asks in the list of its key. One that could not win stands in the way of
    /// those that could.
    pub(super) fn may_ask_waitlist(&self, cx: &Cx, request: RequestId, keys: &Keys) -> bool {
        Self::enlists(cx, keys)
            && cx.masters.quorum_can_vote(cx.now)
            && self
                .acquisitions
                .contention(request)
                .is_some_and(|found| !found.place.is_denied && found.standing.speaker().is_none())
            && cx.masters.first_node(cx.now, keys.first()).is_some()
    }

    /// Returns whether waiters were seen in the list of a key lately.
    pub(super) fn is_waited_for(&self, cx: &Cx, keys: &Keys) -> bool {
        self.waitlists.is_waited_for(cx.now, keys.first())
    }

    /// Notes what was seen of a key, if there are lists: after waiters, the next release of it calls.
    pub(super) fn note_seen(&mut self, cx: &Cx, key: &Arc<str>, seen: Seen) {
        if cx.masters.settings.waitlists.is_some() {
            self.waitlists.note(cx.now, key, seen);
        }
    }

    /// Asks in the list first if an acquire is fair, or its key was waited for lately. Returns `false` if its first
    /// attempt is due.
    pub(super) fn begins_in_waitlist(&mut self, cx: &mut Cx, request: RequestId) -> bool {
        let Some(acquisition) = self.acquisitions.get(request) else { return false };
        let (is_fair, until) = (acquisition.request.is_fair, acquisition.until());
        if !is_fair && self.waitlists.0.is_empty() {
            return false;
        }
        let keys = acquisition.request.keys.clone();
        let asks_first = is_fair || cx.now < until && self.is_waited_for(cx, &keys);
        if !(asks_first && self.may_ask_waitlist(cx, request, &keys)) {
            return false;
        }
        let random = Some(cx.masters.random.jitter());
        let Some(contention) = self.acquisitions.contention_mut(request) else { return false };
        let failure = Failure::contended(Obstacle::Holder(None), 0);
        let (failed, since) = (AttemptId::NONE, cx.now);
        contention.phase = Phase::Waiting { failed, since, random, again_at: since, failure };
        contention.listening = true;
        self.ask_waitlist(cx, request)
    }

    /// Asks in the list instead of the attempt that is due. Returns `false` if the attempt is due.
    pub(super) fn asks_from_waitlist(&mut self, cx: &mut Cx, request: RequestId) -> bool {
        let Some(acquisition) = self.acquisitions.get(request) else { return false };
        let (keys, is_fair) = (&acquisition.request.keys, acquisition.request.is_fair);
        let Some(contention) = &acquisition.contention else { return false };
        let is_over = contention.place.is_over(cx.now, acquisition.until(), is_fair);
        if is_over || !self.may_ask_waitlist(cx, request, keys) {
            return false;
        }
        let Some(entry) = &contention.place.entry else {
            return is_fair && self.ask_waitlist(cx, request);
        };
        let seldom = cx.masters.settings.backoff.cap.saturating_mul(ASKS_ALL_AFTER);
        let is_due = entry.is_in_front() && cx.now >= contention.asked_all.after(seldom);
        let asks_all = (is_due || entry.tries_at_all())
            && !(is_fair && entry.is_behind())
            && !entry.lacks_key();
        // One that has no answer in time asks all masters.
        let asks = entry.asked_at.is_none() && entry.trial.is_none() && !asks_all;
        asks && self.ask_waitlist(cx, request)
    }

    /// Asks at once, since the key is said to be free. Returns `false` if it does not wait in a list.
    pub(super) fn asks_at_once(&mut self, cx: &mut Cx, request: RequestId) -> bool {
        let Some(contention) = self.acquisitions.contention_mut(request) else { return false };
        match &contention.place.entry {
            Some(entry) if matches!(contention.phase, Phase::Waiting { .. }) => {
                entry.asked_at.is_some() || self.ask_waitlist(cx, request)
            }
            _ => false,
        }
    }

    /// Asks whether a waiter may try, or where it stands. Returns `false` if nothing is asked.
    pub(super) fn ask_waitlist(&mut self, cx: &mut Cx, request: RequestId) -> bool {
        let Some(acquisition) = self.acquisitions.get_mut(request) else { return false };
        let question = Question {
            request,
            wanted: acquisition.request.keys.first().into(),
            is_fair: acquisition.request.is_fair,
            until: acquisition.until(),
            timeout: cx.masters.settings.round_timeout(acquisition.request.ttl.span()),
        };
        let Some(contention) = &mut acquisition.contention else { return false };
        let ends_at = contention.place.ask(cx, &mut self.mailboxes, &question);
        if let (Some(ends_at), Phase::Waiting { again_at, .. }) = (ends_at, &mut contention.phase) {
            // For an answer that does not come.
            let old = std::mem::replace(again_at, ends_at);
            self.try_sooner(cx, request, (old, ends_at));
        }
        ends_at.is_some()
    }

    /// Handles the answer to a waiter.
    pub(crate) fn listed(
        &mut self,
        cx: &mut Cx,
        node: usize,
        request: RequestId,
        waiter: Token,
        reply: &Reply,
    ) {
        let Some(acquisition) = self.acquisitions.get_mut(request) else {
            return self.pool_listed(cx, request, (node, waiter), reply);
        };
        let is_over = acquisition.is_over_fairly(cx.now);
        let keys = acquisition.request.keys.clone();
        let Some(contention) = &mut acquisition.contention else { return };
        let found = match contention.place.hear(cx, (node, waiter), reply, false) {
            Heard::Listed(listed) => listed.what,
            Heard::Forgotten => {
                self.ask_waitlist(cx, request);
                return;
            }
            Heard::Denied => return self.wait_without_list(cx, request, &keys),
            Heard::Late => return,
        };
        self.waitlists.note(cx.now, keys.first(), Seen::Waiters);
        match found {
            Found::Free => self.try_as_called(cx, request),
            Found::GoesOn => _ = self.ask_waitlist(cx, request),
            _ if is_over => {
                self.note_place(cx, request, &keys, found);
                self.give_up(cx, request);
            }
            _ => self.stand(cx, request, &keys, found),
        }
    }

    /// Lets an acquire wait as if there were no lists.
    fn wait_without_list(&mut self, cx: &mut Cx, request: RequestId, keys: &Keys) {
        let listening = self.listen(cx, keys);
        let Some(contention) = self.acquisitions.contention_mut(request) else { return };
        contention.listening = listening;
        let Phase::Waiting { failure, .. } = &mut contention.phase else { return };
        if failure.ahead.take().is_some() {
            cx.events.push(Event::Ahead { request, ahead: None });
        }
        if contention.attempts == 0 {
            self.retry(cx, request);
        }
    }

    /// Waits by its place in the list.
    fn stand(&mut self, cx: &mut Cx, request: RequestId, keys: &Keys, found: Found) {
        let random = cx.masters.random.jitter();
        let settings = cx.masters.settings.clone();
        let hears = self.hears(cx, keys.first());
        let Some(acquisition) = self.acquisitions.get_mut(request) else { return };
        let (until, ttl) = (acquisition.until(), acquisition.request.life().span());
        let is_fair = acquisition.request.is_fair;
        let Some(contention) = &mut acquisition.contention else { return };
        contention.not_its_turn();
        let ahead = contention.place.entry.as_ref().and_then(|entry| entry.ahead);
        let seen = match &contention.phase {
            Phase::Waiting { failure, .. } => failure.ahead,
            _ => None,
        };
        contention.is_behind_others |= found.is_behind_others(ahead.unwrap_or(0));
        let list = (keys.first(), found);
        let answer = contention.place.stand(cx, &self.mailboxes, list, is_fair);
        let Some((is_reached, listens)) = answer else { return };
        contention.listening = is_reached || hears;
        let Some(pause) = contention.pause_in_waitlist(cx.now, &settings, (found, ttl), random)
        else {
            return;
        };
        if let Phase::Waiting { again_at, .. } = &mut contention.phase {
            let at = cx.now.after(pause).min(until);
            let old = std::mem::replace(again_at, at);
            self.try_sooner(cx, request, (old, at));
        }
        self.note_place(cx, request, keys, found);
        if seen != ahead {
            cx.events.push(Event::Ahead { request, ahead });
        }
        // If all of a crowd listened, each newcomer that takes the lock would have all of them listen.
        if listens {
            self.listen(cx, keys);
            self.ask_holders(cx, request, keys);
        } else {
            self.stop_listening(cx, keys);
        }
        self.observe_wait(cx, request);
    }
}

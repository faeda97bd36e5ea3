//! Waitlists: an acquire that was refused waits in a list at the key's first node, and a release calls the first
//! waiter there. So a hand-over costs the same, however many wait.
//!
//! 1. An acquire that was refused asks `waitlist.lua`, which enters it, and says how many are ahead. The further back
//!    it stands, the more seldom it asks again.
//! 2. A release by a client that knows of waiters, or has held the key for long, calls the first of them, in
//!    the mailbox of its process. For a moment, no other waiter tries. A question that finds the key free calls the first,
//!    too. A waiter tells the holder that it waits (`asking.rs`).
//! 3. The waiter that is called asks all masters, as any acquire does.
//!
//! A list decides only which client tries when: it gives no vote. A call that is lost, or whose waiter has
//! stopped, costs that moment: the last of the list watches the calls of a moment. What is lost besides is found by
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
use crate::waiting::rules::News;
use crate::waiting::tuning::ASKS_ALL_AFTER;
use crate::wire::waitlist::{Found, KNOWN_FOR};
use crate::wire::{Reply, Token};
pub(crate) use entry::Entry;
pub(in crate::waiting) use entry::Trial;
pub(in crate::waiting) use place::Heard;
pub(crate) use place::Place;
use std::sync::Arc;

/// Whether clients in other processes wait for a key, as far as this one knows. Any other key is released, and asked for,
/// as one that no client waits for.
#[derive(Default)]
pub(crate) struct Waitlists(Lately<bool, { KNOWN_FOR.as_secs() }>);

impl Waitlists {
    /// Notes whether clients wait for a key, or for a slot of a semaphore: the next release of it calls if some do.
    pub(super) fn note(&mut self, now: Instant, channel: &Arc<str>, waited_for: bool) {
        self.0.note(now, channel, waited_for);
    }

    /// Returns whether waiters were seen of a key, or of a semaphore's channel, lately.
    pub(super) fn is_waited_for(&self, now: Instant, key: &str) -> bool {
        self.0.get(now, key).is_some_and(|(_, waited_for)| waited_for)
    }
}

impl Waiters {
    /// Returns whether an acquire that was refused asks in the list of its key. One that could not win stands in the way of
    /// those that could.
    pub(super) fn may_ask_waitlist(&self, cx: &Cx, request: RequestId) -> bool {
        let Some(acquisition) = self.acquisitions.get(request) else { return false };
        let keys = &acquisition.request.keys;
        Self::enlists(cx, keys)
            && cx.masters.quorum_can_vote(cx.now)
            && acquisition.contention.as_ref().is_some_and(|found| {
                !found.place.is_denied
                    && found.standing.speaker().is_none()
                    && cx.masters.first_node(cx.now, found.list(keys)).is_some()
            })
    }

    /// Asks in the list first if an acquire is fair, or its key was waited for lately. Returns `false` if its first
    /// attempt is due.
    pub(super) fn begins_in_waitlist(&mut self, cx: &mut Cx, request: RequestId) -> bool {
        let Some(acquisition) = self.acquisitions.get(request) else { return false };
        let keys = &acquisition.request.keys;
        let waited_for = keys.iter().position(|key| self.waitlists.is_waited_for(cx.now, key));
        let asks_first =
            acquisition.request.is_fair || acquisition.may_retry(cx.now) && waited_for.is_some();
        let asks = asks_first && self.may_ask_waitlist(cx, request);
        if asks && let Some(contention) = self.acquisitions.contention_mut(request) {
            let random = Some(cx.masters.random.jitter());
            let failure = Failure::contended(Obstacle::Holder(None), 0);
            let (failed, since) = (AttemptId::NONE, cx.now);
            contention.phase = Phase::Waiting { failed, since, random, again_at: since, failure };
            contention.listening = true;
            contention.waits_for = waited_for.unwrap_or_default();
        }
        asks && self.ask_waitlist(cx, request)
    }

    /// Returns what the end of its pause means to an acquire: that it is to ask in its list, or to try.
    pub(super) fn due(&self, cx: &Cx, request: RequestId) -> News {
        let Some(acquisition) = self.acquisitions.get(request) else { return News::DueAtAll };
        let (is_fair, until) = (acquisition.request.is_fair, acquisition.until());
        let Some(contention) = &acquisition.contention else { return News::DueAtAll };
        let seldom = cx.masters.settings.backoff.cap.saturating_mul(ASKS_ALL_AFTER);
        let is_due = cx.now >= contention.asked_all.after(seldom);
        let asks_all = match &contention.place.entry {
            Some(entry) => {
                (is_due && entry.is_in_front() || entry.is_passed && entry.ahead == Some(0))
                    && !(is_fair && entry.is_behind())
                    && !entry.lacks_key()
            }
            None => !is_fair,
        };
        let asks = !asks_all
            && !contention.place.is_over(cx.now, until, is_fair)
            && self.may_ask_waitlist(cx, request);
        if asks { News::Due } else { News::DueAtAll }
    }

    /// Asks whether a waiter may try, or where it stands. Returns `false` if nothing is asked.
    pub(super) fn ask_waitlist(&mut self, cx: &mut Cx, request: RequestId) -> bool {
        let Some((acquire, contention)) = self.acquisitions.contending(request) else {
            return false;
        };
        let (wanted, until) = (contention.list(&acquire.keys).into(), contention.until);
        let ends_at = contention.place.ask(cx, request, wanted, (acquire, until));
        let Some(ends_at) = ends_at else { return false };
        // For an answer that does not come.
        self.pause_until(cx, request, ends_at);
        true
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
        self.waitlists.note(cx.now, contention.list(&keys), true);
        match found {
            Found::Free => {
                if let Some(entry) = &mut contention.place.entry {
                    // A message that has come, too, says more.
                    entry.trial.get_or_insert(Trial::FoundFree);
                }
                self.learns(cx, request, News::Called);
            }
            Found::GoesOn => _ = self.ask_waitlist(cx, request),
            _ if is_over => {
                contention.note_place(cx, &keys, found);
                self.give_up(cx, request);
            }
            _ => self.stand(cx, request, &keys, found),
        }
    }

    /// Lets an acquire wait as if there were no lists.
    fn wait_without_list(&mut self, cx: &mut Cx, request: RequestId, keys: &Keys) {
        let Some(awaited) = self.acquisitions.contention(request).map(|found| found.awaited(keys))
        else {
            return;
        };
        let listening = self.listen(cx, &awaited);
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
        let Some(contention) = self.acquisitions.contention(request) else { return };
        let (list, awaited) = (contention.list(keys).clone(), contention.awaited(keys));
        let hears = self.hears(cx, &list);
        let Some((acquire, contention)) = self.acquisitions.contending(request) else { return };
        let (is_fair, ttl) = (acquire.is_fair, acquire.life().span());
        contention.since_notice = None;
        let ahead = contention.place.entry.as_ref().and_then(|entry| entry.ahead);
        let seen = match &contention.phase {
            Phase::Waiting { failure, .. } => failure.ahead,
            _ => None,
        };
        contention.is_behind_others |= found.is_behind_others(ahead.unwrap_or(0));
        let answer = contention.place.stand(cx, &self.mailboxes, (&list, found), is_fair);
        let Some((is_reached, listens)) = answer else { return };
        contention.listening = is_reached || hears;
        let Some(pause) = contention.pause_in_waitlist(cx.now, &settings, (found, ttl), random)
        else {
            return;
        };
        contention.note_place(cx, keys, found);
        let at = cx.now.after(pause).min(contention.until);
        self.pause_until(cx, request, at);
        if seen != ahead {
            cx.events.push(Event::Ahead { request, ahead });
        }
        // If all of a crowd listened, each newcomer that takes the lock would have all of them listen.
        if listens {
            self.listen(cx, &awaited);
            self.ask_holders(cx, request, &awaited);
        } else {
            self.stop_listening(cx, keys);
        }
        self.observe_wait(cx, request);
    }
}

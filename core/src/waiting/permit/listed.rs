//! The waitlist of a semaphore: all that seek a permit in this process stand in it as one waiter, and a release calls
//! that waiter for the slot which it frees. So it costs the same, however many processes wait.
//!
//! It is as with the list of a key (`waiting/waitlist`), and simpler: no client that does not know of lists holds a slot.

use super::pool::{Lead, Phase};
use crate::pace::Backoff;
use crate::quorum::Instant;
use crate::shared::{Cx, Event, Failure, Keys, RequestId};
use crate::waiting::Waiters;
use crate::waiting::asking::ask_holders;
use crate::waiting::waitlist::{ASKS_ALL_AFTER, Heard, Question, Seen, Trial};
use crate::wire::waitlist::{Found, Listed, Says};
use crate::wire::{Reply, Token};
use std::sync::Arc;
use std::time::Duration;

impl Waiters {
    /// Asks in the list first if it is fair, or the semaphore is known to be waited for, or waits behind another that does.
    /// Returns `false` if a first try is due.
    pub(super) fn seeks_in_list(&mut self, cx: &mut Cx, request: RequestId) -> bool {
        let Some(seeker) = self.semaphores.seekers.get(&request) else { return false };
        let is_waited_for = self.waitlists.is_waited_for(cx.now, seeker.slots.channel());
        if !(seeker.acquire.is_fair || seeker.waits(cx.now) && is_waited_for) {
            return false;
        }
        if self.is_head(request) {
            if let Some(again_at) = self.slots_left_until(cx, request) {
                self.set_phase(cx, request, Phase::Paused { again_at });
                return true;
            }
            return self.ask_for_any(cx, request);
        }
        let is_denied = self.semaphores.pool(request).is_none_or(|pool| pool.place.is_denied);
        if !is_denied {
            self.queue_seeker(cx, request);
        }
        !is_denied
    }

    /// Returns whether the release of a slot calls although no waiter is known: a client that always finds a slot free
    /// learns in no other way that others wait.
    pub(in crate::waiting) fn asks_for_waiters(cx: &Cx, keys: &Keys) -> bool {
        cx.masters.settings.waitlists.is_some() && keys.as_slot().is_some()
    }

    /// Asks in the list instead of a look at all slots. Returns `false` if that look is due.
    pub(super) fn asks_again(&mut self, cx: &mut Cx, request: RequestId) -> bool {
        let Some(pool) = self.semaphores.pool(request) else { return false };
        let seldom = cx.masters.settings.backoff.cap.saturating_mul(ASKS_ALL_AFTER);
        let is_in_front = pool.place.entry.as_ref().is_none_or(|entry| entry.is_in_front())
            && !self.semaphores.is_behind(request);
        let looks = is_in_front && cx.now >= pool.looked_at.after(seldom);
        !looks && self.ask_for_any(cx, request)
    }

    /// Asks whether the first that seeks a permit here may try a slot, or where it stands. Returns `false` if nothing
    /// is asked.
    pub(super) fn ask_for_any(&mut self, cx: &mut Cx, request: RequestId) -> bool {
        // Its question would find a slot free that is left to others, and keep it for itself.
        if !self.is_head(request) || self.slots_left_until(cx, request).is_some() {
            return false;
        }
        let Some(seeker) = self.semaphores.seekers.get(&request) else { return false };
        let (slots, until) = (seeker.slots.clone(), seeker.until());
        let Some(pool) = self.semaphores.pools.get_mut(slots.channel()) else { return false };
        let is_fair = seeker.acquire.is_fair;
        // A fair seeker asks before its only attempt, too.
        let is_over = cx.now >= until && !(is_fair && pool.place.entered_at.is_none());
        // One that could not win stands in the way of those that could.
        if pool.place.is_denied || is_over || !cx.masters.quorum_can_vote(cx.now) {
            return false;
        }
        let question = Question {
            request: pool.asker,
            wanted: (&*slots).into(),
            is_fair,
            until,
            timeout: cx.masters.settings.round_timeout(seeker.acquire.ttl.span()),
        };
        let again_at = pool.place.ask(cx, &mut self.mailboxes, &question);
        if let Some(again_at) = again_at {
            // For an answer that does not come.
            pool.again_at = Some(again_at);
            self.set_phase(cx, request, Phase::Paused { again_at });
        }
        again_at.is_some()
    }

    /// Handles the answer.
    pub(in crate::waiting) fn pool_listed(
        &mut self,
        cx: &mut Cx,
        asker: RequestId,
        of: (usize, Token),
        reply: &Reply,
    ) {
        let Some((channel, head)) = self.semaphores.pool_of(asker) else { return };
        let Some(pool) = self.semaphores.pools.get_mut(&channel) else { return };
        let listed = match pool.place.hear(cx, of, reply, true) {
            Heard::Listed(listed) => listed,
            Heard::Forgotten => {
                self.ask_for_any(cx, head);
                return;
            }
            Heard::Denied => return self.seek_without_list(cx, head),
            Heard::Late => return,
        };
        let Some(slot) = listed.slot else { return };
        self.waitlists.note(cx.now, &channel, Seen::Waiters);
        match listed.what {
            Found::Free => {
                pool.found_free.insert(slot);
                return self.semaphores.stirred.push_back(channel);
            }
            Found::GoesOn if self.ask_for_any(cx, head) => return,
            _ => {}
        }
        let Some(seeker) = self.semaphores.seekers.get_mut(&head) else { return };
        let is_fair = seeker.acquire.is_fair;
        let ahead = Some(listed.ahead).filter(|_| is_fair);
        if std::mem::replace(&mut seeker.ahead, ahead) != ahead {
            cx.events.push(Event::Ahead { request: head, ahead });
        }
        if matches!(seeker.phase, Phase::Paused { .. }) {
            match is_fair && !seeker.waits(cx.now) {
                true => self.end_seeking(cx, head),
                false => self.stand_for_slot(cx, head, slot, &listed),
            }
        }
    }

    /// Goes on as if there were no lists.
    fn seek_without_list(&mut self, cx: &mut Cx, head: RequestId) {
        let Some(seeker) = self.semaphores.seekers.get_mut(&head) else { return };
        if seeker.ahead.take().is_some() {
            cx.events.push(Event::Ahead { request: head, ahead: None });
        }
        match seeker.phase {
            Phase::Paused { .. } if seeker.attempts == 0 => self.try_own_slot(cx, head),
            Phase::Paused { .. } => self.look_at_slots(cx, head, false),
            _ => {}
        }
    }

    /// Waits by its place in the list. This slot will be free first.
    fn stand_for_slot(&mut self, cx: &mut Cx, head: RequestId, slot: u8, listed: &Listed) {
        let life = listed.what.life();
        let Some(as_in_front) = self.pause_for(cx, head, life) else { return };
        let random = cx.masters.random.jitter();
        let Some(seeker) = self.semaphores.seekers.get_mut(&head) else { return };
        seeker.is_behind_others |= listed.what.is_behind_others(listed.ahead);
        let (slots, until) = (seeker.slots.clone(), seeker.until());
        let (spans, is_fair) =
            ((as_in_front, seeker.acquire.life().span()), seeker.acquire.is_fair);
        let Some(pool) = self.semaphores.pools.get_mut(slots.channel()) else { return };
        let list = (slots.channel(), listed.what);
        let answer = pool.place.stand(cx, &self.mailboxes, list, is_fair);
        let (Some((_, looks)), Some(entry)) = (answer, &mut pool.place.entry) else { return };
        let backoff = &cx.masters.settings.backoff;
        let pause = entry.pause(backoff, cx.now, spans, listed.what, random);
        let again_at = cx.now.after(pause).min(until);
        pool.again_at = Some(again_at);
        pool.expires_at = life.map(|life| cx.now.after(life)).or(pool.expires_at);
        if looks
            && let Some(keys) = slots.keys(slot)
            && !self.local_queue.is_wanted(keys.first())
        {
            ask_holders(cx, &mut pool.place.asked_at, keys);
        }
        self.set_phase(cx, head, Phase::Paused { again_at });
    }

    /// Goes to the end of the list, since others are to have what this process gives back: it is called otherwise, if
    /// it came before them.
    pub(super) fn goes_to_the_end(&mut self, cx: &mut Cx, channel: &Arc<str>) {
        // A fair seeker keeps its place when another one of this process has had a permit.
        if self.semaphores.is_first_fair(channel) {
            return;
        }
        let Some(pool) = self.semaphores.pools.get_mut(channel) else { return };
        pool.place.entered_at = None;
        let head = pool.line.head();
        let Some(entry) = &mut pool.place.entry else { return };
        // One that has just asked is there.
        if entry.stands && entry.asked_at.is_none() {
            cx.masters.sessions[entry.node].leave_waitlist(channel, entry.waiter);
            (entry.stands, entry.stamp) = (false, None);
        }
        if let Some(head) = head
            && let Some(Phase::Paused { .. }) =
                self.semaphores.seekers.get(&head).map(|seeker| seeker.phase)
        {
            self.ask_for_any(cx, head);
        }
    }

    /// Leaves the list: the next seeker of this process enters at its end.
    pub(super) fn leave_place(&mut self, cx: &mut Cx, channel: &Arc<str>) {
        if let Some(pool) = self.semaphores.pools.get_mut(channel) {
            pool.place.leave(cx, channel);
        }
    }

    /// Handles the call of a waiter for a slot: it is for any seeker of a permit here, unless the first is fair, and has
    /// another place. If there is none, the next is called.
    pub(crate) fn slot_called(&mut self, cx: &mut Cx, waiter: &str, slot: u8, channel: &str) {
        let channel: Arc<str> = channel.into();
        let Some(node) = cx.masters.first_node(cx.now, &channel) else { return };
        let lead = Lead::Listed(Trial::Called);
        let is_sought = self.semaphores.idle(&channel, slot, lead).is_some();
        let is_fair = self.semaphores.is_first_fair(&channel);
        // Of a semaphore that is not sought any more, no more is known: the last of the list watches the call.
        let Some(pool) = self.semaphores.pools.get_mut(&channel) else { return };
        pool.hears(cx.now);
        let entry = pool.place.entry.as_mut().filter(|entry| entry.is(waiter));
        let is_its_place = entry.is_some();
        if let Some(entry) = entry {
            // A question under way enters it again.
            entry.stands = entry.asked_at.is_some();
        }
        if is_sought && (is_its_place || !is_fair) {
            pool.called.insert(slot);
            return self.semaphores.stirred.push_back(channel);
        }
        let head = pool.line.head().and_then(|head| self.semaphores.seekers.get(&head));
        if let Some(keys) = head.and_then(|head| head.slots.keys(slot)) {
            cx.masters.notify(node, keys.clone(), Some(Says::Held));
        }
    }

    /// Notes whether a slot that was refused is free where the list is: its hold lacks the key there, and a question
    /// would find it free again.
    pub(super) fn note_lacking(&mut self, request: RequestId, failure: &Failure) {
        let Some(seeker) = self.semaphores.seekers.get_mut(&request) else { return };
        let Some(trial) = seeker.trial.take().filter(|_| failure.kind.is_contended()) else {
            return;
        };
        let Some(pool) = self.semaphores.pools.get_mut(seeker.slots.channel()) else { return };
        if let Some(entry) = &mut pool.place.entry {
            entry.finds_lacking(Some(trial), &failure.reports);
        }
    }

    /// Lets the first that seeks here ask once the moment is over in which only the called waiter tries.
    pub(in crate::waiting) fn pool_watches(&mut self, cx: &mut Cx, channel: &str) {
        let Some(pool) = self.semaphores.pools.get_mut(channel) else { return };
        let Some(entry) = pool.place.entry.as_mut().filter(|entry| entry.stands) else { return };
        entry.watches = true;
        let at = cx.now.after(entry.quiet());
        pool.hears(cx.now);
        self.seek_sooner(cx, channel, at);
    }

    /// Notes that other processes waited in the list as its first was called: the keys are not left to clients that poll.
    pub(in crate::waiting) fn share(&mut self, cx: &mut Cx, keys: &Keys) {
        let was_left = self.left_until(cx.now, keys).is_some();
        self.left.share(cx.now, keys);
        if let Some((channel, _)) = keys.as_slot().filter(|_| was_left) {
            let channel = channel.clone();
            self.seek_sooner(cx, &channel, cx.now);
        }
    }

    pub(super) fn seek_sooner(&mut self, cx: &mut Cx, channel: &str, at: Instant) {
        let Some(pool) = self.semaphores.pools.get_mut(channel) else { return };
        let Some(head) = pool.line.head() else { return };
        if let Some(seeker) = self.semaphores.seekers.get(&head)
            && let Phase::Paused { again_at } = seeker.phase
            && at < again_at
        {
            pool.again_at = Some(at);
            self.set_phase(cx, head, Phase::Paused { again_at: at });
        }
    }

    /// Forgets the places at a node whose connection is gone. Their messages have been missed.
    pub(crate) fn forget_places(&mut self, cx: &mut Cx, node: usize) {
        let mut gone = Vec::new();
        for (channel, pool) in &mut self.semaphores.pools {
            gone.extend(
                pool.place.entry.take_if(|entry| entry.node == node).map(|_| channel.clone()),
            );
        }
        let Backoff { cap, .. } = cx.masters.settings.backoff;
        for channel in gone {
            // A fair seeker takes its place in the list of another master before newcomers do.
            let cap = if self.semaphores.is_first_fair(&channel) { Duration::ZERO } else { cap };
            let random = cx.masters.random.jitter();
            let soon = Backoff { base: cap, cap }.delay(0, None, random);
            self.seek_sooner(cx, &channel, cx.now.after(soon));
        }
    }

    /// Lets those ask again that stand in a list where no release looks for it any more.
    pub(crate) fn move_places(&mut self, cx: &mut Cx) {
        let moved = self.semaphores.pools.iter().filter_map(|(channel, pool)| {
            let is_there =
                Some(pool.place.entry.as_ref()?.node) == cx.masters.first_node(cx.now, channel);
            let head = pool.line.head().filter(|_| !is_there)?;
            let phase = self.semaphores.seekers.get(&head)?.phase;
            matches!(phase, Phase::Paused { .. }).then_some(head)
        });
        for head in moved.collect::<Vec<_>>() {
            self.ask_for_any(cx, head);
        }
    }
}

//! The waitlist of a semaphore: all that seek a permit in this process stand in it as one waiter, and a release calls
//! that waiter for the slot which it frees. So it costs the same, however many processes wait.
//!
//! It is as with the list of a key (`waiting/waitlist`), and simpler: no client that does not know of lists holds a slot.

use super::pool::{Lead, Phase, Seeker};
use super::{Next, Seeking};
use crate::pace::Backoff;
use crate::quorum::Instant;
use crate::shared::{Cx, Event, Keys, RequestId};
use crate::waiting::Waiters;
use crate::waiting::asking::ask_holders;
use crate::waiting::tuning::ASKS_ALL_AFTER;
use crate::waiting::waitlist::{Heard, Trial};
use crate::wire::waitlist::{Found, Listed, Says};
use crate::wire::{Reply, Token};
use std::sync::Arc;
use std::time::Duration;

impl Waiters {
    /// Asks in the list first if it is fair, or the semaphore is known to be waited for, or waits behind another that does.
    /// Returns `None` if a first try is due.
    pub(super) fn seeks_in_list(&mut self, cx: &mut Cx, seeking: &mut Seeking) -> Option<Next> {
        let Seeking { pool, seeker } = &*seeking;
        let is_waited_for = self.waitlists.is_waited_for(cx.now, seeker.slots.channel());
        if !(seeker.acquire.is_fair || seeker.waits(cx.now) && is_waited_for) {
            return None;
        }
        if !seeking.is_head() {
            return (!pool.place.is_denied).then_some(Next::Queue);
        }
        match self.slots_left_until(cx, seeker) {
            Some(again_at) => Some(Next::Pause { again_at }),
            None => self.ask_for_any(cx, seeking),
        }
    }

    /// Asks in the list instead of a look at all slots. Returns `None` if that look is due.
    pub(super) fn asks_again(&mut self, cx: &mut Cx, seeking: &mut Seeking) -> Option<Next> {
        let seldom = cx.masters.settings.backoff.cap.saturating_mul(ASKS_ALL_AFTER);
        let pool = &seeking.pool;
        let is_in_front = pool.place.entry.as_ref().is_none_or(|entry| entry.is_in_front());
        let is_due = cx.now >= pool.looked_at.after(seldom);
        let looks = is_in_front && is_due && !seeking.is_behind();
        if looks { None } else { self.ask_for_any(cx, seeking) }
    }

    /// Asks whether the first that seeks a permit here may try a slot, or how many are ahead. Returns `None` if nothing
    /// is asked.
    pub(super) fn ask_for_any(&mut self, cx: &mut Cx, seeking: &mut Seeking) -> Option<Next> {
        let is_head = seeking.is_head();
        let Seeking { pool, seeker } = seeking;
        let (is_fair, until) = (seeker.acquire.is_fair, seeker.until());
        // A question would find a slot free that is left to others, and keep it for itself. A seeker that could not win
        // would be in the way of those that could.
        if !is_head
            || self.slots_left_until(cx, seeker).is_some()
            || pool.place.is_denied
            || pool.place.is_over(cx.now, until, is_fair)
            || !cx.masters.quorum_can_vote(cx.now)
        {
            return None;
        }
        let wanted = (&*seeker.slots).into();
        // For an answer that does not come.
        let again_at = pool.place.ask(cx, pool.asker, wanted, (&seeker.acquire, until))?;
        Some(Next::Pause { again_at })
    }

    /// Handles the answer.
    pub(in crate::waiting) fn pool_listed(
        &mut self,
        cx: &mut Cx,
        asker: RequestId,
        of: (usize, Token),
        reply: &Reply,
    ) {
        let pool = self.semaphores.pools.values().find(|pool| pool.asker == asker);
        let Some(head) = pool.and_then(|pool| pool.head()) else { return };
        self.go_on_seeking(cx, head.request, |waiters, cx, seeking| {
            match seeking.pool.place.hear(cx, of, reply, true) {
                Heard::Listed(listed) => waiters.slot_listed(cx, seeking, &listed),
                Heard::Forgotten => waiters.ask_for_any(cx, seeking),
                Heard::Denied => waiters.seeks_without_list(cx, seeking),
                Heard::Late => None,
            }
        });
    }

    fn slot_listed(&mut self, cx: &mut Cx, seeking: &mut Seeking, listed: &Listed) -> Option<Next> {
        let slot = listed.slot?;
        let Seeking { pool, seeker } = &mut *seeking;
        let channel = seeker.slots.channel();
        self.waitlists.note(cx.now, channel, true);
        if listed.what == Found::Free {
            pool.leads.insert((Lead::Listed(Trial::FoundFree), slot));
            self.semaphores.stirred.push_back(channel.clone());
            return None;
        }
        if listed.what == Found::GoesOn
            && let Some(asks) = self.ask_for_any(cx, seeking)
        {
            return Some(asks);
        }
        let seeker = &mut seeking.seeker;
        let is_fair = seeker.acquire.is_fair;
        note_ahead(cx, seeker, Some(listed.ahead).filter(|_| is_fair));
        match seeker.is_paused() {
            true if is_fair && !seeker.waits(cx.now) => Some(Next::End),
            true => self.pause_for_slot(cx, seeking, slot, listed),
            false => None,
        }
    }

    /// Goes on as if there were no lists.
    fn seeks_without_list(&mut self, cx: &mut Cx, seeking: &mut Seeking) -> Option<Next> {
        note_ahead(cx, &mut seeking.seeker, None);
        match seeking.seeker.is_paused() {
            true if seeking.seeker.attempts == 0 => Some(self.own_slot(cx, seeking)),
            true => Some(Next::Look { all: false }),
            false => None,
        }
    }

    /// Waits by its place in the list. This slot will be free first.
    fn pause_for_slot(
        &mut self,
        cx: &mut Cx,
        seeking: &mut Seeking,
        slot: u8,
        listed: &Listed,
    ) -> Option<Next> {
        let life = listed.what.life();
        let as_in_front = self.pause_for(cx, seeking, life);
        let random = cx.masters.random.jitter();
        let Seeking { pool, seeker } = seeking;
        seeker.is_behind_others |= listed.what.is_behind_others(listed.ahead);
        let list = (seeker.slots.channel(), listed.what);
        let (_, looks) = pool.place.stand(cx, &self.mailboxes, list, seeker.acquire.is_fair)?;
        let spans = (as_in_front, seeker.acquire.life().span());
        let backoff = &cx.masters.settings.backoff;
        let entry = pool.place.entry.as_mut()?;
        let again_at = cx.now.after(entry.pause(backoff, cx.now, spans, listed.what, random));
        pool.expires_at = life.map(|life| cx.now.after(life)).or(pool.expires_at);
        if looks
            && let Some(keys) = seeker.slots.keys(slot)
            && !self.local_queue.is_wanted(keys.first())
        {
            ask_holders(cx, &mut pool.place.asked_at, keys);
        }
        Some(Next::Pause { again_at })
    }

    /// Asks the holder of one slot to give way, unless one was asked a moment ago: of the slot that expires
    /// first, and so was not extended for the longest time.
    pub(super) fn ask_for_slot(
        &self,
        cx: &mut Cx,
        seeking: &mut Seeking,
        free_in: &[Option<Duration>],
    ) {
        let slots = &seeking.seeker.slots;
        let all = (0..slots.permits()).filter_map(|slot| slots.keys(slot)).zip(free_in);
        let elsewhere = all.filter(|(keys, _)| !self.local_queue.is_wanted(keys.first()));
        let known = elsewhere.filter_map(|(keys, left)| Some((keys, (*left)?)));
        if let Some((keys, _)) = known.min_by_key(|(_, left)| *left)
            && seeking.is_head()
        {
            ask_holders(cx, &mut seeking.pool.place.asked_at, keys);
        }
    }

    /// Goes to the end of the list, since others are to have what this process gives back: it is called otherwise, if
    /// it came before them.
    pub(super) fn goes_to_the_end(&mut self, cx: &mut Cx, channel: &Arc<str>) {
        let Some(head) = self.semaphores.head(channel) else { return };
        self.go_on_seeking(cx, head.request, |waiters, cx, seeking| {
            let Seeking { pool, seeker } = &mut *seeking;
            // A fair seeker keeps its place when another one of this process has had a permit.
            if seeker.acquire.is_fair {
                return None;
            }
            pool.place.entered_at = None;
            let entry = pool.place.entry.as_mut()?;
            // One that has just asked is there.
            if entry.stands && entry.asked_at.is_none() {
                entry.leave(cx, channel);
                entry.stamp = None;
            }
            if seeker.is_paused() { waiters.ask_for_any(cx, seeking) } else { None }
        });
    }

    /// Handles the call of a waiter for a slot: it is for any seeker of a permit here, unless the first is fair, and has
    /// another place. If there is none, the next is called.
    pub(crate) fn slot_called(&mut self, cx: &mut Cx, waiter: &str, slot: u8, channel: &str) {
        let channel: Arc<str> = channel.into();
        let Some(node) = cx.masters.first_node(cx.now, &channel) else { return };
        // Of a semaphore that is not sought any more, no more is known: the last of the list watches the call.
        let Some(pool) = self.semaphores.pools.get_mut(&channel) else { return };
        pool.unheard.hears_news(cx.now);
        let is_sought = pool.idle(slot, Lead::Listed(Trial::Called)).is_some();
        let is_fair = pool.is_first_fair();
        let entry = pool.place.entry.as_mut().filter(|entry| entry.is(waiter));
        let is_its_place = entry.is_some();
        let mut tries = true;
        if let Some(entry) = entry {
            // A question under way enters it again.
            entry.stands = entry.asked_at.is_some();
            tries = entry.tries(cx.now, slot);
        }
        if !tries {
            let paused = pool.head().filter(|head| head.is_paused()).map(|head| head.request);
            paused.into_iter().for_each(|head| self.go_on_seeking(cx, head, Self::ask_for_any));
        } else if is_sought && (is_its_place || !is_fair) {
            pool.leads.insert((Lead::Listed(Trial::Called), slot));
            self.semaphores.stirred.push_back(channel);
        } else if let Some(keys) = pool.head().and_then(|head| head.slots.keys(slot)) {
            cx.masters.notify(node, keys.clone(), Some(Says::Held));
        }
    }

    /// Lets the first that seeks here ask once the moment is over in which only the called waiter tries.
    pub(in crate::waiting) fn pool_watches(&mut self, cx: &mut Cx, channel: &str) {
        if let Some(pool) = self.semaphores.pools.get_mut(channel)
            && let Some(entry) = pool.place.entry.as_mut().filter(|entry| entry.stands)
        {
            entry.watches = true;
            let at = cx.now.after(entry.quiet());
            pool.unheard.hears_news(cx.now);
            self.seek_sooner(cx, channel, at);
        }
    }

    /// Notes that other processes waited in the list as its first was called: the keys are not left to clients that poll.
    pub(in crate::waiting) fn share(&mut self, cx: &mut Cx, keys: &Keys) {
        let was_left = self.left_until(cx.now, keys).is_some();
        self.left.share(cx.now, keys);
        if let Some((channel, _)) = keys.as_slot().filter(|_| was_left) {
            self.seek_sooner(cx, channel, cx.now);
        }
    }

    /// Lets the first that seeks here go on then, unless it does earlier.
    pub(super) fn seek_sooner(&mut self, cx: &mut Cx, channel: &str, at: Instant) {
        if let Some(head) = self.semaphores.head(channel)
            && matches!(head.phase, Phase::Paused { again_at } if at < again_at)
        {
            let pause = Next::Pause { again_at: at };
            self.go_on_seeking(cx, head.request, |_, _, _| Some(pause));
        }
    }

    /// Forgets the places at a node whose connection is gone. Their messages have been missed.
    pub(crate) fn forget_places(&mut self, cx: &mut Cx, node: usize) {
        let Backoff { cap, .. } = cx.masters.settings.backoff;
        let mut gone = Vec::new();
        for (channel, pool) in &mut self.semaphores.pools {
            if pool.place.entry.take_if(|entry| entry.node == node).is_some() {
                // A fair seeker takes its place in the list of another master before newcomers do.
                let cap = if pool.is_first_fair() { Duration::ZERO } else { cap };
                gone.push((channel.clone(), cap));
            }
        }
        for (channel, cap) in gone {
            let random = cx.masters.random.jitter();
            let soon = Backoff { base: cap, cap }.delay(0, None, random);
            self.seek_sooner(cx, &channel, cx.now.after(soon));
        }
    }

    /// Lets those ask again that stand in a list where no release looks for it any more.
    pub(crate) fn move_places(&mut self, cx: &mut Cx) {
        let moved = self.semaphores.pools.iter().filter_map(|(channel, pool)| {
            let node = pool.place.entry.as_ref()?.node;
            let is_there = Some(node) == cx.masters.first_node(cx.now, channel);
            pool.head().filter(|head| !is_there && head.is_paused()).map(|head| head.request)
        });
        for head in moved.collect::<Vec<_>>() {
            self.go_on_seeking(cx, head, Self::ask_for_any);
        }
    }
}

/// Tells the caller how many are ahead of it, if that is news.
fn note_ahead(cx: &mut Cx, seeker: &mut Seeker, ahead: Option<usize>) {
    if std::mem::replace(&mut seeker.ahead, ahead) != ahead {
        cx.events.push(Event::Ahead { request: seeker.request, ahead });
    }
}

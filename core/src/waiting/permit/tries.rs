//! The slots that a seeker tries, and its pauses.

use super::pool::{Lead, Seeker};
use super::slots::order;
use super::{Next, Seeking};
use crate::pace::Backoff;
use crate::quorum::Instant;
use crate::shared::{Cx, Failure};
use crate::waiting::Waiters;
use crate::waiting::tuning::HURRIES;
use std::time::Duration;

impl Waiters {
    /// Tries the first slot of this client's order that the process does not have.
    pub(super) fn own_slot(&mut self, cx: &mut Cx, seeking: &mut Seeking) -> Next {
        match self.picks(cx, &seeking.seeker, |_| true).first() {
            Some(&slot) => Next::Try { slot, probes: false },
            // All of them are held here, or left to others.
            None => match self.slots_left_until(cx, &seeking.seeker) {
                Some(again_at) => Next::Pause { again_at },
                None => self.pause(cx, seeking, None),
            },
        }
    }

    /// Returns those of the `wanted` slots that may be tried, in this client's order.
    pub(super) fn picks(
        &mut self,
        cx: &mut Cx,
        seeker: &Seeker,
        wanted: impl Fn(u8) -> bool,
    ) -> Vec<u8> {
        let client = *self.semaphores.client.get_or_insert_with(|| cx.masters.random.jitter());
        let (slots, waits) = (&seeker.slots, seeker.waits(cx.now));
        let is_left = |key: &str| waits && self.left.until(cx.now, key).is_some();
        let mut order = order(client, self.semaphores.last(slots.channel()), slots.permits());
        order.retain(|slot| {
            let key = slots.key(*slot).filter(|_| wanted(*slot));
            key.is_some_and(|key| !self.local_queue.is_wanted(key) && !is_left(key))
        });
        order
    }

    /// Returns until when a slot is left to others that this seeker could have, if one is.
    pub(super) fn slots_left_until(&self, cx: &Cx, seeker: &Seeker) -> Option<Instant> {
        let names = seeker.slots.names().iter().filter(|_| seeker.waits(cx.now));
        names.filter_map(|key| self.left.until(cx.now, key)).min()
    }

    /// Goes on after a slot was refused.
    pub(super) fn slot_refused(
        &mut self,
        cx: &mut Cx,
        seeking: &mut Seeking,
        failure: Failure,
    ) -> Next {
        let is_full = failure.kind.is_contended();
        let Seeking { pool, seeker } = &mut *seeking;
        if let (true, Some(trial), Some(entry)) =
            (is_full, seeker.trial.take(), &mut pool.place.entry)
        {
            // Its hold may lack the key where the list is: a question would find it free again.
            entry.finds_lacking(Some(trial), &failure.reports);
        }
        seeker.failure = Some(failure);
        let (waits, in_vain) = (seeker.waits(cx.now), seeker.in_vain);
        match (is_full, waits) {
            (false, true) => self.pause(cx, seeking, None),
            (false, false) => Next::End,
            (true, false) if in_vain >= HURRIES => Next::End,
            (true, true) if !seeking.is_head() => Next::Queue,
            (true, _) if in_vain < HURRIES => {
                let asks = if waits { self.ask_for_any(cx, seeking) } else { None };
                asks.unwrap_or(Next::Look { all: false })
            }
            (true, _) if in_vain == HURRIES => Next::Look { all: true },
            (true, _) => self.pause(cx, seeking, None),
        }
    }

    /// Goes on after a look.
    pub(super) fn slots_seen(
        &mut self,
        cx: &mut Cx,
        seeking: &mut Seeking,
        all: bool,
        free_in: &[Option<Duration>],
    ) -> Next {
        let is_behind = seeking.is_behind();
        let Seeking { pool, seeker } = &mut *seeking;
        let is_free =
            |slot: u8| !is_behind && free_in.get(usize::from(slot)) == Some(&Some(Duration::ZERO));
        let left = free_in.iter().flatten().copied().filter(|left| !left.is_zero()).min();
        if let Some(left) = left {
            pool.expires_at = Some(cx.now.after(left));
        }
        if let Some((&slot, others)) = self.picks(cx, seeker, is_free).split_first() {
            seeker.in_vain = seeker.in_vain.saturating_add(1);
            if seeker.in_vain <= HURRIES {
                pool.pauses = 0;
            }
            pool.leads.extend(others.iter().map(|slot| (Lead::Hint, *slot)));
            self.semaphores.stirred.push_back(seeker.slots.channel().clone());
            return Next::Try { slot, probes: seeker.in_vain > 1 && !all };
        }
        match (all, seeker.waits(cx.now)) {
            (_, false) => Next::End,
            (false, true) => Next::Look { all: true },
            (true, true) => {
                self.ask_for_slot(cx, seeking, free_in);
                match self.ask_for_any(cx, seeking) {
                    Some(next) => next,
                    None => self.pause(cx, seeking, left),
                }
            }
        }
    }

    /// Waits for a while, at most `left`, in which another slot may be free.
    fn pause(&self, cx: &mut Cx, seeking: &mut Seeking, left: Option<Duration>) -> Next {
        if !seeking.seeker.waits(cx.now) {
            return Next::End;
        }
        let again_at = cx.now.after(self.pause_for(cx, seeking, left));
        let left_until = self.slots_left_until(cx, &seeking.seeker).unwrap_or(Instant::NEVER);
        Next::Pause { again_at: again_at.min(left_until) }
    }

    /// Returns how long to wait, at most `left`.
    pub(super) fn pause_for(
        &self,
        cx: &mut Cx,
        Seeking { pool, seeker }: &mut Seeking,
        left: Option<Duration>,
    ) -> Duration {
        let random = cx.masters.random.jitter();
        // What looks free again and again, and is refused, is tried once for each pause, until all are seen to be taken.
        if seeker.in_vain <= HURRIES || left.is_some() {
            seeker.in_vain = 0;
        }
        let entry = pool.place.entry.as_ref();
        let entry = entry.filter(|entry| entry.stands && entry.asked_at.is_none());
        let is_called = entry.is_some_and(|entry| self.mailboxes.is_reached_from(cx, entry.node));
        let pauses = pool.pauses;
        pool.pauses = pauses.saturating_add(1);
        let Backoff { base, cap } = cx.masters.settings.backoff;
        let ceiling = left.map(|left| left.max(base));
        // Long pauses are for slots that are held for long, as far as is known.
        if left.is_none() || !is_called || pool.unheard.is_certain {
            return Backoff { base, cap }.delay(pauses, ceiling, random);
        }
        // A call may be lost, and attempts that have met free their slot silently.
        let cap = pool.unheard.longest_pause(cx.now, cap);
        let least = cap.min(ceiling.unwrap_or(cap)) / 2;
        least + Backoff { base, cap }.delay(u32::MAX, ceiling, random) / 2
    }
}

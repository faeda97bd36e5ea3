//! A place in a list: of one acquire, or of all that seek a permit of a semaphore in this process.

use super::Entry;
use crate::quorum::Instant;
use crate::shared::{AcquireRequest, Cx, RequestId};
use crate::waiting::mailboxes::Mailboxes;
use crate::wire::waitlist::{Asks, Found, Listed, Wanted};
use crate::wire::{Reply, Token};
use std::sync::Arc;
use std::time::Duration;

#[derive(Default)]
pub(crate) struct Place {
    /// The entry, if it has one.
    pub(in crate::waiting) entry: Option<Box<Entry>>,
    /// When it first asked for one: the list of another master enters it with that age.
    pub(in crate::waiting) entered_at: Option<Instant>,
    /// Of several resources: how often it has found one free and gone to the list of another, which refused it, since a
    /// list said last that its key is held.
    pub(in crate::waiting) moves: u32,
    /// The master of the list denies it an entry.
    pub(in crate::waiting) is_denied: bool,
    /// When the holder was last asked to give way.
    pub(in crate::waiting) asked_at: Option<Instant>,
}

/// The outcome of a question.
pub(in crate::waiting) enum Heard {
    Listed(Listed),
    /// The master had forgotten the script: the question is to be repeated.
    Forgotten,
    Denied,
    /// It was that of an entry which has left, for the list of another master.
    Late,
}

impl Place {
    /// Returns whether its waiter may stand in a list.
    pub(in crate::waiting) fn is_listed(&self) -> bool {
        self.entry.as_ref().is_some_and(|entry| entry.stands)
    }

    /// Returns whether its waiter asks no more. A fair one asks before its only attempt, too, and once it has let others go
    /// first until its wait was over.
    pub(in crate::waiting) fn is_over(&self, now: Instant, until: Instant, is_fair: bool) -> bool {
        now >= until && !(is_fair && self.entered_at.is_none())
    }

    /// Asks, under this request, whether its waiter may try, or how many are ahead; `acquire` waits `until` then. Returns
    /// until when the answer is waited for; `None` if nothing is asked now.
    pub(in crate::waiting) fn ask(
        &mut self,
        cx: &mut Cx,
        request: RequestId,
        wanted: Wanted<'_>,
        (acquire, until): (&AcquireRequest, Instant),
    ) -> Option<Instant> {
        let timeout = cx.masters.settings.round_timeout(acquire.ttl.span());
        let name = wanted.list()?;
        let node = cx.masters.first_node(cx.now, name)?;
        if let Some(mut old) = self.entry.take_if(|entry| entry.node != node) {
            old.leave(cx, name);
        }
        if self.entry.is_none() {
            let waiter = cx.masters.token()?;
            self.entry = Some(Box::new(Entry::new(waiter, node)));
        }
        let entry = self.entry.as_mut().filter(|entry| entry.asked_at.is_none())?;
        entry.trial = None;
        let entered_at = *self.entered_at.get_or_insert(cx.now);
        let age = entry.stamp.map_or(cx.now.since(entered_at), |_| Duration::ZERO);
        let asks = Asks { waiter: entry.waiter, stamp: entry.stamp, age };
        let masters = &mut cx.masters;
        let session = &mut masters.sessions[node];
        if !session.wait(request, wanted, asks, entry.quiet(), &mut masters.packer) {
            return None;
        }
        (entry.asked_at, entry.stands) = (Some(cx.now), true);
        let patience = entry.patience(session.trip(), timeout);
        // A fair acquire polls only where the master is silent. A single attempt has as long again for that.
        Some(match acquire.is_fair {
            true => cx.now.after(patience.max(timeout / 2)),
            false => cx.now.after(patience).min(until),
        })
    }

    /// Handles the answer. That of a semaphore names a slot.
    pub(in crate::waiting) fn hear(
        &mut self,
        cx: &mut Cx,
        (node, waiter): (usize, Token),
        reply: &Reply,
        names_slot: bool,
    ) -> Heard {
        let entry = self.entry.as_mut();
        let Some(entry) = entry.filter(|entry| (entry.node, entry.waiter) == (node, waiter)) else {
            return Heard::Late;
        };
        let asked_at = entry.asked_at.take().unwrap_or(cx.now);
        match Listed::in_reply(reply).filter(|listed| listed.slot.is_some() == names_slot) {
            Some(listed) => {
                entry.answered(cx.now, cx.now.since(asked_at), &listed);
                if matches!(listed.what, Found::Held(_)) {
                    self.moves = 0;
                }
                entry.stands &= listed.what != Found::Free;
                Heard::Listed(listed)
            }
            None if reply.is_noscript() && !std::mem::replace(&mut entry.is_repeated, true) => {
                cx.masters.sessions[node].forget_scripts();
                Heard::Forgotten
            }
            None => {
                (self.entry, self.is_denied) = (None, true);
                Heard::Denied
            }
        }
    }

    /// Goes on after an answer that has others first. Returns whether calls reach its waiter, and whether that one also looks
    /// after itself: as the first, or where a client may release the key without a call.
    pub(in crate::waiting) fn stand(
        &mut self,
        cx: &mut Cx,
        mailboxes: &Mailboxes,
        (list, found): (&Arc<str>, Found),
        is_fair: bool,
    ) -> Option<(bool, bool)> {
        let entry = self.entry.as_mut()?;
        let is_first = entry.ahead == Some(0);
        let is_reached = mailboxes.is_reached_from(cx, entry.node);
        if !is_reached {
            entry.ahead = None;
        }
        // A fair one keeps its turn.
        let is_outside = !is_fair && entry.steps_outside(cx, list, found);
        let may_be_unaware = entry.may_be_unaware();
        Some((is_reached, is_first || !is_reached || may_be_unaware || is_outside))
    }

    /// Leaves the list. Its next question enters it at the end.
    pub(in crate::waiting) fn leave(&mut self, cx: &mut Cx, list: &Arc<str>) {
        self.entered_at = None;
        if let Some(mut entry) = self.entry.take() {
            entry.leave(cx, list);
        }
    }
}

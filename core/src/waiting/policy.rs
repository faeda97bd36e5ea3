//! How an acquire waits: alone, as a writer, as a reader, or for any of several permits.
//!
//! What each of them does stands in a room of its own; here they are distinguished. Nothing else about a lock
//! depends on how its acquire waits.

use super::waitlist::Entry;
use super::{Acquisition, Phase, Waiters};
use crate::lock::Attempt;
use crate::lock::release::{Announce, Tellers};
use crate::quorum::{Instant, NodeSet};
use crate::shared::{AcquireRequest, AttemptId, Cx, Invariant, Keys, More, RequestId};
use crate::waiting::rules::{Does, News, next};
use crate::waiting::tuning::SAID_AGAIN_AFTER;

/// How an acquire waits.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Policy {
    /// It polls, and tries again when a message says that the key is free.
    Alone,
    /// The same, with a hint that keeps new readers out.
    Writer,
    /// Readers do not exclude each other: one of them polls for all.
    Reader,
    /// It tries any of several slots, each of them by an acquire that waits alone.
    Permit,
}

impl Policy {
    fn of(keys: &Keys) -> Self {
        match keys.more() {
            More::Nothing | More::Announced { .. } => Self::Alone,
            More::AnyOf(_) => Self::Permit,
            More::Read(_) => Self::Reader,
            More::Write(_) => Self::Writer,
        }
    }
}

impl Waiters {
    /// Lets an acquire begin: at once, or once it has its places in this process.
    pub(crate) fn begin(&mut self, cx: &mut Cx, request: RequestId, acquire: AcquireRequest) {
        match Policy::of(&acquire.keys) {
            Policy::Permit => self.seek(cx, request, acquire),
            policy => {
                if policy == Policy::Reader {
                    self.make_way(&acquire.keys);
                }
                self.enter(cx, request, acquire, policy != Policy::Reader);
            }
        }
    }

    /// Returns until when these keys are left to others, if they are.
    pub(crate) fn left_until(&self, now: Instant, keys: &Keys) -> Option<Instant> {
        keys.iter().filter_map(|key| self.left.until(now, key)).max()
    }

    /// Lets an acquire begin only when its keys are no longer left to others. Returns `false` if they are not.
    pub(super) fn lets_others_go_first(&mut self, cx: &mut Cx, request: RequestId) -> bool {
        if self.left.is_over(cx.now) {
            return false;
        }
        let Some(acquisition) = self.acquisitions.get(request) else { return false };
        let until = self.left_until(cx.now, &acquisition.request.keys);
        until.into_iter().for_each(|until| self.begin_at(cx, request, until));
        until.is_some()
    }

    /// Takes back what an acquire has in this process and at the masters, however it has ended.
    pub(crate) fn leave(
        &mut self,
        cx: &mut Cx,
        request: RequestId,
        acquisition: &mut Acquisition,
        has_won: bool,
    ) {
        let keys = &acquisition.request.keys;
        match (Policy::of(keys), &acquisition.contention) {
            (Policy::Reader, _) => self.leave_readers(keys.first(), request, has_won),
            (_, Some(_)) if has_won => {
                let had_all = self.local_queue.won(keys, request);
                cx.check(had_all, Invariant::OneHolder);
            }
            (_, Some(_)) => self.local_queue.free(keys),
            (_, None) => self.local_queue.forget(keys, request),
        }
        self.withdraw_hint(cx, request, keys, has_won);
        let Some(contention) = &mut acquisition.contention else { return };
        if contention.place.entry.is_some() {
            self.stop_listening(cx, keys);
            let list = contention.list(keys);
            contention.place.leave(cx, list);
        }
    }

    /// Returns whether an acquire that waits polls: the first of the readers does for all of them.
    pub(crate) fn polls(&mut self, request: RequestId, keys: &Keys) -> bool {
        Policy::of(keys) != Policy::Reader || self.readers.wait(keys.first(), request)
    }

    /// Returns whether an acquire of these keys stands in a waitlist while it waits.
    pub(super) fn enlists(cx: &Cx, keys: &Keys) -> bool {
        let settings = &cx.masters.settings;
        settings.waitlists.is_some() && matches!(keys.more(), More::Nothing)
    }

    /// Goes on with a wait whose pause is over. A fair acquire that is behind others makes no attempt, not even its last.
    pub(crate) fn resume(&mut self, cx: &mut Cx, request: RequestId) {
        if self.due(cx, request) == News::Due && self.learns(cx, request, News::Due) {
            return;
        }
        let ends = |acquisition: &Acquisition| {
            acquisition.is_over_fairly(cx.now) && acquisition.is_behind()
        };
        match self.acquisitions.get(request).is_some_and(ends) {
            true => self.give_up(cx, request),
            false => _ = self.learns(cx, request, News::DueAtAll),
        }
    }

    /// Has an acquire do what follows from what it learns. Returns `false` if that is nothing.
    pub(super) fn learns(&mut self, cx: &mut Cx, request: RequestId, news: News) -> bool {
        let Some(contention) = self.acquisitions.contention_mut(request) else { return false };
        match next(contention.waits(), news) {
            Does::Nothing => return false,
            Does::Ask => return self.ask_waitlist(cx, request),
            Does::Try => {
                self.end_pause(cx, request);
                self.try_again(cx, request);
            }
            Does::GoOn => self.retry(cx, request),
            Does::Remember => contention.wake(),
        }
        true
    }

    /// Returns the acquires that wait because too few masters could vote.
    pub(crate) fn starved(&self) -> impl Iterator<Item = RequestId> {
        let asks = |entry: &Entry| entry.asked_at.is_some();
        self.acquisitions.iter().filter_map(move |(request, acquisition)| {
            let is_starved = match acquisition.phase() {
                _ if self.readers.sleeps(acquisition.request.keys.first(), request) => false,
                // It lets others go first.
                Some(Phase::Waiting { failed: AttemptId::NONE, .. }) => false,
                // The answer says whether it is its turn.
                _ if acquisition.request.is_fair && acquisition.entry().is_some_and(asks) => false,
                // There is no pause to wait for.
                Some(Phase::Waiting { random: None, .. }) => true,
                // The masters that refused were not a quorum.
                Some(Phase::Waiting { failure, .. }) => !failure.kind.is_contended(),
                _ => false,
            };
            is_starved.then_some(request)
        })
    }

    /// Returns whether the next acquire of this process may have `key` without the waiters elsewhere.
    fn is_next_here(&self, key: &str) -> bool {
        let next = self.local_queue.head(key).and_then(|request| self.acquisitions.get(request));
        next.is_some_and(|next| !next.request.is_fair)
    }

    /// Returns whether this process has a place in the list of a key, or of a semaphore's channel.
    fn has_place(&self, channel: &str) -> bool {
        self.listed_in(channel).is_some_and(|(_, entry)| entry.stands)
            || self.semaphores.has_place(channel)
    }

    /// Returns whether clients may wait for what is given back, or listen: some have asked, or would have if their message
    /// had not been lost. Those that wait for a lock ask the process that has won it. A client that always finds a slot free
    /// is asked by none, readers and writers stand in no list, and observers ask no leader.
    fn may_wait(&self, cx: &Cx, attempt: &Attempt, policy: Policy) -> bool {
        let keys = &attempt.claim.keys;
        let is_adopted = cx.masters.mailbox != Some(attempt.claim.token.mailbox());
        let is_long = cx.now >= attempt.began.after(SAID_AGAIN_AFTER)
            || attempt.held().is_some_and(|hold| hold.keeper.is_some());
        is_long
            || is_adopted
            || policy != Policy::Alone
            || keys.as_slot().is_some()
            || !cx.masters.settings.asks
            || keys.channels().any(|(_, channel)| self.waitlists.is_waited_for(cx.now, channel))
    }

    /// Decides which client may have keys that are given back: the next acquire in this process, or the
    /// waiters that are notified.
    pub(crate) fn freed(&mut self, cx: &mut Cx, attempt: &Attempt) -> Announce {
        let keys = &attempt.claim.keys;
        let policy = Policy::of(keys);
        let passed_on = self.pass_permit_on(cx, keys);
        // Where the next acquire here is a fair one, the next holder may be in any process.
        let is_waited_for = keys.iter().any(|key| self.is_next_here(key));
        let is_for_all = !attempt.has_places() || !is_waited_for;
        let tell = passed_on.unwrap_or_else(|| is_for_all || self.local_queue.pass_on(keys))
            || self.left_until(cx.now, keys).is_some();
        if tell && policy == Policy::Writer {
            // They begin in the same write as this release.
            self.readers.stir(keys.first());
        }
        let settings = &cx.masters.settings;
        let tell = tell && settings.wake_ups && self.may_wait(cx, attempt, policy);
        let nodes = |channel: &str| cx.masters.tellers(cx.now, channel);
        let tellers = match tell {
            true if keys.len() == 1 => {
                let channel = keys.messages().next();
                Tellers::Together(channel.map_or(NodeSet::EMPTY, |(channel, _)| nodes(channel)))
            }
            true => {
                let each = keys
                    .iter()
                    .flat_map(|key| nodes(key).iter().map(move |node| (node, key.clone())));
                Tellers::Apart(each.collect())
            }
            false => Tellers::Together(NodeSet::EMPTY),
        };
        let calls = tell && settings.waitlists.is_some() && policy == Policy::Alone;
        if calls {
            for (channel, _) in keys.messages() {
                let has_place = self.has_place(channel);
                self.left.calls(cx.now, channel, has_place);
            }
        }
        let by_hash = passed_on.is_none() && !is_waited_for;
        Announce { tellers, calls, by_hash }
    }
}

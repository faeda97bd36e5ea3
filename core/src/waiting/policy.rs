//! How an acquire waits: alone, as a writer, as a reader, in turn, or for any of several permits.
//!
//! What each of them does stands in a room of its own; here they are distinguished. Nothing else about a lock
//! depends on how its acquire waits.

use super::{Acquisition, Phase, Waiters};
use crate::lock::release::{Announce, Tellers};
use crate::quorum::{Instant, NodeSet};
use crate::shared::{AcquireRequest, AttemptId, Cx, Failure, Keys, More, RequestId};

/// How an acquire waits.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Policy {
    /// It polls, and tries again when a message says that the key is free.
    Alone,
    /// The same, with a hint that keeps new readers out.
    Writer,
    /// Readers do not exclude each other: one of them polls for all.
    Reader,
    /// It has a place in a queue at the masters.
    InTurn,
    /// It tries any of several slots, each of them by an acquire that waits alone.
    Permit,
}

impl Policy {
    fn of(keys: &Keys) -> Self {
        match keys.more() {
            More::Nothing | More::Announced(_) => Self::Alone,
            More::AnyOf(_) => Self::Permit,
            More::Read(_) => Self::Reader,
            More::Write(_) => Self::Writer,
            More::InTurn(_) => Self::InTurn,
        }
    }

    /// Returns whether an acquire of these keys may stand in a waitlist.
    fn may_enlist(keys: &Keys) -> bool {
        matches!(keys.more(), More::Nothing) && keys.len() == 1
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

    /// Lets an acquire begin where others were seen to wait lately. Returns `false` if its first attempt is due.
    pub(super) fn begins_behind_others(&mut self, cx: &mut Cx, request: RequestId) -> bool {
        if self.queues.is_empty() {
            return self.begins_in_waitlist(cx, request);
        }
        let Some(acquisition) = self.acquisitions.get(request) else { return false };
        let keys = acquisition.request.keys.clone();
        match Policy::of(&keys) {
            Policy::InTurn => self.begins_in_turn(cx, request, &keys),
            _ => self.begins_in_waitlist(cx, request),
        }
    }

    /// Notes that a hold is over which was asked for when it `began`. What clients take in turn, none of them takes
    /// again and again.
    pub(super) fn note_left(&mut self, cx: &Cx, keys: &Keys, began: Instant) {
        if Policy::of(keys) != Policy::InTurn {
            self.left.note(cx.now, began, keys, cx.masters.settings.backoff.cap);
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
            (_, Some(_)) if has_won => self.local_queue.won(keys),
            (_, Some(_)) => self.local_queue.free(keys),
            (_, None) => self.local_queue.forget(keys, request),
        }
        self.withdraw_hint(cx, request, keys, has_won);
        let Some(contention) = &mut acquisition.contention else { return };
        if let Some(entry) = contention.entry.take() {
            self.leave_waitlist(cx, keys, &entry);
        }
        if let Some(turn) = contention.turn.take() {
            self.leave_turn(cx, keys.clone(), *turn, has_won);
        }
    }

    /// Lets an acquire wait as it does after a refusal. Returns its failure if it polls.
    pub(crate) fn wait(
        &mut self,
        cx: &mut Cx,
        request: RequestId,
        keys: &Keys,
        failed: AttemptId,
        failure: Failure,
    ) -> Option<Failure> {
        if failure.kind.is_contended() {
            self.want(cx, request, keys);
        }
        match Policy::of(keys) {
            Policy::InTurn => self.wait_in_turn(cx, request, keys, failed, failure),
            _ => Some(failure),
        }
    }

    /// Returns whether an acquire that waits polls: the first of the readers does for all of them.
    pub(crate) fn polls(&mut self, request: RequestId, keys: &Keys) -> bool {
        Policy::of(keys) != Policy::Reader || self.readers.wait(keys.first(), request)
    }

    /// Returns whether an acquire of these keys stands in a waitlist while it waits.
    pub(super) fn enlists(cx: &Cx, keys: &Keys) -> bool {
        let settings = &cx.masters.settings;
        settings.waitlists.is_some() && settings.wake_ups && Policy::may_enlist(keys)
    }

    /// Goes on with a wait whose pause is over.
    pub(crate) fn resume(&mut self, cx: &mut Cx, request: RequestId) {
        match self.acquisitions.get(request) {
            Some(acquisition) if !acquisition.has_turn() => {
                if !self.asks_from_waitlist(cx, request) {
                    self.try_again(cx, request);
                }
            }
            Some(acquisition) if acquisition.may_retry(cx.now) => self.take_turn(cx, request),
            _ => self.give_up(cx, request),
        }
    }

    /// Returns the acquires that wait in turn, and what for.
    pub(crate) fn in_turn(&self) -> impl Iterator<Item = (RequestId, Keys)> {
        let waiting = self.acquisitions.iter().filter(|(_, acquisition)| acquisition.has_turn());
        waiting.map(|(request, acquisition)| (request, acquisition.request.keys.clone()))
    }

    /// Returns the acquires that wait because too few masters could vote, and which of them do so in turn.
    pub(crate) fn starved(&self) -> impl Iterator<Item = (RequestId, bool)> {
        self.acquisitions.iter().filter_map(|(request, acquisition)| {
            let in_turn = acquisition.has_turn();
            let is_starved = match acquisition.phase() {
                _ if self.readers.sleeps(acquisition.request.keys.first(), request) => false,
                // It lets others go first.
                Some(Phase::Waiting { failed: AttemptId::NONE, .. }) => false,
                // There is no pause to wait for.
                Some(Phase::Waiting { random: None, .. }) if !in_turn => true,
                // The masters that refused were not a quorum.
                _ => acquisition.is_starved(),
            };
            is_starved.then_some((request, in_turn))
        })
    }

    /// Decides which client may have keys that are given back: the next acquire in this process, or the
    /// waiters that are notified. `has_places`: they were held as by one that excludes all others.
    pub(crate) fn freed(&mut self, cx: &mut Cx, keys: &Keys, has_places: bool) -> Announce {
        let policy = Policy::of(keys);
        let in_turn = policy == Policy::InTurn;
        let passed_on = self.pass_permit_on(cx, keys);
        let is_waited_for = keys.iter().any(|key| self.local_queue.is_waited_for(key));
        // Where clients wait in turn, the next may be in any process.
        let is_for_all = in_turn || !has_places || !is_waited_for;
        let tell = passed_on.unwrap_or_else(|| is_for_all || self.local_queue.pass_on(keys))
            || self.left_until(cx.now, keys).is_some();
        if tell && policy == Policy::Writer {
            // They begin in the same write as this release.
            self.readers.stir(keys.first());
        }
        let nodes = |channel: &str| cx.masters.tellers(cx.now, channel);
        let tellers = match tell && cx.masters.settings.wake_ups {
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
        let calls = tell
            && (self.waitlists.is_any_waited_for(cx.now, keys) || self.asks_for_waiters(cx, keys));
        let by_hash = in_turn || (passed_on.is_none() && !is_waited_for);
        Announce { tellers, calls, by_hash }
    }
}

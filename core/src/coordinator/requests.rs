//! What callers ask for, through the driver.

use super::Coordinator;
use crate::lock::{Around, DetachedLock, Locks, NotAdopted, Purpose};
use crate::questions::{Mark, Question};
use crate::quorum::Instant;
use crate::report::LossReason;
use crate::shared::{AcquireRequest, AttemptId, Event, Keys, RequestId};
use crate::waiting::Waiters;
use crate::wire::Token;
use std::sync::Arc;
use std::time::Duration;

impl Coordinator {
    /// Does what a caller asks for, and what follows from that.
    #[inline]
    fn handle(&mut self, now: Instant, act: impl FnOnce(&mut Locks, &mut Around)) {
        self.at.cx.now = now;
        act(&mut self.locks, &mut self.at);
        self.serve();
    }

    pub fn handle_acquire(&mut self, now: Instant, request: RequestId, acquire: AcquireRequest) {
        self.handle(now, |_, at| at.waiters.begin(&mut at.cx, request, acquire));
    }

    /// Cancels the acquire of a caller that no longer waits. Harmless if it has its answer.
    pub fn handle_cancel(&mut self, now: Instant, request: RequestId) {
        self.handle(now, |_, at| at.waiters.cancel(&mut at.cx, request));
    }

    pub fn handle_extend(&mut self, now: Instant, request: RequestId, attempt: AttemptId) {
        let purpose = Purpose::Renew(Some(request));
        self.handle(now, |locks, at| locks.begin_extend(at, attempt, purpose));
    }

    /// Detaches a hold. It is held until the answer to `request`, and over from then on, unless the
    /// answer is that too few masters have confirmed.
    pub fn handle_detach(&mut self, now: Instant, request: RequestId, attempt: AttemptId) {
        self.handle(now, |locks, at| locks.begin_extend(at, attempt, Purpose::Detach(request)));
    }

    /// Makes a writer a reader. It is held until the answer to `request`, and afterwards unless the
    /// answer is that it is lost: by a reader, or still by a writer if too few masters have
    /// confirmed and none can have done it.
    pub fn handle_downgrade(&mut self, now: Instant, request: RequestId, attempt: AttemptId) {
        self.handle(now, |locks, at| locks.begin_extend(at, attempt, Purpose::Downgrade(request)));
    }

    /// Adopts a lock: extends it, and then holds it. [`Coordinator::handle_give_back`] ends that.
    pub fn handle_adopt(&mut self, now: Instant, request: RequestId, lock: DetachedLock) {
        self.handle(now, |locks, at| match at.waiters.local_queue.is_held(&lock.keys) {
            true => {
                let result = Err(NotAdopted::HeldHere);
                at.cx.events.push(Event::Adopted { request, result });
            }
            false => locks.begin_adopt(at, request, lock),
        });
    }

    /// Releases a lock that was detached, and that is in no other hands. If `adopting` it is not
    /// decided, that ends.
    pub fn handle_give_back(
        &mut self,
        now: Instant,
        lock: DetachedLock,
        adopting: Option<RequestId>,
    ) {
        self.handle(now, |locks, at| locks.give_detached_back(at, lock, adopting));
    }

    /// Releases a hold. `request` is answered when a quorum has deleted the key; a guard that was
    /// dropped has none. A hold that was given up `in_time`, before its deadline, has not lapsed,
    /// however late the machine learns of it.
    pub fn handle_release(
        &mut self,
        now: Instant,
        request: Option<RequestId>,
        attempt: AttemptId,
        in_time: bool,
    ) {
        self.handle(now, |locks, at| locks.begin_release(at, request, attempt, in_time));
        self.withdraw();
    }

    /// Notes that the work of a hold has ended well, before it is released. Where its acquire has asked for that,
    /// the keys stay for some time yet.
    pub fn handle_end_well(&mut self, attempt: AttemptId) {
        self.locks.end_well(attempt);
    }

    /// Gives back a hold that this client may want again. Where its acquire has asked for that, it goes to the
    /// next acquire here without the masters, or stays idle for one. Otherwise nothing has changed, and the
    /// result is `false`: it is to be released. `in_time` is that of [`Coordinator::handle_release`].
    #[must_use]
    pub fn handle_leave_idle(&mut self, now: Instant, attempt: AttemptId, in_time: bool) -> bool {
        self.at.cx.now = now;
        self.locks.leave_idle(&mut self.at, attempt, in_time)
    }

    /// Holds what a guard has taken from the shelf, and has claimed.
    pub fn handle_claimed(&mut self, now: Instant, attempt: AttemptId) {
        self.at.cx.now = now;
        let _is_idle = self.locks.recall(&mut self.at, attempt);
    }

    /// Extends a hold for which [`Event::Keep`] was reported, and which its caller has picked up.
    pub fn handle_keep(&mut self, now: Instant, attempt: AttemptId) {
        self.handle(now, |locks, at| locks.extend_kept(at, attempt));
    }

    /// Leaves the key until it expires.
    pub fn handle_forget(&mut self, now: Instant, attempt: AttemptId) {
        self.handle(now, |locks, at| locks.forget(at, attempt));
        self.withdraw();
    }

    /// Handles a guard that saw its deadline pass before an extension could move it: the hold is
    /// lost.
    pub fn handle_lapsed(&mut self, now: Instant, attempt: AttemptId) {
        self.handle(now, |locks, at| {
            let hold = locks.attempts.get_mut(attempt.0);
            hold.into_iter().for_each(|hold| hold.lose(at, LossReason::Lapsed));
        });
    }

    /// Asks masters a question that decides nothing.
    pub fn handle_question(&mut self, now: Instant, question: Question) {
        self.at.cx.now = now;
        self.locks.ask(&mut self.at.cx, question);
    }

    /// Returns whether a hold of this client has this key, or is about to have it.
    pub fn is_held_here(&self, key: &Arc<str>) -> bool {
        self.at.waiters.local_queue.is_held(&Keys::one(key.clone()))
    }

    /// Returns the token of the hold that is kept warm under `key`, and that no guard has.
    pub fn idle_under(&mut self, now: Instant, key: &str) -> Option<Token> {
        self.at.cx.now = now;
        let id = self.at.waiters.idle(key)?;
        self.locks.look_at_idle(&mut self.at, id);
        let attempt = self.locks.attempts.get(id.0).filter(|attempt| attempt.idle().is_some())?;
        Some(attempt.claim.token)
    }

    /// Asks the processes of these holders to give `key` back: in their mailboxes, where messages on `channel`
    /// come from.
    pub fn handle_ask(
        &mut self,
        now: Instant,
        request: RequestId,
        about: (&str, &str),
        holders: &[Mark],
    ) {
        self.at.cx.now = now;
        self.locks.ask_by_hand(&mut self.at.cx, request, about, holders);
    }

    /// Notifies `listener` of each message on the channel of this name from now on, and each time
    /// one may have been missed.
    pub fn handle_listen(&mut self, now: Instant, listener: RequestId, channel: Arc<str>) {
        self.at.cx.now = now;
        self.at.waiters.notify(&mut self.at.cx, listener, channel);
    }

    /// Notifies `listener` no longer. What no caller wants any more is unsubscribed from with the
    /// next heartbeat.
    pub fn handle_unlisten(&mut self, listener: RequestId, channel: &str) {
        self.at.waiters.listeners.forget(listener, channel);
    }

    /// Stops all attempts: those under way are rolled back, and what is owed is still paid. Once
    /// nothing is held, the notes at the masters are [taken back](Self::handle_withdraw).
    pub fn handle_shutdown(&mut self, now: Instant) {
        self.at.cx.now = now;
        for request in self.at.waiters.requests() {
            self.at.waiters.cancel(&mut self.at.cx, request);
            self.go_on();
        }
        self.locks.leave_adoptions(&mut self.at);
        self.locks.release_all_idle(&mut self.at);
        while self.serve_one(Waiters::serve_seeker) {}
        let sessions = self.at.cx.masters.sessions.iter_mut();
        sessions.for_each(|session| session.collect(now));
        self.handle_withdraw(now);
    }

    /// Withdraws this client. Nothing more will be asked of this machine: it shuts down, there is
    /// evidence of a mistake in its setup, or no caller waits for it any more. Its notes at the masters
    /// are taken back, and so is any note that it may yet make.
    pub fn handle_withdraw(&mut self, now: Instant) {
        self.at.cx.now = now;
        self.at.cx.masters.departs = true;
        self.withdraw();
    }

    /// Returns the slot that this attempt to get a permit was for.
    pub fn slot(&self, attempt: AttemptId) -> Option<u8> {
        self.locks.attempts.get(attempt.0)?.permit()
    }

    /// Returns the longest life of any key that is being deleted or that a hold has. Once it has
    /// passed, no such key is left.
    pub fn longest_life(&self) -> Duration {
        let held = self.locks.attempts.iter().map(|attempt| attempt.claim.life.span());
        held.max().unwrap_or_default().max(self.at.cx.masters.longest_life())
    }
}

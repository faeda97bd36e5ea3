//! Semaphores: a permit is an ordinary lock on one of K slots. So there is one holder for each slot,
//! and K at most; what is new is only which slot to try.
//!
//! 1. It tries the slot that this client had last, or another one of its own order
//!    (`slots.rs`).
//! 2. If that is taken, it asks in the list of the semaphore, and waits there until a release calls it for a slot, or its
//!    question finds a free slot (`listed.rs`).
//! 3. An acquire that does not wait looks at all slots instead: at one node, and then at all. It tries the free ones,
//!    four at most. So does a waiter without a place in the list, again from time to time.
//!
//! Within the process the first seeker does this for all: the others wait, and slots that turn out
//! to be free are offered to them in their order.

mod listed;
mod pool;
mod queue;
mod slots;
mod tries;

pub(crate) use pool::Semaphores;

use super::{Step, Waiters};
use crate::lock::Attempt;
use crate::quorum::{Instant, Nanos};
use crate::shared::{AcquireRequest, Cx, Event, RequestId};
use pool::{Phase, Pool, Seeker};

impl Attempt {
    /// Returns the number of the permit that this attempt is for.
    pub(crate) fn permit(&self) -> Option<u8> {
        self.claim.keys.slot()
    }
}

/// The next step of a seeker.
enum Next {
    /// It waits behind others in this process.
    Queue,
    /// It tries a slot, at its first node first if it probes.
    Try {
        slot: u8,
        probes: bool,
    },
    /// It looks at the slots, at one node or at all.
    Look {
        all: bool,
    },
    Pause {
        again_at: Instant,
    },
    End,
}

/// A seeker and its pool, out of which it is taken while it goes on.
struct Seeking {
    pool: Box<Pool>,
    seeker: Seeker,
}

impl Seeking {
    /// Returns whether no other seeker came before this one.
    fn is_head(&self) -> bool {
        self.pool.head().is_none_or(|head| self.seeker.request < head.request)
    }

    /// Returns whether it is fair, and the list has others before it: then it tries no slot.
    fn is_behind(&self) -> bool {
        let entry = self.pool.place.entry.as_ref().filter(|_| self.seeker.acquire.is_fair);
        entry.is_some_and(|entry| entry.is_behind())
    }
}

impl Semaphores {
    fn take(&mut self, request: RequestId) -> Option<Seeking> {
        let channel = self.sought.get(&request)?;
        let mut pool = self.pools.remove(channel)?;
        match pool.seekers.remove(&request) {
            Some(seeker) => Some(Seeking { pool, seeker }),
            None => {
                self.pools.insert(channel.clone(), pool);
                None
            }
        }
    }

    fn put_back(&mut self, Seeking { mut pool, seeker }: Seeking) {
        let channel = seeker.slots.channel().clone();
        pool.seekers.insert(seeker.request, seeker);
        self.pools.insert(channel, pool);
    }
}

impl Waiters {
    /// Begins to seek a permit.
    pub(crate) fn seek(&mut self, cx: &mut Cx, request: RequestId, acquire: AcquireRequest) {
        let Some(slots) = acquire.keys.slots().cloned() else { return };
        let channel = slots.channel().clone();
        let mut pool = self.semaphores.open_pool(cx.now, &channel, request);
        pool.place.is_denied |= cx.masters.settings.waitlists.is_none();
        let others_wait = match acquire.is_fair {
            true => pool.head().is_some(),
            false => !pool.seekers.values().all(Seeker::tries_first),
        };
        self.semaphores.sought.insert(request, channel);
        let seeker = Seeker {
            request,
            acquire,
            slots,
            began: cx.now,
            phase: Phase::Looking { all: false },
            attempts: 0,
            in_vain: 0,
            is_behind_others: false,
            trial: None,
            ahead: None,
            failure: None,
        };
        let mut seeking = Seeking { pool, seeker };
        let next = match (others_wait, seeking.seeker.waits(cx.now)) {
            (true, false) => Next::End,
            (true, true) => Next::Queue,
            (false, _) => match self.seeks_in_list(cx, &mut seeking) {
                Some(next) => next,
                None => self.own_slot(cx, &mut seeking),
            },
        };
        self.go(cx, seeking, Some(next));
    }

    /// Lets a seeker go on: `decides` says how, if in another way than before.
    fn go_on_seeking(
        &mut self,
        cx: &mut Cx,
        request: RequestId,
        decides: impl FnOnce(&mut Self, &mut Cx, &mut Seeking) -> Option<Next>,
    ) {
        if let Some(mut seeking) = self.semaphores.take(request) {
            let next = decides(self, cx, &mut seeking);
            self.go(cx, seeking, next);
        }
    }

    /// Takes the next step of a seeker, if there is another.
    fn go(&mut self, cx: &mut Cx, mut seeking: Seeking, next: Option<Next>) {
        let is_head = seeking.is_head();
        let Seeking { pool, seeker } = &mut seeking;
        let request = seeker.request.own();
        let mut tries = None;
        match next {
            None => {}
            Some(Next::End) => return self.end_seeking(cx, seeking),
            Some(Next::Queue) => {
                seeker.enter(cx, Phase::Queued);
                self.semaphores.stirred.push_back(seeker.slots.channel().clone());
            }
            Some(Next::Pause { again_at }) => {
                if is_head {
                    pool.again_at = Some(again_at);
                }
                seeker.enter(cx, Phase::Paused { again_at: again_at.min(seeker.until()) });
            }
            Some(Next::Look { all }) => {
                seeker.enter(cx, Phase::Looking { all });
                if all {
                    pool.looked_at = cx.now;
                }
                self.steps.push(Step::Look { request, slots: seeker.slots.clone(), all });
            }
            Some(Next::Try { slot, probes }) => {
                seeker.enter(cx, Phase::Trying(slot));
                seeker.attempts = seeker.attempts.saturating_add(1);
                let (wait, is_fair) = (Nanos::ZERO, false);
                let acquire = seeker.acquire.clone();
                let with = |keys| AcquireRequest { keys, wait, probes, is_fair, ..acquire };
                tries = seeker.slots.keys(slot).cloned().map(with);
            }
        }
        self.semaphores.put_back(seeking);
        if let Some(acquire) = tries {
            self.begin(cx, request, acquire);
        }
    }

    /// Handles what became of a try or a look, or serves those that wait; `false` if there is nothing to do.
    #[inline]
    pub(crate) fn serve_seeker(&mut self, cx: &mut Cx) -> bool {
        // Without semaphores there is never anything, and this is all that they cost.
        let has_work = !cx.events.own.is_empty() || !self.semaphores.stirred.is_empty();
        if has_work {
            self.serve_pools(cx);
        }
        has_work
    }

    #[inline(never)]
    fn serve_pools(&mut self, cx: &mut Cx) {
        if let Some(event) = cx.events.own.pop_front() {
            self.seeker_answered(cx, event);
        } else if let Some(channel) = self.semaphores.stirred.pop_front() {
            self.serve_pool(cx, &channel);
        }
    }

    fn seeker_answered(&mut self, cx: &mut Cx, event: Event) {
        match event {
            Event::Acquired { request, attempt, deadline, ballot } => {
                let request = request.callers();
                match self.take_seeker(cx, request) {
                    Some(Seeker {
                        phase: Phase::Trying(slot), slots, is_behind_others, ..
                    }) => {
                        if let Some(keys) = slots.keys(slot).filter(|_| is_behind_others) {
                            self.left.share(cx.now, keys);
                        }
                        self.semaphores.remember(slots.channel(), slot);
                        cx.events.push(Event::Acquired { request, attempt, deadline, ballot });
                    }
                    _ => self.steps.push(Step::Release(attempt)),
                }
            }
            Event::NotAcquired { request, failure, .. } => {
                self.go_on_seeking(cx, request.callers(), |waiters, cx, seeking| {
                    Some(waiters.slot_refused(cx, seeking, failure))
                });
            }
            Event::NoRandomness { request } => {
                let request = request.callers();
                if self.take_seeker(cx, request).is_some() {
                    cx.events.push(Event::NoRandomness { request });
                }
            }
            Event::Looked { request, free_in } => {
                self.go_on_seeking(cx, request.callers(), |waiters, cx, seeking| {
                    let Phase::Looking { all } = seeking.seeker.phase else { return None };
                    Some(waiters.slots_seen(cx, seeking, all, &free_in))
                });
            }
            _ => {}
        }
    }

    /// Handles the timer of a waiter.
    pub(crate) fn seek_again(&mut self, cx: &mut Cx, request: RequestId) {
        self.go_on_seeking(cx, request, |waiters, cx, seeking| {
            let seeker = &seeking.seeker;
            // A fair seeker asks in its list all the same.
            let has_met_outage = seeker.has_met_outage() && !seeker.acquire.is_fair;
            match seeker.phase {
                Phase::Queued => Some(Next::End),
                Phase::Paused { .. } if has_met_outage => Some(waiters.own_slot(cx, seeking)),
                Phase::Paused { .. } => {
                    waiters.asks_again(cx, seeking).or(Some(Next::Look { all: true }))
                }
                Phase::Trying(_) | Phase::Looking { .. } => None,
            }
        });
    }
}

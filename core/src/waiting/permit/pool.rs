//! The state of semaphores in this process: the seekers of permits, and which slots may be free.

use crate::quorum::Instant;
use crate::shared::{AcquireRequest, Cx, Failure, MOST_REMEMBERED, RequestId, Slots};
use crate::waiting::line::Line;
use crate::waiting::pause::set_timer;
use crate::waiting::unheard::Unheard;
use crate::waiting::waitlist::{Place, Trial};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

/// An acquire of a permit, over all slots that it tries.
pub(super) struct Seeker {
    pub(super) request: RequestId,
    pub(super) acquire: AcquireRequest,
    pub(super) slots: Arc<Slots>,
    pub(super) began: Instant,
    pub(super) phase: Phase,
    /// The number of slots tried.
    pub(super) attempts: u32,
    /// How many of them, in a row, looked free and were refused. A pause ends the row, unless it was too long.
    pub(super) in_vain: u32,
    /// A list has served others before it.
    pub(super) is_behind_others: bool,
    /// Why it tries a slot, if the list has led it there.
    pub(super) trial: Option<Trial>,
    /// How many waiters were ahead of it in the list, as its caller has last heard, if it is fair.
    pub(super) ahead: Option<usize>,
    /// The outcome of the latest try.
    pub(super) failure: Option<Failure>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Phase {
    /// Waits behind others in this process.
    Queued,
    /// An acquire of this slot is under way.
    Trying(u8),
    /// Looks at one node, or at all.
    Looking { all: bool },
    /// Goes on then.
    Paused { again_at: Instant },
}

impl Seeker {
    /// Returns the instant after which it looks no more.
    pub(super) fn until(&self) -> Instant {
        self.acquire.until(self.began)
    }

    pub(super) fn waits(&self, now: Instant) -> bool {
        now < self.until()
    }

    pub(super) const fn is_paused(&self) -> bool {
        matches!(self.phase, Phase::Paused { .. })
    }

    /// Returns whether a slot may be offered to it.
    const fn is_idle(&self) -> bool {
        matches!(self.phase, Phase::Queued | Phase::Paused { .. })
    }

    /// Returns whether it makes its first try.
    pub(super) const fn tries_first(&self) -> bool {
        self.failure.is_none() && !self.is_idle()
    }

    /// Returns whether the latest try has met something else than a permit that was taken.
    pub(super) fn has_met_outage(&self) -> bool {
        let kind = self.failure.as_ref().map(|failure| &failure.kind);
        kind.is_some_and(|kind| !kind.is_contended())
    }

    /// Changes the phase, and the timer with it.
    pub(super) fn enter(&mut self, cx: &mut Cx, phase: Phase) {
        let before = self.due_at();
        self.phase = phase;
        set_timer(cx, self.request, before, self.due_at());
    }

    fn due_at(&self) -> Option<Instant> {
        match self.phase {
            Phase::Queued => Some(self.until()),
            Phase::Paused { again_at } => Some(again_at),
            Phase::Trying(_) | Phase::Looking { .. } => None,
        }
    }
}

/// The seekers of a permit of one semaphore, and what is known of its slots.
pub(super) struct Pool {
    /// In the order in which they came, which is that of their requests.
    pub(super) seekers: BTreeMap<RequestId, Seeker>,
    /// How often permits have passed on in this process.
    pub(super) line: Line,
    /// Slots that may be free, by the reason to think so.
    pub(super) leads: BTreeSet<(Lead, u8)>,
    /// The number of pauses since a slot was last found to be free, and not in vain.
    pub(super) pauses: u32,
    /// When the first of the waiters goes on.
    pub(super) again_at: Option<Instant>,
    /// When the first slot expires, as far as is known.
    pub(super) expires_at: Option<Instant>,
    /// The name under which it asks.
    pub(super) asker: RequestId,
    /// For how long there was no news of a slot, and which holders it has seen since the latest message.
    pub(super) unheard: Unheard,
    /// When it last looked at all masters.
    pub(super) looked_at: Instant,
    /// Its place in the waitlist.
    pub(super) place: Place,
}

/// Why a slot may be free, in the order in which they are tried.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Lead {
    /// This process has just given it back.
    PassedOn,
    /// This process was called for it, or its question in the list has found it free.
    Listed(Trial),
    /// A look said so.
    Hint,
}

impl Pool {
    /// Creates a pool that this request opens.
    fn new(now: Instant, line: Line, first: RequestId) -> Self {
        Self {
            seekers: BTreeMap::new(),
            line,
            leads: BTreeSet::new(),
            pauses: 0,
            again_at: None,
            expires_at: None,
            asker: first.listener(),
            unheard: Unheard::new(now),
            looked_at: now,
            place: Place::default(),
        }
    }

    /// Returns the first of the seekers.
    pub(super) fn head(&self) -> Option<&Seeker> {
        self.seekers.values().next()
    }

    /// Returns whether the first of the seekers is fair.
    pub(super) fn is_first_fair(&self) -> bool {
        self.head().is_some_and(|head| head.acquire.is_fair)
    }

    /// Returns the next slot to try, and the seeker to which it is offered.
    pub(super) fn next_offer(&mut self) -> Option<(RequestId, u8, Lead)> {
        while let Some((lead, slot)) = self.leads.pop_first() {
            if let Some(request) = self.idle(slot, lead) {
                return Some((request, slot, lead));
            }
        }
        None
    }

    /// Returns the first seeker to which this slot may be offered for this reason.
    pub(super) fn idle(&self, slot: u8, lead: Lead) -> Option<RequestId> {
        let fits = |seeker: &&Seeker| {
            seeker.is_idle()
                && usize::from(slot) < seeker.slots.len()
                && self.may_follow(lead, seeker)
        };
        self.seekers.values().find(fits).map(|seeker| seeker.request)
    }

    /// Returns whether a seeker tries a slot for this reason. A fair seeker tries as the list says, or as its first
    /// waiter.
    fn may_follow(&self, lead: Lead, seeker: &Seeker) -> bool {
        let is_first = self.place.entry.as_ref().is_some_and(|entry| entry.ahead == Some(0));
        match lead {
            Lead::Listed(_) => true,
            _ if !seeker.acquire.is_fair || self.place.is_denied => true,
            Lead::PassedOn => false,
            Lead::Hint => is_first,
        }
    }
}

/// All semaphores of this process.
#[derive(Default)]
pub(crate) struct Semaphores {
    /// Boxed, since one is taken out while it is worked on.
    pub(super) pools: BTreeMap<Arc<str>, Box<Pool>>,
    /// The channel of the semaphore of which each request seeks a permit.
    pub(super) sought: BTreeMap<RequestId, Arc<str>>,
    /// The pools to look after.
    pub(super) stirred: VecDeque<Arc<str>>,
    /// Facts of each semaphore of which this process has had a permit, by channel.
    had: BTreeMap<Arc<str>, Had>,
    /// By what this client orders slots, once that is drawn.
    pub(super) client: Option<u64>,
}

/// A semaphore of which this process has had a permit.
struct Had {
    /// The slot that it had last.
    slot: u8,
    /// How often permits have passed on here, kept while the pool is closed: a task that gives its permit to another and
    /// seeks the next one would otherwise keep other processes out for good.
    line: Line,
}

impl Semaphores {
    pub(super) fn last(&self, channel: &str) -> Option<u8> {
        self.had.get(channel).map(|had| had.slot)
    }

    pub(super) fn remember(&mut self, channel: &Arc<str>, slot: u8) {
        if self.had.len() >= MOST_REMEMBERED && !self.had.contains_key(channel) {
            self.had.clear();
        }
        let had = Had { slot, line: Line::default() };
        self.had.entry(channel.clone()).or_insert(had).slot = slot;
    }

    /// Returns whether this process has a place in the list of a semaphore.
    pub(in crate::waiting) fn has_place(&self, channel: &str) -> bool {
        self.pools.get(channel).is_some_and(|pool| pool.place.is_listed())
    }

    /// Takes out the pool of a semaphore, which this request opens unless it is open.
    pub(super) fn open_pool(
        &mut self,
        now: Instant,
        channel: &Arc<str>,
        request: RequestId,
    ) -> Box<Pool> {
        self.pools.remove(channel).unwrap_or_else(|| {
            let had = self.had.get_mut(channel);
            let line = had.map(|had| std::mem::take(&mut had.line)).unwrap_or_default();
            Box::new(Pool::new(now, line, request))
        })
    }

    /// Closes the pool of a semaphore without seekers.
    pub(super) fn close_pool(&mut self, channel: &str) -> Option<Box<Pool>> {
        let mut pool = self.pools.remove(channel)?;
        if let Some(had) = self.had.get_mut(channel) {
            had.line = std::mem::take(&mut pool.line);
        }
        Some(pool)
    }

    /// Returns the first seeker of a semaphore.
    pub(super) fn head(&self, channel: &str) -> Option<&Seeker> {
        self.pools.get(channel)?.head()
    }

    /// Returns until when the caller waits for which the machine asks itself under this request.
    pub(in crate::waiting) fn seeks_until(&self, request: RequestId) -> Option<Instant> {
        let channel = self.sought.get(&request.callers()).filter(|_| request.is_own())?;
        self.pools.get(channel)?.seekers.get(&request.callers()).map(Seeker::until)
    }

    /// Returns what those have seen that seek a permit which this slot is.
    pub(in crate::waiting) fn unheard_of(&mut self, slot: &str) -> Option<&mut Unheard> {
        let is_sought = |pool: &&mut Box<Pool>| {
            pool.head().is_some_and(|head| head.slots.names().iter().any(|name| **name == *slot))
        };
        self.pools.values_mut().find(is_sought).map(|pool| &mut pool.unheard)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.sought.is_empty()
    }

    #[cfg(any(test, feature = "testing"))]
    pub(crate) fn len(&self) -> usize {
        self.sought.len() + self.pools.len()
    }
}

//! The state of semaphores in this process: the seekers of permits, and which slots may be free.

use crate::quorum::Instant;
use crate::shared::{AcquireRequest, Failure, RequestId, Slots};
use crate::waiting::line::Line;
use crate::waiting::unheard::Unheard;
use crate::waiting::waitlist::{Place, Trial};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// The number of semaphores that are remembered without a seeker.
const MOST_REMEMBERED: usize = 1 << 12;

/// A set of slots, of which there are 64 at most.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(super) struct SlotSet(u64);

impl SlotSet {
    pub(super) fn insert(&mut self, slot: u8) {
        self.0 |= 1_u64.checked_shl(slot.into()).unwrap_or(0);
    }

    /// Removes and returns the first slot.
    pub(super) fn take(&mut self) -> Option<u8> {
        let slot = u8::try_from(self.0.trailing_zeros()).ok().filter(|slot| *slot < 64)?;
        self.0 &= self.0 - 1;
        Some(slot)
    }
}

/// An acquire of a permit, over all slots that it tries.
pub(super) struct Seeker {
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
    /// Waits behind others in this process, at most until `until`.
    Queued { until: Instant },
    /// An acquire of this slot is under way.
    Trying(u8),
    /// Looks at one node, or at all.
    Looking { all: bool },
    /// Looks again at `again_at`.
    Paused { again_at: Instant },
}

impl Phase {
    /// Returns whether a slot may be offered to it.
    pub(super) const fn is_idle(self) -> bool {
        matches!(self, Self::Queued { .. } | Self::Paused { .. })
    }
}

impl Seeker {
    /// Returns the instant after which it looks no more.
    pub(super) fn until(&self) -> Instant {
        self.acquire.until(self.began)
    }

    /// Returns whether the latest try has met something else than a permit that was taken.
    pub(super) fn has_met_outage(&self) -> bool {
        let kind = self.failure.as_ref().map(|failure| &failure.kind);
        kind.is_some_and(|kind| !kind.is_contended())
    }

    pub(super) fn waits(&self, now: Instant) -> bool {
        now < self.until()
    }
}

/// The seekers of a permit of one semaphore, and what is known of its slots.
pub(super) struct Pool {
    pub(super) line: Line,
    /// Slots of which a look said that they are free.
    pub(super) hints: SlotSet,
    /// Slots that this process has just given back, for the next one here.
    pub(super) passed_on: SlotSet,
    /// Slots for which this process was called.
    pub(super) called: SlotSet,
    /// Slots that its question in the list has found free.
    pub(super) found_free: SlotSet,
    /// The number of pauses since a slot was last found to be free, and not in vain.
    pub(super) pauses: u32,
    /// When the first of the waiters looks again.
    pub(super) again_at: Option<Instant>,
    /// When the first slot expires, as far as is known.
    pub(super) expires_at: Option<Instant>,
    /// The name under which it asks.
    pub(super) asker: RequestId,
    /// When it last heard of a slot.
    pub(super) heard_at: Instant,
    /// What it has seen of holders since then.
    pub(super) unheard: Unheard,
    /// When it last looked at all masters.
    pub(super) looked_at: Instant,
    /// Its place in the waitlist.
    pub(super) place: Place,
}

/// Why a slot may be free.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Lead {
    /// This process has just given it back.
    PassedOn,
    /// The list has led to it.
    Listed(Trial),
    Hint,
}

impl Pool {
    /// Notes that it has heard of a slot.
    pub(super) fn hears(&mut self, now: Instant) {
        self.heard_at = now;
        self.unheard.hears();
    }

    /// Returns the next slot to try.
    pub(super) fn next_slot(&mut self) -> Option<(u8, Lead)> {
        let Self { passed_on, called, found_free, hints, .. } = self;
        let leads = [
            (passed_on, Lead::PassedOn),
            (called, Lead::Listed(Trial::Called)),
            (found_free, Lead::Listed(Trial::FoundFree)),
            (hints, Lead::Hint),
        ];
        leads.into_iter().find_map(|(slots, lead)| Some((slots.take()?, lead)))
    }

    /// Creates the pool in which this request is the first.
    pub(super) fn new(now: Instant, first: RequestId) -> Self {
        Self {
            line: Line::default(),
            hints: SlotSet::default(),
            passed_on: SlotSet::default(),
            called: SlotSet::default(),
            found_free: SlotSet::default(),
            pauses: 0,
            again_at: None,
            expires_at: None,
            asker: first.listener(),
            heard_at: now,
            unheard: Unheard::default(),
            looked_at: now,
            place: Place::default(),
        }
    }

    /// Returns whether a seeker tries a slot for this reason. A fair seeker tries as the list says, or as its first
    /// waiter.
    fn leads(&self, lead: Lead, seeker: &Seeker) -> bool {
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
    pub(super) seekers: BTreeMap<RequestId, Seeker>,
    pub(super) pools: BTreeMap<Arc<str>, Pool>,
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

    /// Opens the pool of a semaphore for this request, unless it is open.
    pub(super) fn open_pool(&mut self, now: Instant, channel: &Arc<str>, request: RequestId) {
        let had = self.had.get_mut(channel);
        self.pools.entry(channel.clone()).or_insert_with(|| {
            let line = had.map(|had| std::mem::take(&mut had.line));
            Pool { line: line.unwrap_or_default(), ..Pool::new(now, request) }
        });
    }

    /// Closes the pool of a semaphore without seekers.
    pub(super) fn close_pool(&mut self, channel: &str) -> Option<Pool> {
        let mut pool = self.pools.remove(channel)?;
        if let Some(had) = self.had.get_mut(channel) {
            had.line = std::mem::take(&mut pool.line);
        }
        Some(pool)
    }

    /// Returns the channel of the pool that asks so, and the first waiter there.
    pub(super) fn pool_of(&self, asker: RequestId) -> Option<(Arc<str>, RequestId)> {
        let (channel, pool) = self.pools.iter().find(|(_, pool)| pool.asker == asker)?;
        Some((channel.clone(), pool.line.head()?))
    }

    /// Returns the pool in which a request seeks a permit.
    pub(super) fn pool(&self, request: RequestId) -> Option<&Pool> {
        self.pools.get(self.seekers.get(&request)?.slots.channel())
    }

    /// Returns what those have seen that seek a permit which this slot is.
    pub(in crate::waiting) fn unheard_of(&mut self, slot: &str) -> Option<&mut Unheard> {
        let Self { seekers, pools, .. } = self;
        let is_sought = |pool: &&mut Pool| {
            let head = pool.line.head().and_then(|head| seekers.get(&head));
            head.is_some_and(|head| head.slots.names().iter().any(|name| **name == *slot))
        };
        pools.values_mut().find(is_sought).map(|pool| &mut pool.unheard)
    }

    /// Returns the first seeker to which this slot may be offered for this reason.
    pub(super) fn idle(&self, channel: &str, slot: u8, lead: Lead) -> Option<RequestId> {
        let (slot, pool) = (usize::from(slot), self.pools.get(channel)?);
        let fits = |seeker: &Seeker| {
            seeker.phase.is_idle() && slot < seeker.slots.len() && pool.leads(lead, seeker)
        };
        pool.line.waiting().find(|request| self.seekers.get(request).is_some_and(fits))
    }

    /// Returns whether a seeker is fair, and the list has others before it: then it tries no slot.
    pub(super) fn is_behind(&self, request: RequestId) -> bool {
        let is_fair = self.seekers.get(&request).is_some_and(|seeker| seeker.acquire.is_fair);
        let entry = self.pool(request).and_then(|pool| pool.place.entry.as_ref());
        is_fair && entry.is_some_and(|entry| entry.is_behind())
    }

    /// Returns whether the first that seeks a permit of this semaphore here is fair.
    pub(super) fn is_first_fair(&self, channel: &str) -> bool {
        let head = self.pools.get(channel).and_then(|pool| pool.line.head());
        let head = head.and_then(|head| self.seekers.get(&head));
        head.is_some_and(|head| head.acquire.is_fair)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.seekers.is_empty()
    }

    #[cfg(any(test, feature = "testing"))]
    pub(crate) fn len(&self) -> usize {
        self.seekers.len() + self.pools.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_gives_back_each_slot_once() {
        let mut set = SlotSet::default();
        [63, 0, 7, 7, 200].into_iter().for_each(|slot| set.insert(slot));
        let taken: Vec<u8> = std::iter::from_fn(|| set.take()).collect();
        assert_eq!((taken, set), (vec![0, 7, 63], SlotSet::default()));
    }
}

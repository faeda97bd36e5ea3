//! The local queue. Of all acquires in this process that want the same key, one contends for it or
//! has it. The others wait for it here, first come, first served, without sending the masters
//! anything.
//!
//! An acquire that wants several keys waits for all of them at once, and takes all places or none.
//! It has been in every queue since the same moment, so two that want {a, b} and {b, a} cannot wait
//! for each other.

use super::{AttemptId, Keys, RequestId};
use std::collections::btree_map::{Entry, OccupiedEntry};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// The number of times in a row that a lock passes on within this process while a client waits
/// elsewhere. Then one acquire steps back, so that other processes get their turn. This is the idea
/// of cohort locks (Dice, Marathe, Shavit, 2012).
const MOST_IN_A_ROW: u32 = 8;

enum Place {
    /// As it was taken. Most places stay like this.
    Quiet(Occupant),
    /// There is or was a waiter.
    Queued(Box<Queue>),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Occupant {
    Nobody,
    /// This acquire contends for the key, and has not won it.
    Contender(RequestId),
    Holder,
}

struct Queue {
    occupant: Occupant,
    waiting: VecDeque<RequestId>,
    /// Those of them that are writers beside readers.
    writers: VecDeque<RequestId>,
    /// The number of times the key has passed on within this process.
    in_a_row: u32,
    /// Whether a client in another process listened when the key was last published as free.
    wanted_elsewhere: bool,
    /// Whether the next acquire here lets others go first.
    step_back: bool,
}

impl Place {
    fn occupant(&self) -> Occupant {
        match self {
            Self::Quiet(occupant) => *occupant,
            Self::Queued(queue) => queue.occupant,
        }
    }

    fn is_free(&self) -> bool {
        self.occupant() == Occupant::Nobody
    }

    fn occupy(&mut self, by: Occupant) {
        match self {
            Self::Quiet(occupant) => *occupant = by,
            Self::Queued(queue) => queue.occupant = by,
        }
    }

    fn queue(&self) -> Option<&Queue> {
        match self {
            Self::Quiet(_) => None,
            Self::Queued(queue) => Some(queue),
        }
    }

    fn queue_mut(&mut self) -> Option<&mut Queue> {
        match self {
            Self::Quiet(_) => None,
            Self::Queued(queue) => Some(queue),
        }
    }

    /// Returns the first waiter.
    fn head(&self) -> Option<RequestId> {
        self.queue()?.waiting.front().copied()
    }
}

impl Queue {
    fn new(occupant: Occupant) -> Self {
        Self {
            occupant,
            waiting: VecDeque::new(),
            writers: VecDeque::new(),
            in_a_row: 0,
            wanted_elsewhere: false,
            step_back: false,
        }
    }
}

/// The keys that this process has, contends for or waits for.
#[derive(Default)]
pub(super) struct LocalQueue {
    places: BTreeMap<Arc<str>, Place>,
    /// The keys whose place has become free, or whose queue has another head.
    stirred: VecDeque<Arc<str>>,
    /// Adopted holds that have no place, since another acquire contended for a key of theirs when
    /// they came. That acquire is refused by the masters, as by a holder elsewhere.
    beside: Vec<AttemptId>,
}

impl LocalQueue {
    /// Returns whether this process has `key`, contends for it or waits for it.
    pub(super) fn is_wanted(&self, key: &str) -> bool {
        self.places.contains_key(key)
    }

    /// Returns whether an acquire in this process waits for `key`.
    pub(super) fn is_waited_for(&self, key: &str) -> bool {
        self.places.get(key).is_some_and(|place| place.head().is_some())
    }

    /// Returns the acquire in this process that contends for `key`.
    pub(super) fn contender(&self, key: &str) -> Option<RequestId> {
        match self.places.get(key)?.occupant() {
            Occupant::Contender(request) => Some(request),
            Occupant::Nobody | Occupant::Holder => None,
        }
    }

    /// Returns the first writer beside readers that waits for `key` in this process.
    pub(super) fn first_writer(&self, key: &str) -> Option<RequestId> {
        self.places.get(key)?.queue()?.writers.front().copied()
    }

    /// Returns whether a guard of this process has one of `keys`.
    pub(super) fn is_held(&self, keys: &Keys) -> bool {
        let occupant = |key: &Arc<str>| self.places.get(key).map(Place::occupant);
        keys.iter().any(|key| occupant(key) == Some(Occupant::Holder))
    }

    /// Takes all places. Returns `false` if one of them was already wanted.
    pub(super) fn take(&mut self, keys: &Keys, request: RequestId) -> bool {
        if keys.iter().skip(1).any(|key| self.is_wanted(key)) {
            return false;
        }
        let taken = || Place::Quiet(Occupant::Contender(request));
        match self.places.entry(keys.first().clone()) {
            Entry::Vacant(place) => place.insert(taken()),
            Entry::Occupied(_) => return false,
        };
        keys.iter().skip(1).for_each(|key| _ = self.places.insert(key.clone(), taken()));
        true
    }

    /// Notes that the contender has won.
    pub(super) fn won(&mut self, keys: &Keys) {
        keys.iter().for_each(|key| {
            if let Some(place) = self.places.get_mut(key) {
                place.occupy(Occupant::Holder);
            }
        });
    }

    /// Takes all places for a lock that was held elsewhere, ahead of all that wait. If an acquire
    /// contends for one of them, the lock has no place.
    pub(super) fn occupy(&mut self, keys: &Keys, id: AttemptId) {
        let is_free = |key: &Arc<str>| self.places.get(key).is_none_or(Place::is_free);
        if !keys.iter().all(is_free) {
            return self.beside.push(id);
        }
        for key in keys.iter() {
            let taken = || Place::Quiet(Occupant::Holder);
            self.places.entry(key.clone()).or_insert_with(taken).occupy(Occupant::Holder);
        }
    }

    /// Gives back the places of a hold, if it has them.
    pub(super) fn leave(&mut self, keys: &Keys, id: AttemptId) {
        match self.beside.iter().position(|one| *one == id) {
            Some(place) => _ = self.beside.swap_remove(place),
            None => self.free(keys),
        }
    }

    /// Notes that the holder gives the keys back. Returns whether to notify waiters in other
    /// processes. They are not notified while the keys pass on here, which leaves nothing for them
    /// to get. Now and then they are notified nevertheless, to find out whether there are any.
    pub(super) fn pass_on(&mut self, keys: &Keys) -> bool {
        let mut tell = false;
        for key in keys.iter() {
            let queue = self.places.get_mut(key).and_then(Place::queue_mut);
            // An acquire that contends while the lock is held elsewhere, or was, listens as well.
            let passes = |queue: &&mut Queue| {
                !queue.waiting.is_empty() && !matches!(queue.occupant, Occupant::Contender(_))
            };
            let Some(queue) = queue.filter(passes) else {
                tell = true;
                continue;
            };
            queue.in_a_row += 1;
            if queue.in_a_row >= MOST_IN_A_ROW {
                tell = true;
                queue.in_a_row = 0;
                queue.step_back = queue.wanted_elsewhere;
            }
        }
        tell
    }

    /// Notes whether a client in another process listened when `key` became free.
    pub(super) fn heard(&mut self, key: &str, elsewhere: bool) {
        let Some(place) = self.places.get_mut(key) else { return };
        match place {
            Place::Queued(queue) => queue.wanted_elsewhere = elsewhere,
            Place::Quiet(occupant) if elsewhere => {
                let queue = Queue { wanted_elsewhere: elsewhere, ..Queue::new(*occupant) };
                *place = Place::Queued(Box::new(queue));
            }
            Place::Quiet(_) => {}
        }
    }

    /// Returns whether the next acquire lets others go first.
    pub(super) fn steps_back(&mut self, keys: &Keys) -> bool {
        let places = keys.iter().filter_map(|key| {
            let queue = self.places.get_mut(key)?.queue_mut()?;
            Some(std::mem::take(&mut queue.step_back))
        });
        places.fold(false, |any, one| any | one)
    }

    /// Queues an acquire at all its places.
    pub(super) fn wait(&mut self, keys: &Keys, request: RequestId) {
        for key in keys.iter() {
            let nobody = || Place::Quiet(Occupant::Nobody);
            let place = self.places.entry(key.clone()).or_insert_with(nobody);
            if let Place::Quiet(occupant) = place {
                *place = Place::Queued(Box::new(Queue::new(*occupant)));
            }
            if let Some(queue) = place.queue_mut() {
                queue.waiting.push_back(request);
                queue.writers.extend(keys.as_writer().map(|_| request));
            }
        }
    }

    /// Gives the places back.
    pub(super) fn free(&mut self, keys: &Keys) {
        for key in keys.iter() {
            let Entry::Occupied(mut place) = self.places.entry(key.clone()) else { continue };
            place.get_mut().occupy(Occupant::Nobody);
            stir(place, &mut self.stirred);
        }
    }

    /// Removes an acquire that no longer waits.
    pub(super) fn forget(&mut self, keys: &Keys, request: RequestId) {
        for key in keys.iter() {
            let Entry::Occupied(mut place) = self.places.entry(key.clone()) else { continue };
            if let Some(queue) = place.get_mut().queue_mut() {
                queue.waiting.retain(|one| *one != request);
                queue.writers.retain(|one| *one != request);
            }
            stir(place, &mut self.stirred);
        }
    }

    /// Returns the first waiter at a place that has become free. It may go if it is first at all
    /// its places.
    pub(super) fn next_head(&mut self) -> Option<RequestId> {
        while let Some(key) = self.stirred.pop_front() {
            let place = self.places.get(&key).filter(|place| place.is_free());
            if let Some(head) = place.and_then(Place::head) {
                return Some(head);
            }
        }
        None
    }

    /// Takes all places for the acquire that is the first waiter at each of them. Returns `false`
    /// if it is not, or if one of them is still taken.
    pub(super) fn advance(&mut self, keys: &Keys, request: RequestId) -> bool {
        let is_next = |key: &Arc<str>| {
            let place = self.places.get(key);
            place.is_some_and(|one| one.is_free() && one.head() == Some(request))
        };
        if !keys.iter().all(is_next) {
            return false;
        }
        for key in keys.iter() {
            if let Some(place) = self.places.get_mut(key) {
                if let Some(queue) = place.queue_mut() {
                    queue.waiting.pop_front();
                    if keys.as_writer().is_some() {
                        queue.writers.pop_front();
                    }
                }
                place.occupy(Occupant::Contender(request));
            }
        }
        true
    }

    /// Returns the number of keys that are remembered.
    #[cfg(any(test, feature = "testing"))]
    pub(super) fn len(&self) -> usize {
        self.places.len() + self.beside.len()
    }
}

/// Removes a place that is no longer wanted. A place that is free and wanted is looked at next.
fn stir(place: OccupiedEntry<'_, Arc<str>, Place>, stirred: &mut VecDeque<Arc<str>>) {
    match place.get() {
        one if !one.is_free() => {}
        one if one.head().is_none() => _ = place.remove(),
        _ => stirred.push_back(place.key().clone()),
    }
}

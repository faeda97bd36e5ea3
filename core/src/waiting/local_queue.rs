//! The local queue. Of all acquires in this process that want the same key, one contends for it or
//! has it. The others wait for it here, first come, first served, without sending the masters
//! anything.
//!
//! An acquire that wants several keys waits for all of them at once, and takes all places or none.
//! The order is the same in every line, so two that want {a, b} and {b, a} cannot wait for each other.

use super::line::Line;
use crate::shared::{AttemptId, Keys, RequestId};
use crate::waiting::tuning::LOCKS_IN_A_ROW;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

/// What this process knows of a key.
#[derive(Default)]
struct Place {
    /// `None` while it is free.
    occupant: Option<Occupant>,
    /// The acquires that wait. Present if one does or did, here or elsewhere: for most keys, none does.
    queue: Option<Box<Queue>>,
}

/// What has the place of a key.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Occupant {
    /// This acquire contends for the key, and has not won it.
    Contender(RequestId),
    /// A guard, or no guard if the hold is idle.
    Holder,
}

/// The acquires that wait for a key.
#[derive(Default)]
struct Queue {
    /// In the order in which they came, which is that of their ids.
    waiting: BTreeSet<RequestId>,
    /// Those of them that are writers beside readers.
    writers: BTreeSet<RequestId>,
    line: Line,
}

impl Place {
    /// Returns the first that waits.
    fn head(&self) -> Option<RequestId> {
        self.queue.as_ref()?.waiting.first().copied()
    }

    /// Returns the first that waits, if the place is free.
    fn next(&self) -> Option<RequestId> {
        self.head().filter(|_| self.occupant.is_none())
    }

    fn line(&mut self) -> Option<&mut Line> {
        self.queue.as_mut().map(|queue| &mut queue.line)
    }

    /// Removes an acquire that no longer waits.
    fn forget(&mut self, request: RequestId) {
        if let Some(queue) = &mut self.queue {
            queue.waiting.remove(&request);
            queue.writers.remove(&request);
        }
    }
}

/// The keys that this process has, contends for or waits for.
#[derive(Default)]
pub(crate) struct LocalQueue {
    places: BTreeMap<Arc<str>, Place>,
    /// The keys whose place has become free, or whose line has another head.
    stirred: VecDeque<Arc<str>>,
    /// Adopted holds that have no place, since another acquire contended for a key of theirs when
    /// they came. That acquire is refused by the masters, as by a holder elsewhere.
    placeless: Vec<(AttemptId, Keys)>,
    /// The holds that are idle, which have their places.
    pub(crate) idle: BTreeMap<Arc<str>, AttemptId>,
}

impl LocalQueue {
    /// Returns whether this process has `key`, contends for it or waits for it.
    pub(crate) fn is_wanted(&self, key: &str) -> bool {
        self.places.contains_key(key)
    }

    /// Returns the first that waits for `key` in this process.
    pub(crate) fn head(&self, key: &str) -> Option<RequestId> {
        self.places.get(key)?.head()
    }

    /// Returns the acquire in this process that contends for `key`.
    pub(crate) fn contender(&self, key: &str) -> Option<RequestId> {
        match self.places.get(key)?.occupant? {
            Occupant::Contender(request) => Some(request),
            Occupant::Holder => None,
        }
    }

    /// Returns the first writer beside readers that waits for `key` in this process.
    pub(crate) fn first_writer(&self, key: &str) -> Option<RequestId> {
        self.places.get(key)?.queue.as_ref()?.writers.first().copied()
    }

    /// Returns whether a guard of this process has one of `keys`.
    pub(crate) fn is_held(&self, keys: &Keys) -> bool {
        let has =
            |(_, held): &(AttemptId, Keys), key: &Arc<str>| held.iter().any(|held| held == key);
        let is_held = |key: &Arc<str>| {
            self.occupant(key) == Some(Occupant::Holder) && !self.idle.contains_key(key)
                || self.placeless.iter().any(|hold| has(hold, key))
        };
        keys.iter().any(is_held)
    }

    fn occupant(&self, key: &str) -> Option<Occupant> {
        self.places.get(key)?.occupant
    }

    /// Takes all places. Returns `false` if one of them was already wanted.
    pub(crate) fn take(&mut self, keys: &Keys, request: RequestId) -> bool {
        let place = || Place { occupant: Some(Occupant::Contender(request)), queue: None };
        if keys.iter().skip(1).any(|key| self.is_wanted(key)) {
            return false;
        }
        // Nearly always there is one key, which is looked up once.
        let Entry::Vacant(first) = self.places.entry(keys.first().clone()) else { return false };
        first.insert(place());
        keys.iter().skip(1).for_each(|key| _ = self.places.insert(key.clone(), place()));
        true
    }

    /// Notes that the contender has won. Returns `false` if it did not have all places.
    pub(crate) fn won(&mut self, keys: &Keys, request: RequestId) -> bool {
        let mut had_all = true;
        for key in keys.iter() {
            let Some(place) = self.places.get_mut(key) else { return false };
            had_all &= place.occupant == Some(Occupant::Contender(request));
            place.occupant = Some(Occupant::Holder);
        }
        had_all
    }

    /// Takes all places for a lock that was held elsewhere, ahead of all that wait. If an acquire
    /// contends for one of them, the lock has no place.
    pub(crate) fn occupy(&mut self, keys: &Keys, id: AttemptId) {
        if keys.iter().any(|key| self.occupant(key).is_some()) {
            return self.placeless.push((id, keys.clone()));
        }
        for key in keys.iter() {
            self.places.entry(key.clone()).or_default().occupant = Some(Occupant::Holder);
        }
    }

    /// Gives back the places of a hold, if it has them.
    pub(crate) fn leave(&mut self, keys: &Keys, id: AttemptId) {
        match self.placeless.iter().position(|(attempt, _)| *attempt == id) {
            Some(place) => _ = self.placeless.swap_remove(place),
            None => {
                self.idle.remove(keys.first());
                self.free(keys);
            }
        }
    }

    /// Notes that the hold of `key` has gone to `request`, which waited for it, without the masters.
    pub(crate) fn passed_on(&mut self, key: &str) {
        self.idle.remove(key);
        if let Some(line) = self.line_mut(key) {
            line.passed_on_warm();
        }
    }

    /// Returns the line of a key, if an acquire waits for it or did, here or elsewhere.
    pub(crate) fn line(&self, key: &str) -> Option<&Line> {
        self.places.get(key)?.queue.as_ref().map(|queue| &queue.line)
    }

    pub(crate) fn line_mut(&mut self, key: &str) -> Option<&mut Line> {
        self.places.get_mut(key)?.line()
    }

    /// Notes that the holder gives the keys back. Returns whether to notify waiters in other
    /// processes.
    pub(crate) fn pass_on(&mut self, keys: &Keys) -> bool {
        let mut tell = false;
        for key in keys.iter() {
            let waited_for = self.places.get_mut(key).filter(|place| place.head().is_some());
            // An acquire that contends while the lock is held elsewhere, or was, listens as well.
            let contends = |place: &Place| matches!(place.occupant, Some(Occupant::Contender(_)));
            let passing = waited_for.filter(|place| !contends(place)).and_then(Place::line);
            tell |= passing.is_none_or(|line| line.pass_on(LOCKS_IN_A_ROW));
        }
        tell
    }

    /// Notes whether a client in another process listened when `key` became free.
    pub(crate) fn heard(&mut self, key: &str, elsewhere: bool) {
        let Some(place) = self.places.get_mut(key) else { return };
        if elsewhere || place.queue.is_some() {
            place.queue.get_or_insert_default().line.wanted_elsewhere = elsewhere;
        }
    }

    /// Returns whether the next acquire lets others go first.
    pub(crate) fn steps_back(&mut self, keys: &Keys) -> bool {
        let mut steps_back = |key| self.places.get_mut(key)?.line().map(Line::steps_back);
        keys.iter().filter_map(&mut steps_back).fold(false, |any, steps| any | steps)
    }

    /// Queues an acquire at all its places.
    pub(crate) fn wait(&mut self, keys: &Keys, request: RequestId) {
        for key in keys.iter() {
            let place = self.places.entry(key.clone()).or_default();
            let queue = place.queue.get_or_insert_default();
            queue.waiting.insert(request);
            if keys.as_writer().is_some() {
                queue.writers.insert(request);
            }
            // An older request that comes late may be first at a place that is free.
            if place.occupant.is_none() {
                self.stirred.push_back(key.clone());
            }
        }
    }

    /// Gives the places back.
    pub(crate) fn free(&mut self, keys: &Keys) {
        self.change(keys, |place| place.occupant = None);
    }

    /// Removes an acquire that no longer waits.
    pub(crate) fn forget(&mut self, keys: &Keys, request: RequestId) {
        self.change(keys, |place| place.forget(request));
    }

    /// Changes places. One that is then free is looked at next if it is wanted, and otherwise forgotten.
    fn change(&mut self, keys: &Keys, change: impl Fn(&mut Place)) {
        for key in keys.iter() {
            let Entry::Occupied(mut entry) = self.places.entry(key.clone()) else { continue };
            let place = entry.get_mut();
            change(place);
            match (place.occupant, place.head()) {
                (Some(_), _) => {}
                (None, Some(_)) => self.stirred.push_back(key.clone()),
                (None, None) => _ = entry.remove(),
            }
        }
    }

    /// Returns the first waiter at a place that has become free. It may go if it is first at all
    /// its places.
    pub(crate) fn next_head(&mut self) -> Option<RequestId> {
        while let Some(key) = self.stirred.pop_front() {
            let head = self.places.get(&key).and_then(Place::next);
            if head.is_some() {
                return head;
            }
        }
        None
    }

    /// Takes all places for the acquire that is the first waiter at each of them. Returns `false`
    /// if it is not, or if one of them is still taken.
    pub(crate) fn advance(&mut self, keys: &Keys, request: RequestId) -> bool {
        let is_next = |key| self.places.get(key).and_then(Place::next) == Some(request);
        let goes = keys.iter().all(is_next);
        if goes {
            self.change(keys, |place| {
                place.forget(request);
                place.occupant = Some(Occupant::Contender(request));
            });
        }
        goes
    }

    /// Returns the number of keys that are remembered.
    #[cfg(any(test, feature = "testing"))]
    pub(crate) fn len(&self) -> usize {
        self.places.len() + self.placeless.len()
    }
}

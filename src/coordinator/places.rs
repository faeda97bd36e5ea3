//! The local queue: of all in this process that want the same key, one contends for it or has it,
//! and the others wait for it here, first come first served, without a word to the masters.
//!
//! Who wants several keys waits for all of them at once and takes all places or none. It stands in
//! every queue since the same moment, so two that want {a, b} and {b, a} cannot wait for each other.

use super::{Keys, RequestId};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

#[derive(Default)]
struct Place {
    occupied: bool,
    waiting: VecDeque<RequestId>,
}

/// Keys that somebody in this process has, contends for or waits for.
#[derive(Default)]
pub(super) struct Places {
    places: BTreeMap<Arc<str>, Place>,
    /// Keys whose place has become free, or whose queue has another head.
    stirred: VecDeque<Arc<str>>,
}

impl Places {
    /// Whether somebody in this process has one of these, contends for it or waits for it.
    pub(super) fn are_wanted(&self, keys: &Keys) -> bool {
        keys.iter().any(|key| self.places.contains_key(key))
    }

    /// Takes all places; nobody wanted any of them.
    pub(super) fn take(&mut self, keys: &Keys) {
        for key in keys.iter() {
            self.places.entry(key.clone()).or_default().occupied = true;
        }
    }

    /// Waits for all places.
    pub(super) fn wait(&mut self, keys: &Keys, request: RequestId) {
        for key in keys.iter() {
            self.places.entry(key.clone()).or_default().waiting.push_back(request);
        }
    }

    /// Gives the places back.
    pub(super) fn free(&mut self, keys: &Keys) {
        for key in keys.iter() {
            if let Some(place) = self.places.get_mut(key) {
                place.occupied = false;
                self.stir(key);
            }
        }
    }

    /// Waits no more.
    pub(super) fn forget(&mut self, keys: &Keys, request: RequestId) {
        for key in keys.iter() {
            if let Some(place) = self.places.get_mut(key) {
                let at = place.waiting.iter().position(|one| *one == request);
                at.into_iter().for_each(|at| _ = place.waiting.remove(at));
                self.stir(key);
            }
        }
    }

    fn stir(&mut self, key: &Arc<str>) {
        match self.places.get(key) {
            Some(place) if !place.occupied && place.waiting.is_empty() => {
                self.places.remove(key);
            }
            Some(place) if !place.occupied => self.stirred.push_back(key.clone()),
            _ => {}
        }
    }

    /// Who is first at a place that has become free, and may go if it is first at all its places.
    pub(super) fn next_head(&mut self) -> Option<RequestId> {
        while let Some(key) = self.stirred.pop_front() {
            let place = self.places.get(&key).filter(|place| !place.occupied);
            if let Some(head) = place.and_then(|place| place.waiting.front()) {
                return Some(*head);
            }
        }
        None
    }

    /// Takes all places for the one that waits first at each of them; `false` if it does not, or
    /// somebody has one of them yet.
    pub(super) fn advance(&mut self, keys: &Keys, request: RequestId) -> bool {
        let is_next = |key: &Arc<str>| {
            let place = self.places.get(key);
            place.is_some_and(|one| !one.occupied && one.waiting.front() == Some(&request))
        };
        if !keys.iter().all(is_next) {
            return false;
        }
        for key in keys.iter() {
            if let Some(place) = self.places.get_mut(key) {
                place.waiting.pop_front();
                place.occupied = true;
            }
        }
        true
    }

    /// How many keys are remembered.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.places.len()
    }
}

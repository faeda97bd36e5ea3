//! Acquires that have no answer yet, by request id.

use super::RequestId;
use super::acquisition::Acquisition;
use super::contention::Contention;
use super::slab::Slab;
use super::turns::Turn;
use std::collections::BTreeMap;

/// The acquires, in the order in which they were requested. They are entries of a slab: a map moves
/// its entries about, and a box for each would be an allocation for each. No request comes twice,
/// so slots are enough.
pub(super) struct Acquisitions {
    slots: BTreeMap<RequestId, u32>,
    slab: Slab<Acquisition>,
    /// The boxes of acquires that were won: the next ones contend in the same room.
    #[allow(clippy::vec_box, reason = "a box is taken as it is, and saves an allocation")]
    spare: Vec<Box<Contention>>,
}

/// The maximum number of spare boxes that are kept.
const MOST_SPARE: usize = 64;

impl Acquisitions {
    pub(super) const fn new() -> Self {
        Self { slots: BTreeMap::new(), slab: Slab::new(), spare: Vec::new() }
    }

    pub(super) fn insert(&mut self, request: RequestId, acquisition: Acquisition) {
        self.slots.insert(request, self.slab.insert(acquisition));
    }

    pub(super) fn get(&self, request: RequestId) -> Option<&Acquisition> {
        self.slab.get(*self.slots.get(&request)?)
    }

    pub(super) fn get_mut(&mut self, request: RequestId) -> Option<&mut Acquisition> {
        self.slab.get_mut(*self.slots.get(&request)?)
    }

    pub(super) fn contention(&self, request: RequestId) -> Option<&Contention> {
        self.get(request)?.contention.as_deref()
    }

    pub(super) fn contention_mut(&mut self, request: RequestId) -> Option<&mut Contention> {
        self.get_mut(request)?.contention.as_deref_mut()
    }

    /// Returns the place of an acquire that waits in turn.
    pub(super) fn turn_mut(&mut self, request: RequestId) -> Option<&mut Turn> {
        self.contention_mut(request)?.turn.as_deref_mut()
    }

    /// Starts the contention of an acquire that has taken its places.
    pub(super) fn contend(&mut self, request: RequestId) {
        let spare = self.spare.pop();
        let Some(acquisition) = self.get_mut(request) else { return };
        let contention = Contention::new(acquisition.began, acquisition.until());
        acquisition.contention = Some(match spare {
            Some(mut room) => {
                *room = contention;
                room
            }
            None => Box::new(contention),
        });
    }

    /// Keeps the box for another acquire that contends.
    pub(super) fn keep_room(&mut self, contention: Option<Box<Contention>>) {
        if self.spare.len() < MOST_SPARE {
            self.spare.extend(contention);
        }
    }

    pub(super) fn remove(&mut self, request: RequestId) -> Option<Acquisition> {
        self.slab.remove(self.slots.remove(&request)?)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (RequestId, &Acquisition)> {
        let slots = self.slots.iter();
        slots.filter_map(|(request, slot)| Some((*request, self.slab.get(*slot)?)))
    }

    pub(super) fn requests(&self) -> impl Iterator<Item = RequestId> {
        self.slots.keys().copied()
    }

    #[cfg(any(test, feature = "testing"))]
    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }
}

//! Acquires that have no answer yet, by request id.

use super::{Acquisition, Contention};
use crate::quorum::Instant;
use crate::shared::{AcquireRequest, FEW, Place, RequestId, Table};
use std::collections::BTreeMap;

/// The acquires, in the order in which they were requested. They are entries of a table: a map moves
/// its entries about, and a box for each would be an allocation for each.
#[derive(Default)]
pub(crate) struct Acquisitions {
    places: BTreeMap<RequestId, Place>,
    table: Table<Acquisition>,
    /// The boxes of acquires that were won: the next ones contend in the same room.
    #[allow(clippy::vec_box, reason = "a box is taken as it is, and saves an allocation")]
    spare: Vec<Box<Contention>>,
}

impl Acquisitions {
    pub(crate) fn insert(&mut self, request: RequestId, acquisition: Acquisition) {
        let place = self.table.reserve();
        self.table.insert(place, acquisition);
        self.places.insert(request, place);
    }

    pub(crate) fn get(&self, request: RequestId) -> Option<&Acquisition> {
        self.table.get(*self.places.get(&request)?)
    }

    pub(crate) fn get_mut(&mut self, request: RequestId) -> Option<&mut Acquisition> {
        self.table.get_mut(*self.places.get(&request)?)
    }

    pub(crate) fn contention(&self, request: RequestId) -> Option<&Contention> {
        self.get(request)?.contention.as_deref()
    }

    pub(crate) fn contention_mut(&mut self, request: RequestId) -> Option<&mut Contention> {
        self.get_mut(request)?.contention.as_deref_mut()
    }

    /// Returns what an acquire asks for that has taken its places, and its contention.
    pub(crate) fn contending(
        &mut self,
        request: RequestId,
    ) -> Option<(&AcquireRequest, &mut Contention)> {
        let Acquisition { request, contention, .. } = self.get_mut(request)?;
        Some((request, contention.as_deref_mut()?))
    }

    /// Starts the contention of an acquire that has taken its places.
    pub(crate) fn contend(&mut self, began: Instant, until: Instant) -> Box<Contention> {
        let mut room = self.spare.pop().unwrap_or_default();
        *room = Contention::new(began, until);
        room
    }

    /// Keeps the box for another acquire that contends.
    pub(crate) fn keep_room(&mut self, contention: Option<Box<Contention>>) {
        if self.spare.len() < FEW {
            self.spare.extend(contention);
        }
    }

    pub(crate) fn remove(&mut self, request: RequestId) -> Option<Acquisition> {
        self.table.remove(self.places.remove(&request)?)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (RequestId, &Acquisition)> {
        let places = self.places.iter();
        places.filter_map(|(request, place)| Some((*request, self.table.get(*place)?)))
    }

    pub(crate) fn requests(&self) -> impl Iterator<Item = RequestId> {
        self.places.keys().copied()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    #[cfg(any(test, feature = "testing"))]
    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }
}

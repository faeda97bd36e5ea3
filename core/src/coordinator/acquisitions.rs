//! Acquires that are not answered, by what their callers call them.

use super::RequestId;
use super::queue::Acquisition;
use super::table::{Place, Table};
use std::collections::BTreeMap;

/// In the order in which they were asked for. They stand in a table: a map moves its entries about, and
/// room of its own for each would be an allocation for each.
pub(super) struct Acquisitions {
    places: BTreeMap<RequestId, Place>,
    table: Table<Acquisition>,
}

impl Acquisitions {
    pub(super) const fn new() -> Self {
        Self { places: BTreeMap::new(), table: Table::new() }
    }

    pub(super) fn insert(&mut self, request: RequestId, acquisition: Acquisition) {
        let place: Place = self.table.reserve();
        self.table.insert(place, acquisition);
        self.places.insert(request, place);
    }

    pub(super) fn get(&self, request: RequestId) -> Option<&Acquisition> {
        self.table.get(*self.places.get(&request)?)
    }

    pub(super) fn get_mut(&mut self, request: RequestId) -> Option<&mut Acquisition> {
        self.table.get_mut(*self.places.get(&request)?)
    }

    pub(super) fn remove(&mut self, request: RequestId) -> Option<Acquisition> {
        self.table.remove(self.places.remove(&request)?)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (RequestId, &Acquisition)> {
        let places = self.places.iter();
        places.filter_map(|(request, place)| Some((*request, self.table.get(*place)?)))
    }

    pub(super) fn requests(&self) -> impl Iterator<Item = RequestId> {
        self.places.keys().copied()
    }

    #[cfg(any(test, feature = "testing"))]
    pub(super) fn len(&self) -> usize {
        self.places.len()
    }
}

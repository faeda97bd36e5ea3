//! Entries by an id that is never given again, so that whatever comes late finds nothing. An id
//! contains the slot of its entry: nothing is searched for, and nothing else is moved.

/// The place of an entry. It is packed: tables are full of ids, and half a word of each would be
/// padding.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(Rust, packed(4))]
pub(crate) struct Place {
    /// Counts all places that a table has ever given; no place has the serial zero.
    serial: u64,
    slot: u32,
}

impl Place {
    /// The place of no entry.
    pub(crate) const NONE: Self = Self { serial: 0, slot: 0 };

    pub(crate) const fn index(self) -> usize {
        self.slot as usize
    }
}

pub(crate) struct Table<T> {
    slots: Vec<Slot<T>>,
    vacant: Vec<u32>,
    last_serial: u64,
}

struct Slot<T> {
    /// The serial of the place that was given for it; zero once that is left.
    serial: u64,
    /// `None` as long as the slot is only reserved.
    entry: Option<T>,
}

/// The number of slots for which there is room at first, and above which an empty table gives its memory back.
pub(crate) const FEW: usize = 1 << 6;
const MANY: usize = 1 << 10;

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self { slots: Vec::new(), vacant: Vec::new(), last_serial: 0 }
    }
}

impl<T> Table<T> {
    /// Reserves a place for an entry that is inserted later.
    pub(crate) fn reserve(&mut self) -> Place {
        self.last_serial += 1;
        let (serial, len) = (self.last_serial, self.slots.len());
        let slot = self.vacant.pop().unwrap_or(u32::try_from(len).unwrap_or(u32::MAX));
        if let Some(vacant) = self.slots.get_mut(slot as usize) {
            vacant.serial = serial;
        } else {
            if len == self.slots.capacity() {
                // A quarter more, and not twice as much: a table may be large, and stay large.
                self.slots.reserve_exact(len / 4 + FEW);
            }
            self.slots.push(Slot { serial, entry: None });
        }
        Place { serial, slot }
    }

    /// Inlined, so that an entry is built in its slot: a call would copy it.
    #[inline]
    pub(crate) fn insert(&mut self, place: Place, entry: T) {
        if let Some(slot) = self.at(place) {
            slot.entry = Some(entry);
        }
    }

    pub(crate) fn get(&self, place: Place) -> Option<&T> {
        let slot = self.slots.get(place.index())?;
        if slot.serial == place.serial { slot.entry.as_ref() } else { None }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.slots.iter().filter_map(|slot| slot.entry.as_ref())
    }

    /// Returns the places of all entries that are `wanted`.
    pub(crate) fn places(&self, wanted: impl Fn(&T) -> bool) -> Vec<Place> {
        let found = (0..).zip(&self.slots);
        let found = found.filter(|(_, slot)| slot.entry.as_ref().is_some_and(&wanted));
        found.map(|(slot, Slot { serial, .. })| Place { serial: *serial, slot }).collect()
    }

    pub(crate) fn get_mut(&mut self, place: Place) -> Option<&mut T> {
        self.at(place)?.entry.as_mut()
    }

    #[inline]
    pub(crate) fn remove(&mut self, place: Place) -> Option<T> {
        let slot = self.at(place).filter(|slot| slot.entry.is_some())?;
        slot.serial = Place::NONE.serial;
        // Moved once, from its slot to the caller.
        let entry = slot.entry.take();
        self.vacant.push(place.slot);
        if self.len() == 0 && self.slots.capacity() > MANY {
            (self.slots, self.vacant) = (Vec::new(), Vec::new());
        }
        entry
    }

    pub(crate) fn len(&self) -> usize {
        self.slots.len() - self.vacant.len()
    }

    fn at(&mut self, place: Place) -> Option<&mut Slot<T>> {
        self.slots.get_mut(place.index()).filter(|slot| slot.serial == place.serial)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inserted<T>(table: &mut Table<T>, entry: T) -> Place {
        let place = table.reserve();
        table.insert(place, entry);
        place
    }

    #[test]
    fn an_id_never_finds_the_entry_that_came_after_its_own() {
        let mut table = Table::default();
        let first = inserted(&mut table, "first");
        assert_eq!((table.remove(first), table.remove(first)), (Some("first"), None));
        let second = inserted(&mut table, "second");
        assert_eq!(second.index(), first.index(), "the slot is used again");
        assert_eq!((table.get(first), table.get(second)), (None, Some(&"second")));
        table.insert(first, "late");
        assert_eq!((table.remove(first), table.len()), (None, 1));
        assert_eq!((table.get(second), table.get(Place::NONE)), (Some(&"second"), None));
        assert_ne!(inserted(&mut table, "third").index(), second.index());
    }

    #[test]
    fn a_place_that_is_only_reserved_has_no_entry_and_is_no_other_entrys() {
        let mut table = Table::default();
        let (first, second) = (table.reserve(), table.reserve());
        table.insert(second, "second");
        assert_eq!((table.remove(first), table.get(first), table.len()), (None, None, 2));
        assert_eq!(table.places(|_| true), [second]);
        table.insert(first, "first");
        assert!(table.iter().eq(&["first", "second"]));
    }

    #[test]
    fn no_id_is_given_a_second_time_by_a_table_that_was_large() {
        let mut table = Table::default();
        let ids: Vec<Place> = (0..2 * MANY).map(|number| inserted(&mut table, number)).collect();
        assert_eq!(table.remove(ids[0]), Some(0));
        assert!((1..2 * MANY).all(|number| table.get(ids[number]) == Some(&number)));
        ids.iter().for_each(|id| _ = table.remove(*id));
        assert_eq!((table.len(), table.slots.capacity(), table.vacant.capacity()), (0, 0, 0));
        inserted(&mut table, 0);
        assert!(ids.iter().all(|id| table.get(*id).is_none()));
    }

    #[test]
    fn an_emptied_table_keeps_its_memory_if_it_was_small() {
        let mut table = Table::default();
        let ids: Vec<Place> = (0..FEW).map(|number| inserted(&mut table, number)).collect();
        ids.iter().for_each(|id| _ = table.remove(*id));
        assert_eq!((table.len(), table.slots.capacity()), (0, FEW));
    }
}

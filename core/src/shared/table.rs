//! Entries by an id that is never given again, so that whatever comes late finds nothing. An id
//! contains the slot of its entry.

use super::Slab;

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

    pub(crate) const fn slot(self) -> usize {
        self.slot as usize
    }
}

/// The id of an entry of one table.
pub(crate) trait Id: Copy {
    fn of(place: Place) -> Self;
    fn place(self) -> Place;
}

pub(crate) struct Table<T> {
    slots: Slab<Slot<T>>,
    last_serial: u64,
}

struct Slot<T> {
    /// The serial of the place that was given for it.
    serial: u64,
    /// `None` as long as the slot is only reserved.
    entry: Option<T>,
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self { slots: Slab::default(), last_serial: 0 }
    }
}

impl<T> Table<T> {
    /// Reserves a place for an entry that is inserted later.
    pub(crate) fn reserve<I: Id>(&mut self) -> I {
        self.last_serial += 1;
        let serial = self.last_serial;
        let slot = self.slots.insert(Slot { serial, entry: None });
        I::of(Place { serial, slot })
    }

    pub(crate) fn insert<I: Id>(&mut self, id: I, entry: T) {
        if let Some(slot) = self.at(id.place()) {
            slot.entry = Some(entry);
        }
    }

    pub(crate) fn get<I: Id>(&self, id: I) -> Option<&T> {
        let Place { serial, slot } = id.place();
        let slot = self.slots.get(slot)?;
        if slot.serial == serial { slot.entry.as_ref() } else { None }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.slots.entries().filter_map(|(_, slot)| slot.entry.as_ref())
    }

    /// Returns the ids of all entries that are `wanted`.
    pub(crate) fn ids<I: Id>(&self, wanted: impl Fn(&T) -> bool) -> Vec<I> {
        let found =
            self.slots.entries().filter(|(_, slot)| slot.entry.as_ref().is_some_and(&wanted));
        found.map(|(index, slot)| I::of(Place { serial: slot.serial, slot: index })).collect()
    }

    pub(crate) fn get_mut<I: Id>(&mut self, id: I) -> Option<&mut T> {
        self.at(id.place())?.entry.as_mut()
    }

    pub(crate) fn remove<I: Id>(&mut self, id: I) -> Option<T> {
        let entry = self.at(id.place())?.entry.take()?;
        self.slots.free(id.place().slot);
        Some(entry)
    }

    pub(crate) fn len(&self) -> usize {
        self.slots.len()
    }

    fn at(&mut self, place: Place) -> Option<&mut Slot<T>> {
        self.slots.get_mut(place.slot).filter(|slot| slot.serial == place.serial)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Copy, PartialEq, Debug)]
    struct Number(Place);

    impl Id for Number {
        fn of(place: Place) -> Self {
            Self(place)
        }

        fn place(self) -> Place {
            self.0
        }
    }

    #[test]
    fn an_id_never_finds_the_entry_that_came_after_its_own() {
        let mut table = Table::default();
        let first: Number = table.reserve();
        table.insert(first, "first");
        assert_eq!((table.remove(first), table.remove(first)), (Some("first"), None));
        let second: Number = table.reserve();
        table.insert(second, "second");
        assert_eq!(second.0.slot, first.0.slot, "the slot is used again");
        assert_eq!((table.get(first), table.get(second)), (None, Some(&"second")));
        table.insert(first, "late");
        assert_eq!((table.remove(first), table.len()), (None, 1));
        assert_eq!(table.get(second), Some(&"second"));
        assert_eq!((table.remove(second), table.remove(second)), (Some("second"), None));
        assert_eq!((table.get(second), table.len()), (None, 0));
        assert_eq!(table.get(Number(Place::NONE)), None);
    }

    #[test]
    fn no_id_is_given_a_second_time_by_a_table_that_was_large() {
        let mut table = Table::default();
        let ids: Vec<Number> = (0..5_000).map(|_| table.reserve()).collect();
        ids.iter().enumerate().for_each(|(number, id)| table.insert(*id, number));
        assert_eq!(table.get(ids[1_000]), Some(&1_000));
        ids.iter().for_each(|id| _ = table.remove(*id));
        assert_eq!(table.len(), 0);
        let next: Number = table.reserve();
        table.insert(next, 0);
        assert!(ids.iter().all(|id| table.get(*id).is_none()));
    }
}

//! Entries by an id that is never given again, so that whatever comes late finds nothing.
//!
//! An id says where its entry stands: nothing is searched for, and nothing else is moved.

/// Where an entry stands. Packed: tables are full of ids, and half a word of each would be padding.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(Rust, packed(4))]
pub(super) struct Place {
    /// Counts all that a table ever gave; zero is none of them.
    serial: u64,
    slot: u32,
}

impl Place {
    /// That of no entry.
    pub(super) const NONE: Self = Self { serial: 0, slot: 0 };

    pub(super) const fn slot(self) -> usize {
        self.slot as usize
    }
}

impl Id for Place {
    fn of(place: Place) -> Self {
        place
    }

    fn place(self) -> Place {
        self
    }
}

/// An id of the entries of one table.
pub(super) trait Id: Copy {
    fn of(place: Place) -> Self;
    fn place(self) -> Place;
}

/// In chunks: one that grows moves no entry, and is never twice as large as it has to be.
pub(super) struct Table<T> {
    chunks: Vec<Vec<Slot<T>>>,
    vacant: Vec<u32>,
    last_serial: u64,
}

struct Slot<T> {
    /// That of the place it was given out as last.
    serial: u64,
    entry: Option<T>,
}

/// Slots of a chunk.
const CHUNK: usize = 1 << 6;

/// Chunks beyond which an empty table gives its memory back.
const KEPT: usize = 1 << 4;

impl<T> Table<T> {
    pub(super) const fn new() -> Self {
        Self { chunks: Vec::new(), vacant: Vec::new(), last_serial: 0 }
    }

    /// A place for an entry that is to be put there.
    pub(super) fn reserve<I: Id>(&mut self) -> I {
        self.last_serial += 1;
        let serial = self.last_serial;
        let slot = self.vacant.pop().unwrap_or_else(|| self.grow());
        if let Some(slot) = self.slot_mut(slot) {
            slot.serial = serial;
        }
        I::of(Place { serial, slot })
    }

    pub(super) fn insert<I: Id>(&mut self, id: I, entry: T) {
        if let Some(slot) = self.at(id.place()) {
            slot.entry = Some(entry);
        }
    }

    pub(super) fn get<I: Id>(&self, id: I) -> Option<&T> {
        let Place { serial, slot } = id.place();
        let slot = self.chunks.get(slot as usize / CHUNK)?.get(slot as usize % CHUNK)?;
        if slot.serial == serial { slot.entry.as_ref() } else { None }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &T> {
        self.chunks.iter().flatten().filter_map(|slot| slot.entry.as_ref())
    }

    pub(super) fn get_mut<I: Id>(&mut self, id: I) -> Option<&mut T> {
        self.at(id.place())?.entry.as_mut()
    }

    pub(super) fn remove<I: Id>(&mut self, id: I) -> Option<T> {
        let entry = self.at(id.place())?.entry.take()?;
        self.vacant.push(id.place().slot);
        if self.chunks.len() > KEPT && self.len() == 0 {
            (self.chunks, self.vacant) = (Vec::new(), Vec::new());
        }
        Some(entry)
    }

    pub(super) fn len(&self) -> usize {
        self.slots() - self.vacant.len()
    }

    /// Of all chunks, of which the last alone may have room.
    fn slots(&self) -> usize {
        let last = self.chunks.last().map_or(0, Vec::len);
        self.chunks.len().saturating_sub(1) * CHUNK + last
    }

    /// A new slot.
    fn grow(&mut self) -> u32 {
        let slot = u32::try_from(self.slots()).unwrap_or(u32::MAX);
        let new = Slot { serial: 0, entry: None };
        match self.chunks.last_mut().filter(|chunk| chunk.len() < CHUNK) {
            Some(chunk) => chunk.push(new),
            None => {
                let mut chunk = Vec::with_capacity(CHUNK);
                chunk.push(new);
                self.chunks.push(chunk);
            }
        }
        slot
    }

    fn slot_mut(&mut self, slot: u32) -> Option<&mut Slot<T>> {
        self.chunks.get_mut(slot as usize / CHUNK)?.get_mut(slot as usize % CHUNK)
    }

    fn at(&mut self, place: Place) -> Option<&mut Slot<T>> {
        self.slot_mut(place.slot).filter(|slot| slot.serial == place.serial)
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
        let mut table = Table::new();
        let first: Number = table.reserve();
        table.insert(first, "first");
        assert_eq!((table.remove(first), table.remove(first)), (Some("first"), None));
        let second: Number = table.reserve();
        table.insert(second, "second");
        assert_eq!(second.0.slot, first.0.slot, "the slot is used again");
        assert_eq!((table.get(first), table.get(second)), (None, Some(&"second")));
        table.insert(first, "late");
        assert_eq!((table.remove(first), table.len()), (None, 1));
        assert_eq!(table.get(Number(Place::NONE)), None);
    }

    #[test]
    fn a_table_that_was_large_gives_its_memory_back_and_no_id_a_second_time() {
        let mut table = Table::new();
        let ids: Vec<Number> = (0..2 * KEPT * CHUNK).map(|_| table.reserve()).collect();
        ids.iter().enumerate().for_each(|(number, id)| table.insert(*id, number));
        assert_eq!(table.get(ids[KEPT * CHUNK]), Some(&(KEPT * CHUNK)));
        ids.iter().for_each(|id| _ = table.remove(*id));
        assert_eq!((table.len(), table.chunks.capacity()), (0, 0));
        let next: Number = table.reserve();
        table.insert(next, 0);
        assert!(ids.iter().all(|id| table.get(*id).is_none()));
    }

    #[test]
    fn what_leaves_takes_nothing_else_along() {
        let mut table = Table::new();
        let ids: Vec<Number> = (0..2 * KEPT * CHUNK).map(|_| table.reserve()).collect();
        ids.iter().for_each(|id| table.insert(*id, ()));
        assert_eq!(table.remove(ids[0]), Some(()));
        assert!(ids[1..].iter().all(|id| table.get(*id).is_some()));

        let mut small = Table::new();
        let ids: Vec<Number> = (0..KEPT * CHUNK).map(|_| small.reserve()).collect();
        ids.iter().for_each(|id| small.insert(*id, ()));
        ids.iter().for_each(|id| _ = small.remove(*id));
        assert_eq!(small.chunks.len(), KEPT, "the memory is kept for the next ones");
    }
}

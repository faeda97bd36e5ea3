//! Entries that are found by their slot: nothing is searched for, and nothing else is moved.

/// A slab in chunks: it grows without moving an entry, and is never twice as large as necessary.
pub(crate) struct Slab<T> {
    chunks: Vec<Vec<Option<T>>>,
    vacant: Vec<u32>,
}

/// The number of slots of a chunk.
const CHUNK: usize = 1 << 6;

/// The number of chunks above which an empty slab gives its memory back.
const KEPT: usize = 1 << 4;

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Self { chunks: Vec::new(), vacant: Vec::new() }
    }
}

impl<T> Slab<T> {
    /// Inserts an entry, and returns its slot. Once the entry is removed, the slot may hold
    /// another.
    ///
    /// Inlined, so that an entry is built in its slot: a call would copy it.
    #[inline]
    pub(crate) fn insert(&mut self, entry: T) -> u32 {
        if let Some(slot) = self.vacant.pop() {
            if let Some(vacant) = self.slot_mut(slot) {
                *vacant = Some(entry);
            }
            return slot;
        }
        let slot = u32::try_from(self.slots()).unwrap_or(u32::MAX);
        if self.chunks.last().is_none_or(|chunk| chunk.len() == CHUNK) {
            self.chunks.push(Vec::with_capacity(CHUNK));
        }
        if let Some(chunk) = self.chunks.last_mut() {
            chunk.push(Some(entry));
        }
        slot
    }

    pub(crate) fn get(&self, slot: u32) -> Option<&T> {
        self.chunks.get(slot as usize / CHUNK)?.get(slot as usize % CHUNK)?.as_ref()
    }

    pub(crate) fn get_mut(&mut self, slot: u32) -> Option<&mut T> {
        self.slot_mut(slot)?.as_mut()
    }

    #[inline]
    pub(crate) fn remove(&mut self, slot: u32) -> Option<T> {
        let entry = self.slot_mut(slot)?.take()?;
        self.vacated(slot);
        Some(entry)
    }

    /// Removes an entry of which nothing is wanted: it is not moved.
    #[inline]
    pub(crate) fn free(&mut self, slot: u32) {
        let Some(entry) = self.slot_mut(slot).filter(|entry| entry.is_some()) else { return };
        *entry = None;
        self.vacated(slot);
    }

    fn vacated(&mut self, slot: u32) {
        self.vacant.push(slot);
        if self.chunks.len() > KEPT && self.len() == 0 {
            *self = Self::default();
        }
    }

    /// Returns all entries with their slots.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (u32, &T)> {
        let slots = (0..).zip(self.chunks.iter().flatten());
        slots.filter_map(|(slot, entry)| Some((slot, entry.as_ref()?)))
    }

    pub(crate) fn len(&self) -> usize {
        self.slots() - self.vacant.len()
    }

    /// Returns the number of slots of all chunks. Only the last chunk may have room.
    fn slots(&self) -> usize {
        let last = self.chunks.last().map_or(0, Vec::len);
        self.chunks.len().saturating_sub(1) * CHUNK + last
    }

    fn slot_mut(&mut self, slot: u32) -> Option<&mut Option<T>> {
        self.chunks.get_mut(slot as usize / CHUNK)?.get_mut(slot as usize % CHUNK)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_that_is_left_is_used_again() {
        let mut slab = Slab::default();
        let (first, second) = (slab.insert("first"), slab.insert("second"));
        assert_eq!((slab.remove(first), slab.remove(first)), (Some("first"), None));
        assert_eq!(slab.insert("third"), first);
        let found = [first, second, second + 1].map(|slot| slab.get(slot).copied());
        assert_eq!(found, [Some("third"), Some("second"), None]);
        assert_eq!(slab.len(), 2);
        (0..2).for_each(|_| slab.free(second));
        assert_eq!((slab.len(), slab.insert("fourth")), (1, second), "it was left once");
        assert_ne!(slab.insert("fifth"), second);
    }

    #[test]
    fn an_emptied_slab_frees_its_memory_only_if_it_was_large() {
        let mut slab = Slab::default();
        let fill = |slab: &mut Slab<usize>, count: usize| {
            let slots: Vec<u32> = (0..count).map(|number| slab.insert(number)).collect();
            assert!(slots.iter().zip(0..).all(|(slot, number)| slab.get(*slot) == Some(&number)));
            slots.iter().for_each(|slot| _ = slab.remove(*slot));
        };
        fill(&mut slab, KEPT * CHUNK);
        assert_eq!((slab.len(), slab.chunks.len()), (0, KEPT));
        fill(&mut slab, KEPT * CHUNK + 1);
        assert_eq!((slab.len(), slab.chunks.capacity()), (0, 0));
    }

    #[test]
    fn what_leaves_takes_nothing_else_along() {
        let mut slab = Slab::default();
        let slots: Vec<u32> = (0..2 * KEPT * CHUNK).map(|number| slab.insert(number)).collect();
        assert_eq!(slab.remove(slots[0]), Some(0));
        assert!(slots[1..].iter().all(|slot| slab.get(*slot).is_some()));
        assert_eq!(slab.entries().count(), slots.len() - 1);
    }
}

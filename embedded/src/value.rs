//! The values that a key can have.

use super::collection::Collection;
use super::sorted_set::SortedSet;

#[derive(Clone, PartialEq, Debug)]
pub(super) enum Value {
    String(Vec<u8>),
    Hash(Hash),
    SortedSet(SortedSet),
}

/// Fields and their values, in the order in which they were added, as a server keeps them while
/// they are few. There are few: they are searched one by one.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Hash {
    fields: Vec<(Vec<u8>, Vec<u8>)>,
}

impl Hash {
    /// Sets a field; `true` if it is new.
    pub(super) fn set(&mut self, field: &[u8], value: &[u8]) -> bool {
        match self.fields.iter_mut().find(|(name, _)| name == field) {
            Some((_, old)) => {
                *old = value.to_vec();
                false
            }
            None => {
                self.fields.push((field.to_vec(), value.to_vec()));
                true
            }
        }
    }

    pub(super) fn get(&self, field: &[u8]) -> Option<&[u8]> {
        let (_, value) = self.fields.iter().find(|(name, _)| name == field)?;
        Some(value)
    }

    /// Removes a field; `true` if it was there.
    pub(super) fn remove(&mut self, field: &[u8]) -> bool {
        let before = self.fields.len();
        self.fields.retain(|(name, _)| name != field);
        self.fields.len() < before
    }

    pub(super) fn fields(&self) -> &[(Vec<u8>, Vec<u8>)] {
        &self.fields
    }
}

impl Collection for Hash {
    fn of(value: &mut Value) -> Option<&mut Self> {
        if let Value::Hash(found) = value { Some(found) } else { None }
    }

    fn into_value(self) -> Value {
        Value::Hash(self)
    }

    fn is_empty(&self) -> bool {
        self.fields().is_empty()
    }
}

impl Collection for SortedSet {
    fn of(value: &mut Value) -> Option<&mut Self> {
        if let Value::SortedSet(found) = value { Some(found) } else { None }
    }

    fn into_value(self) -> Value {
        Value::SortedSet(self)
    }

    fn is_empty(&self) -> bool {
        self.members().is_empty()
    }
}

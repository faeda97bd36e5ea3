//! The values that a key can have.

#[derive(Clone, PartialEq, Debug)]
pub(super) enum Value {
    String(Vec<u8>),
    Hash(Members<Vec<u8>>),
    SortedSet(Members<f64>),
}

/// The fields of a hash and their values, or the members of a sorted set and their scores. There are
/// few: they are searched one by one.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Members<T>(pub(super) Vec<(Vec<u8>, T)>);

/// The value of each member of a collection.
pub(super) trait Collected: Default {
    const EMPTY: Value;

    fn members(value: &mut Value) -> Option<&mut Members<Self>>;
}

impl Collected for Vec<u8> {
    const EMPTY: Value = Value::Hash(Members(Vec::new()));

    fn members(value: &mut Value) -> Option<&mut Members<Self>> {
        if let Value::Hash(found) = value { Some(found) } else { None }
    }
}

impl Collected for f64 {
    const EMPTY: Value = Value::SortedSet(Members(Vec::new()));

    fn members(value: &mut Value) -> Option<&mut Members<Self>> {
        if let Value::SortedSet(found) = value { Some(found) } else { None }
    }
}

impl<T> Members<T> {
    pub(super) fn get(&self, member: &[u8]) -> Option<&T> {
        let (_, of_it) = self.0.iter().find(|(name, _)| name == member)?;
        Some(of_it)
    }

    /// Removes a member; `true` if it was there.
    pub(super) fn remove(&mut self, member: &[u8]) -> bool {
        let before = self.0.len();
        self.0.retain(|(name, _)| name != member);
        self.0.len() < before
    }

    pub(super) fn all(&self) -> &[(Vec<u8>, T)] {
        &self.0
    }
}

impl Members<Vec<u8>> {
    /// Sets a field; `true` if it is new. They stay in the order in which they were added, as a
    /// server keeps them while they are few.
    pub(super) fn set(&mut self, field: &[u8], value: &[u8]) -> bool {
        match self.0.iter_mut().find(|(name, _)| name == field) {
            Some((_, old)) => {
                *old = value.to_vec();
                false
            }
            None => {
                self.0.push((field.to_vec(), value.to_vec()));
                true
            }
        }
    }
}

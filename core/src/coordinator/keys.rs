//! The keys of one lock: a single key, or several that are taken together.

use std::sync::Arc;

/// Keys as they are named in Redis: sorted, without duplicates, at least one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Keys {
    /// Nearly always.
    One(Arc<str>),
    Several(Arc<Several>),
}

#[derive(PartialEq, Eq, Debug)]
pub struct Several {
    first: Arc<str>,
    others: Vec<Arc<str>>,
}

impl Keys {
    pub const fn one(key: Arc<str>) -> Self {
        Self::One(key)
    }

    /// Builds the keys of one lock; `None` if there is no key at all.
    pub fn several(keys: impl IntoIterator<Item = Arc<str>>) -> Option<Self> {
        let mut keys: Vec<Arc<str>> = keys.into_iter().collect();
        keys.sort_unstable();
        keys.dedup();
        let others = if keys.is_empty() { Vec::new() } else { keys.split_off(1) };
        keys.pop().map(|first| match others.is_empty() {
            true => Self::One(first),
            false => Self::Several(Arc::new(Several { first, others })),
        })
    }

    pub fn first(&self) -> &Arc<str> {
        match self {
            Self::One(key) => key,
            Self::Several(keys) => &keys.first,
        }
    }

    pub fn len(&self) -> usize {
        1 + self.others().len()
    }

    pub fn iter(&self) -> impl Iterator<Item = &Arc<str>> {
        std::iter::once(self.first()).chain(self.others())
    }

    fn others(&self) -> &[Arc<str>] {
        match self {
            Self::One(_) => &[],
            Self::Several(keys) => &keys.others,
        }
    }
}

impl From<&str> for Keys {
    fn from(key: &str) -> Self {
        Self::one(key.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(keys: &Keys) -> Vec<&str> {
        keys.iter().map(|key| &**key).collect()
    }

    #[test]
    fn several_keys_are_sorted_and_none_comes_twice() {
        let keys = Keys::several(["b", "a", "b", "c"].map(Arc::from)).unwrap();
        assert_eq!((names(&keys), keys.len(), &**keys.first()), (vec!["a", "b", "c"], 3, "a"));
        assert_eq!(Keys::several([]), None);
    }

    #[test]
    fn one_key_is_one_key_however_it_was_named() {
        let twice = Keys::several(["a", "a"].map(Arc::from)).unwrap();
        assert_eq!((twice.clone(), twice.len()), (Keys::from("a"), 1));
    }
}

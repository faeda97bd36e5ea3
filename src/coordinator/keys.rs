//! What one lock stands under: a key, or several that are taken together.

use std::sync::Arc;

/// Keys as they stand in Redis: sorted, none twice, at least one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Keys {
    /// Nearly always.
    One(Arc<str>),
    Several(Arc<Several>),
}

#[derive(PartialEq, Eq, Debug)]
pub(crate) struct Several {
    first: Arc<str>,
    others: Vec<Arc<str>>,
}

impl Keys {
    pub(crate) const fn one(key: Arc<str>) -> Self {
        Self::One(key)
    }

    /// `None` if there is no key at all.
    pub(crate) fn several(keys: impl IntoIterator<Item = Arc<str>>) -> Option<Self> {
        let mut keys: Vec<Arc<str>> = keys.into_iter().collect();
        keys.sort_unstable();
        keys.dedup();
        let others = if keys.is_empty() { Vec::new() } else { keys.split_off(1) };
        keys.pop().map(|first| match others.is_empty() {
            true => Self::One(first),
            false => Self::Several(Arc::new(Several { first, others })),
        })
    }

    pub(crate) fn first(&self) -> &Arc<str> {
        match self {
            Self::One(key) => key,
            Self::Several(keys) => &keys.first,
        }
    }

    pub(crate) fn len(&self) -> usize {
        1 + self.others().len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Arc<str>> {
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

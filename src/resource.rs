//! The names of what can be locked.

use crate::failure::InvalidSetting;
use crate::options::Options;
use quorumlock_core::coordinator::{Keys, Slots};
use std::slice;
use std::sync::Arc;

/// The resources that one acquisition locks.
#[derive(Clone, Debug)]
pub(crate) enum Resources {
    One(Arc<str>),
    /// Sorted, without duplicates; an acquire of an empty list is refused. Behind a thin pointer, since
    /// there is one name as a rule, and tasks that wait have room for either.
    Several(Arc<Vec<Arc<str>>>),
    /// Any one slot of a semaphore.
    AnyOf(Arc<Pool>),
    /// One, beside other readers.
    Read(Arc<str>),
    /// One resource with readers, too.
    Write(Arc<str>),
}

impl Resources {
    pub(crate) fn several(names: impl IntoIterator<Item: AsRef<str>>) -> Self {
        let mut names: Vec<Arc<str>> =
            names.into_iter().map(|name| Arc::from(name.as_ref())).collect();
        names.sort_unstable();
        names.dedup();
        Self::Several(Arc::new(names))
    }

    pub(crate) fn names(&self) -> &[Arc<str>] {
        match self {
            Self::One(name) | Self::Read(name) | Self::Write(name) => slice::from_ref(name),
            Self::Several(several) => several,
            Self::AnyOf(pool) => slice::from_ref(&pool.resource),
        }
    }

    /// Returns the names as guards and errors show them.
    pub(crate) fn shown(&self) -> Arc<str> {
        match self.names() {
            [name] => name.clone(),
            names => names.join(", ").into(),
        }
    }

    /// Returns whether its waiters stand in one list.
    pub(crate) fn has_list(&self) -> bool {
        match self {
            Self::One(_) | Self::AnyOf(_) => true,
            Self::Several(names) => names.len() == 1,
            Self::Read(_) | Self::Write(_) => false,
        }
    }

    /// Returns what is to be locked on the masters; `None` if there is no resource at all.
    pub(crate) fn locked(&self, options: &Options) -> Option<Keys> {
        match self {
            Self::Read(name) => Some(Keys::read(options.key(name), options.beside(name))),
            Self::Write(name) => Some(Keys::write(options.key(name), options.beside(name))),
            _ => self.keys(|resource| options.key(resource)),
        }
    }

    /// Returns the key of each resource; `None` if there is none at all.
    pub(crate) fn keys(&self, key: impl Fn(&Arc<str>) -> Arc<str>) -> Option<Keys> {
        match self {
            Self::One(name) | Self::Read(name) | Self::Write(name) => Some(Keys::one(key(name))),
            Self::Several(several) => Keys::several(several.iter().map(key)),
            Self::AnyOf(pool) => Keys::any_of(pool.slots.clone()),
        }
    }
}

/// The slots of a semaphore, any one of which is a permit, as it was created.
#[derive(Debug)]
pub(crate) struct Pool {
    pub(crate) resource: Arc<str>,
    /// As many as were asked for, if there may be so many.
    pub(crate) permits: usize,
    pub(crate) slots: Arc<Slots>,
}

impl Pool {
    pub(crate) fn check(&self, options: &Options) -> Result<(), InvalidSetting> {
        options.check_resource(&self.resource)?;
        let problem = match self.permits {
            0 => "must be at least 1".to_owned(),
            more if more > usize::from(Slots::MOST) => {
                format!("{more} are more than {}", Slots::MOST)
            }
            _ => return Ok(()),
        };
        Err(InvalidSetting::new("permits", problem))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_are_the_same_in_every_order_and_in_every_container() {
        fn names(names: impl IntoIterator<Item: AsRef<str>>) -> Vec<String> {
            Resources::several(names).names().iter().map(ToString::to_string).collect()
        }
        let owned: Vec<String> = ["b", "a", "b"].map(String::from).into();
        for several in [
            names(["b", "a"]),
            names(["a", "b", "a"]),
            names(&["b", "a"][..]),
            names(vec![Arc::<str>::from("b"), Arc::from("a")]),
            names(&owned),
            names(owned.iter().rev()),
            names(owned),
        ] {
            assert_eq!(several, ["a", "b"]);
        }
    }

    #[test]
    fn several_are_shown_with_commas_and_one_as_it_is() {
        let shown = |resources: Resources| resources.shown().to_string();
        assert_eq!(shown(Resources::several(["b", "a"])), "a, b");
        assert_eq!(shown(Resources::several(["a", "a"])), "a");
        assert_eq!(shown(Resources::One("a, b".into())), "a, b");
    }

    #[test]
    fn each_has_its_key_and_none_at_all_has_none() {
        let keys = |resources: Resources| resources.keys(|name| format!("p:{name}").into());
        let two = keys(Resources::several(["b", "a"]));
        assert_eq!(two, Keys::several(["p:a", "p:b"].map(Arc::from)));
        assert_eq!(keys(Resources::several(["a"])), Some(Keys::from("p:a")));
        assert_eq!(keys(Resources::One("a".into())), Some(Keys::from("p:a")));
        assert_eq!(keys(Resources::several([""; 0])), None);
    }
}

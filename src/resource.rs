//! The names of what can be locked.

mod pool;

pub(crate) use pool::Pool;

use crate::options::Options;
use quorumlock_core::coordinator::Keys;
use std::borrow::Cow;
use std::slice;
use std::sync::Arc;

/// The name of one resource: a `&str`, a `String`, an `Arc<str>`, a `Box<str>`, a `Cow<str>`.
///
/// Sealed, so that other types that name a resource may be added later. A number is no name, since
/// the same number may stand for an order and for an account:
///
/// ```compile_fail,E0277
/// # fn example(redlock: quorumlock::Redlock, id: u64) {
/// redlock.inspect(id); // write format!("orders:{id}")
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not name a resource to lock",
    label = "not the name of a resource",
    note = "a name is a string; for an integer, say what it numbers: `format!(\"orders:{{id}}\")`",
    note = "`acquire_all` locks several resources together"
)]
pub trait IntoResource: IntoResources {
    #[doc(hidden)]
    fn into_resource(self) -> Arc<str>;
}

/// The names of the resources to lock: one, or an array, a slice or a `Vec` of names for several
/// that are locked together. Order and repetition do not matter.
///
/// Sealed, as [`IntoResource`] is.
///
/// ```compile_fail,E0277
/// # fn example(redlock: quorumlock::Redlock, id: u64) {
/// redlock.acquire_all([id]); // write format!("orders:{id}")
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not name resources to lock",
    label = "not the name of a resource, nor an array, a slice or a `Vec` of names",
    note = "a name is a string; for an integer, say what it numbers: `format!(\"orders:{{id}}\")`"
)]
pub trait IntoResources {
    /// Seals both traits: other crates cannot name its result.
    #[doc(hidden)]
    fn into_resources(self) -> Resources;
}

/// The resources that one acquisition locks.
#[derive(Clone, Debug)]
pub struct Resources(Names);

#[derive(Clone, Debug)]
enum Names {
    One(Arc<str>),
    Several(Arc<Several>),
    /// Any one slot of a semaphore.
    AnyOf(Arc<Pool>),
    /// One, beside other readers.
    Read(Arc<str>),
    /// One resource with readers, too.
    Write(Arc<str>),
}

/// Sorted, without duplicates; an acquire of an empty list is refused. Behind a pointer, since
/// there is one name as a rule, and tasks that wait have room for either.
#[derive(Debug)]
struct Several(Vec<Arc<str>>);

impl Resources {
    pub(crate) const fn one(name: Arc<str>) -> Self {
        Self(Names::One(name))
    }

    pub(crate) const fn read(name: Arc<str>) -> Self {
        Self(Names::Read(name))
    }

    pub(crate) const fn write(name: Arc<str>) -> Self {
        Self(Names::Write(name))
    }

    pub(crate) const fn any_of(pool: Arc<Pool>) -> Self {
        Self(Names::AnyOf(pool))
    }

    /// Returns whether other readers may hold it, too.
    pub(crate) const fn is_shared(&self) -> bool {
        matches!(self.0, Names::Read(_))
    }

    /// Returns the semaphore of which these are the slots, if they are.
    pub(crate) const fn pool(&self) -> Option<&Arc<Pool>> {
        match &self.0 {
            Names::AnyOf(pool) => Some(pool),
            _ => None,
        }
    }

    fn several(names: impl IntoIterator<Item: IntoResource>) -> Self {
        let mut names: Vec<Arc<str>> = names.into_iter().map(IntoResource::into_resource).collect();
        names.sort_unstable();
        names.dedup();
        Self(Names::Several(Arc::new(Several(names))))
    }

    pub(crate) fn names(&self) -> &[Arc<str>] {
        match &self.0 {
            Names::One(name) | Names::Read(name) | Names::Write(name) => slice::from_ref(name),
            Names::Several(several) => &several.0,
            Names::AnyOf(pool) => slice::from_ref(&pool.resource),
        }
    }

    /// Returns the names as guards and errors show them.
    pub(crate) fn shown(&self) -> Arc<str> {
        match &self.0 {
            Names::One(name) | Names::Read(name) | Names::Write(name) => name.clone(),
            Names::Several(several) => several.0.join(", ").into(),
            Names::AnyOf(pool) => pool.resource.clone(),
        }
    }

    /// Returns whether it is one resource, locked by one client at a time.
    pub(crate) fn is_alone(&self) -> bool {
        matches!(self.0, Names::One(_) | Names::Several(_)) && self.names().len() == 1
    }

    /// Returns what is to be locked on the masters; `None` if there is no resource at all.
    pub(crate) fn locked(&self, options: &Options) -> Option<Keys> {
        match &self.0 {
            Names::Read(name) => Some(Keys::read(options.key(name), options.beside(name))),
            Names::Write(name) => Some(Keys::write(options.key(name), options.beside(name))),
            _ => self.keys(|resource| options.key(resource)),
        }
    }

    /// Returns the key of each resource; `None` if there is none at all.
    pub(crate) fn keys(&self, key: impl Fn(&Arc<str>) -> Arc<str>) -> Option<Keys> {
        match &self.0 {
            Names::One(name) | Names::Read(name) | Names::Write(name) => Some(Keys::one(key(name))),
            Names::Several(several) => Keys::several(several.0.iter().map(key)),
            Names::AnyOf(pool) => Keys::any_of(pool.slots.clone()),
        }
    }
}

macro_rules! names_a_resource {
    ($($type:ty),+) => {$(
        impl IntoResource for $type {
            fn into_resource(self) -> Arc<str> {
                self.into()
            }
        }

        impl IntoResources for $type {
            fn into_resources(self) -> Resources {
                Resources::one(self.into_resource())
            }
        }
    )+};
}

names_a_resource!(&str, String, Arc<str>, Box<str>, Cow<'_, str>);

impl IntoResource for &String {
    fn into_resource(self) -> Arc<str> {
        self.as_str().into()
    }
}

impl IntoResources for &String {
    fn into_resources(self) -> Resources {
        self.as_str().into_resources()
    }
}

impl<T: IntoResource, const N: usize> IntoResources for [T; N] {
    fn into_resources(self) -> Resources {
        Resources::several(self)
    }
}

impl<T: IntoResource> IntoResources for Vec<T> {
    fn into_resources(self) -> Resources {
        Resources::several(self)
    }
}

impl<T: IntoResource + Clone> IntoResources for &[T] {
    fn into_resources(self) -> Resources {
        Resources::several(self.iter().cloned())
    }
}

impl<T: IntoResource + Clone, const N: usize> IntoResources for &[T; N] {
    fn into_resources(self) -> Resources {
        self.as_slice().into_resources()
    }
}

impl<T: IntoResource + Clone> IntoResources for &Vec<T> {
    fn into_resources(self) -> Resources {
        self.as_slice().into_resources()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(resources: impl IntoResources) -> Vec<String> {
        resources.into_resources().names().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn one_name_is_one_resource_however_it_is_written() {
        let owned = String::from("a");
        assert_eq!(names("a"), ["a"]);
        assert_eq!(names(&owned), ["a"]);
        assert_eq!(names(owned), ["a"]);
        assert_eq!(names(Arc::<str>::from("a")), ["a"]);
        assert_eq!(names(Box::<str>::from("a")), ["a"]);
        assert_eq!(names(Cow::Borrowed("a")), ["a"]);
    }

    #[test]
    fn several_are_the_same_in_every_order_and_in_every_container() {
        let owned: Vec<String> = ["b", "a", "b"].map(String::from).into();
        for several in [
            names(["b", "a"]),
            names(["a", "b", "a"]),
            names(&["b", "a"][..]),
            names(["b", "a"].as_slice()),
            names(vec![Arc::<str>::from("b"), Arc::from("a")]),
            names(&owned),
            names(owned.iter().collect::<Vec<&String>>()),
            names(owned),
        ] {
            assert_eq!(several, ["a", "b"]);
        }
    }

    #[test]
    fn several_are_shown_with_commas_and_one_as_it_is() {
        let shown = |resources: Resources| resources.shown().to_string();
        assert_eq!(shown(["b", "a"].into_resources()), "a, b");
        assert_eq!(shown(["a", "a"].into_resources()), "a");
        assert_eq!(shown("a, b".into_resources()), "a, b");
    }

    #[test]
    fn each_has_its_key_and_none_at_all_has_none() {
        let keys = |resources: Resources| resources.keys(|name| format!("p:{name}").into());
        let two = keys(["b", "a"].into_resources());
        assert_eq!(two, Keys::several(["p:a", "p:b"].map(Arc::from)));
        assert_eq!(keys(["a"].into_resources()), Some(Keys::from("p:a")));
        assert_eq!(keys("a".into_resources()), Some(Keys::from("p:a")));
        assert_eq!(keys([""; 0].into_resources()), None);
    }
}

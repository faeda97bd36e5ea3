//! The keys of one lock: a single key, or several that are taken together.

use super::Slots;
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
    names: Box<[Arc<str>]>,
    more: More,
}

/// The facts of keys besides their names: where and how a client announces that they are free, if not on
/// their own channels; the slots of which any one will do; or the other keys of readers and writers.
#[derive(PartialEq, Eq, Debug)]
pub(crate) enum More {
    Nothing,
    Announced { channel: Arc<str>, message: Arc<str> },
    AnyOf(Arc<Slots>),
    Read(ReadWrite),
    Write(ReadWrite),
}

/// The keys beside the one of a resource that is read and written under a lock.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReadWrite {
    /// The readers, a sorted set.
    pub readers: Arc<str>,
    /// The hint of a writer that waits: no reader is let in where it stands.
    pub hint: Arc<str>,
}

impl Keys {
    pub const fn one(key: Arc<str>) -> Self {
        Self::One(key)
    }

    /// Returns one key, whose release is announced as `message` on `channel`, which others may share.
    pub fn announced_on(key: Arc<str>, channel: Arc<str>, message: Arc<str>) -> Self {
        Self::with(key, More::Announced { channel, message })
    }

    /// Returns one key, which is locked by readers and writers: by this one as a reader.
    pub fn read(key: Arc<str>, beside: ReadWrite) -> Self {
        Self::with(key, More::Read(beside))
    }

    /// Returns one key, which is locked by readers and writers: by this one as a writer.
    pub fn write(key: Arc<str>, beside: ReadWrite) -> Self {
        Self::with(key, More::Write(beside))
    }

    fn with(first: Arc<str>, more: More) -> Self {
        Self::Several(Arc::new(Several { names: [first].into(), more }))
    }

    /// Asks for any one of these slots; `None` if there is none.
    pub fn any_of(slots: Arc<Slots>) -> Option<Self> {
        let first = slots.names().first()?.clone();
        Some(Self::with(first, More::AnyOf(slots)))
    }

    pub(crate) fn more(&self) -> &More {
        match self {
            Self::Several(keys) => &keys.more,
            Self::One(_) => &More::Nothing,
        }
    }

    /// Returns the slots of which any one will do.
    pub(crate) fn slots(&self) -> Option<&Arc<Slots>> {
        let More::AnyOf(slots) = self.more() else { return None };
        Some(slots)
    }

    /// Returns the number of the slot that this key is.
    pub(crate) fn slot(&self) -> Option<u8> {
        self.as_slot()?.1.parse().ok()
    }

    /// Returns the channel of the semaphore of which this key is a slot, and its number, as announced there.
    pub(crate) fn as_slot(&self) -> Option<(&Arc<str>, &str)> {
        let More::Announced { channel, message } = self.more() else { return None };
        Some((channel, message))
    }

    /// Returns each key by itself, with what belongs to it.
    pub(crate) fn each(&self) -> impl Iterator<Item = Self> {
        let alone = (self.len() == 1).then(|| self.clone());
        let of_several = self.iter().filter(|_| self.len() > 1).cloned().map(Self::one);
        alone.into_iter().chain(of_several)
    }

    /// Returns the keys beside this one, if a reader locks it.
    pub fn as_reader(&self) -> Option<&ReadWrite> {
        let More::Read(beside) = self.more() else { return None };
        Some(beside)
    }

    /// Returns the keys beside this one, if a writer locks it that has readers beside it.
    pub(crate) fn as_writer(&self) -> Option<&ReadWrite> {
        let More::Write(beside) = self.more() else { return None };
        Some(beside)
    }

    /// Returns what a writer locks as a reader would lock it.
    pub(crate) fn downgraded(&self) -> Option<Self> {
        self.as_writer().map(|beside| Self::read(self.first().clone(), beside.clone()))
    }

    /// Builds the keys of one lock; `None` if there is no key at all.
    pub fn several(keys: impl IntoIterator<Item = Arc<str>>) -> Option<Self> {
        let mut names: Vec<Arc<str>> = keys.into_iter().collect();
        names.sort_unstable();
        names.dedup();
        match <[Arc<str>; 1]>::try_from(names) {
            Ok([alone]) => Some(Self::One(alone)),
            Err(names) if names.is_empty() => None,
            Err(names) => {
                Some(Self::Several(Arc::new(Several { names: names.into(), more: More::Nothing })))
            }
        }
    }

    pub fn first(&self) -> &Arc<str> {
        &self.names()[0]
    }

    pub fn len(&self) -> usize {
        self.names().len()
    }

    pub fn iter(&self) -> impl Iterator<Item = &Arc<str>> {
        self.names().iter()
    }

    /// Returns what is published once the keys are free: channels, and what is said there.
    pub(crate) fn messages(&self) -> impl Iterator<Item = (&Arc<str>, &str)> {
        let shared = self.as_slot();
        let own = self.iter().filter(move |_| shared.is_none()).map(|key| (key, ""));
        shared.into_iter().chain(own)
    }

    /// Returns each key with the channel of the messages about it.
    pub(crate) fn channels(&self) -> impl Iterator<Item = (&Arc<str>, &Arc<str>)> {
        let shared = self.as_slot().map(|(channel, _)| channel);
        self.iter().map(move |key| (key, shared.unwrap_or(key)))
    }

    /// Returns the key of the readers, if there may be any.
    pub(crate) fn readers(&self) -> Option<&Arc<str>> {
        self.as_reader().or_else(|| self.as_writer()).map(|set| &set.readers)
    }

    /// Returns the hint that keeps readers out, if readers may be let in once these keys are free.
    pub(crate) fn hint(&self) -> Option<&Arc<str>> {
        self.as_writer().map(|set| &set.hint)
    }

    fn names(&self) -> &[Arc<str>] {
        match self {
            Self::One(key) => std::slice::from_ref(key),
            Self::Several(keys) => &keys.names,
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
    fn a_key_is_announced_on_its_own_channel_or_on_another() {
        let messages = |keys: &Keys| {
            keys.messages().map(|(channel, text)| format!("{channel}={text}")).collect::<Vec<_>>()
        };
        assert_eq!(messages(&Keys::from("a")), ["a="]);
        assert_eq!(messages(&Keys::several(["a", "b"].map(Arc::from)).unwrap()), ["a=", "b="]);
        let slot = Keys::announced_on("slot:3".into(), "all".into(), "3".into());
        let channels = |keys: &Keys| {
            keys.channels().map(|(key, channel)| format!("{key} on {channel}")).collect::<Vec<_>>()
        };
        assert_eq!(
            channels(&Keys::several(["a", "b"].map(Arc::from)).unwrap()),
            ["a on a", "b on b"]
        );
        assert_eq!(channels(&slot), ["slot:3 on all"]);
        assert_eq!((messages(&slot), names(&slot)), (vec!["all=3".into()], vec!["slot:3"]));
    }

    #[test]
    fn one_key_is_one_key_however_it_was_named() {
        let twice = Keys::several(["a", "a"].map(Arc::from)).unwrap();
        assert_eq!((twice.clone(), twice.len()), (Keys::from("a"), 1));
    }
}

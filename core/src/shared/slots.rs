//! The slots of a semaphore, each of them an ordinary lock.

use super::Keys;
use std::sync::Arc;

/// The slots of a semaphore. A permit is the lock on any one of them.
#[derive(PartialEq, Eq, Debug)]
pub struct Slots {
    channel: Arc<str>,
    names: Vec<Arc<str>>,
    keys: Vec<Keys>,
}

impl Slots {
    /// The most permits that a semaphore has.
    pub const MOST: u8 = 64;

    /// Creates the slots of these keys, 64 at most. A release announces its slot on `channel`, by its
    /// number.
    pub fn new(channel: Arc<str>, keys: impl IntoIterator<Item = Arc<str>>) -> Arc<Self> {
        let names: Vec<Arc<str>> = keys.into_iter().take(Self::MOST.into()).collect();
        let key = |(slot, name): (usize, &Arc<str>)| {
            Keys::announced_on(name.clone(), channel.clone(), slot.to_string().into())
        };
        let keys = names.iter().enumerate().map(key).collect();
        Arc::new(Self { channel, names, keys })
    }

    pub fn channel(&self) -> &Arc<str> {
        &self.channel
    }

    /// Returns the key of each slot.
    pub fn names(&self) -> &[Arc<str>] {
        &self.names
    }

    pub(crate) fn keys(&self, slot: u8) -> Option<&Keys> {
        self.keys.get(usize::from(slot))
    }

    pub(crate) fn key(&self, slot: u8) -> Option<&Arc<str>> {
        self.names.get(usize::from(slot))
    }

    pub(crate) fn len(&self) -> usize {
        self.names.len()
    }

    /// Returns how many permits there are.
    pub fn permits(&self) -> u8 {
        u8::try_from(self.names.len()).unwrap_or(Self::MOST)
    }
}

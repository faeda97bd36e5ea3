//! The names that a list of locks asks for, and the names that it finds.

use super::Options;
use super::names::{LONGEST_RESOURCE, RESERVED};
use crate::failure::InvalidSetting;
use crate::report::Escaped;
use quorumlock_core::coordinator::Slots;
use std::sync::Arc;

impl Options {
    /// Checks that names of resources can begin with `prefix`, which may be empty.
    pub(crate) fn check_prefix(&self, prefix: &str) -> Result<(), InvalidSetting> {
        let problem = if prefix.len() > LONGEST_RESOURCE {
            let len = prefix.len();
            format!("{len} bytes are more than {LONGEST_RESOURCE}: list a shorter prefix")
        } else if prefix.contains(RESERVED) || self.prefix_completes(prefix) {
            format!(
                "{:?} leads to keys with \"{RESERVED}\", which are reserved and no locks: list another \
                 prefix",
                Escaped(prefix)
            )
        } else {
            return Ok(());
        };
        Err(InvalidSetting::new("prefix", problem))
    }

    /// Returns the resource that a key in Redis locks, and the slot if it is of a permit; `None`
    /// for other keys of our own, and for what cannot be locked.
    pub(crate) fn lock_of<'a>(&self, key: &'a str) -> Option<(&'a str, Option<u8>)> {
        let name = key.strip_prefix(&self.key_prefix)?;
        let Some(own) = name.strip_prefix(RESERVED) else {
            return self.check_resource(name).is_ok().then_some((name, None));
        };
        let (slot, name) = own.strip_prefix("slot:")?.split_once(':')?;
        let slot = slot.parse().ok().filter(|slot| *slot < Slots::MOST)?;
        // A number has other spellings, too: `+1`, `01`.
        let is_ours = self.check_resource(name).is_ok() && *self.slot(name, slot) == *key;
        is_ours.then_some((name, Some(slot)))
    }

    /// Returns the key of the readers of the resource that `key` locks.
    pub(crate) fn readers_of(&self, key: &str) -> Arc<str> {
        let resource = self.lock_of(key).map(|(resource, _)| resource).unwrap_or_default();
        self.beside(resource).readers
    }

    /// Returns how the keys of all permits begin, whose semaphores' names follow after a number and
    /// a colon.
    pub(crate) fn slots_prefix(&self) -> Arc<str> {
        self.own_key("slot:")
    }
}

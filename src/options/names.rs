//! The names that go to the masters: resources, our own keys, and labels.

use super::Options;
use crate::failure::{Checked, InvalidSetting};
use crate::report::Escaped;
use quorumlock_core::coordinator::label::looks_like_a_term;
use quorumlock_core::coordinator::{ReadWrite, Slots, Waitlist};
use std::sync::Arc;

/// The marker of our own keys. It is in each of them, behind the prefix, and in no other key. So no
/// key of a resource is a key of our own, whatever the prefixes of the clients of some masters, and
/// each of our own keys has one reading. (It can't overlap with itself: its first and its last
/// character occur once.)
const RESERVED: &str = "quorumlock:";

/// The longest name of a resource, which is sent to every master with every command.
const LONGEST_RESOURCE: usize = 4096;

/// The most resources in one acquisition: one script handles all of them on every master.
const MOST_RESOURCES: usize = 64;

/// The longest label, in bytes: it goes to every master with every command, and is read by people.
const LONGEST_LABEL: usize = 512;

impl Options {
    /// Checks the names that are set once for all acquisitions.
    pub(super) fn check_names(&self) -> Checked {
        InvalidSetting::unless(!self.key_prefix.contains(RESERVED), "key_prefix", || {
            let prefix = Escaped(&self.key_prefix);
            format!("{prefix:?} contains \"{RESERVED}\", which is reserved: choose another one")
        })?;
        self.label.as_deref().map_or(Ok(()), |label| check_label("label", label))
    }

    pub(crate) fn check_resources(&self, resources: &[Arc<str>]) -> Checked {
        let count = resources.len();
        InvalidSetting::unless(count <= MOST_RESOURCES, "resource", || {
            format!(
                "{count} at once are more than {MOST_RESOURCES}: name fewer, or one that stands \
                 for them all"
            )
        })?;
        resources.iter().try_for_each(|resource| self.check_resource(resource))
    }

    pub(crate) fn check_resource(&self, resource: &str) -> Checked {
        let shown = Escaped(resource);
        let problem = if resource.is_empty() {
            "is empty: name what is to be locked, such as \"orders:42\"".to_owned()
        } else if resource.len() > LONGEST_RESOURCE {
            let len = resource.len();
            format!("{len} bytes are more than {LONGEST_RESOURCE}: use a shorter name or its hash")
        } else if resource.contains(RESERVED) {
            format!("{shown:?} contains \"{RESERVED}\", which is reserved: rename it")
        } else if self.prefix_completes(resource) {
            let prefix = Escaped(&self.key_prefix);
            format!(
                "{shown:?} behind the key_prefix {prefix:?} contains \"{RESERVED}\", \
                 which is reserved: rename it"
            )
        } else {
            return Ok(());
        };
        Err(InvalidSetting::new("resource", problem))
    }

    /// Checks whether the reserved text begins in the prefix and ends in `resource`.
    fn prefix_completes(&self, resource: &str) -> bool {
        let splits = (1..RESERVED.len()).map(|middle| RESERVED.split_at(middle));
        let mut splits = splits.filter(|(head, _)| self.key_prefix.ends_with(head));
        splits.any(|(_, tail)| resource.starts_with(tail))
    }

    /// Returns the key in Redis for `resource`.
    pub(crate) fn key(&self, resource: &Arc<str>) -> Arc<str> {
        if self.key_prefix.is_empty() {
            resource.clone()
        } else {
            format!("{}{resource}", self.key_prefix).into()
        }
    }

    /// Returns the key of the fence that goes with the key of `resource`: under the prefix, so that
    /// one ACL pattern covers both.
    pub(crate) fn fence(&self, resource: &str) -> Arc<str> {
        self.own_key(&format!("fence:{resource}"))
    }

    /// Returns the key of a slot of the semaphore `name`.
    pub(crate) fn slot(&self, name: &str, slot: u8) -> Arc<str> {
        self.own_key(&format!("slot:{slot}:{name}"))
    }

    /// Returns the channel of all slots of the semaphore `name`.
    pub(crate) fn slots_channel(&self, name: &str) -> Arc<str> {
        self.own_key(&format!("semaphore:{name}"))
    }

    /// Returns the keys beside the one of `resource` where it is read and written: its readers, and
    /// the hint of a writer that waits.
    pub(crate) fn beside(&self, resource: &str) -> ReadWrite {
        ReadWrite {
            readers: self.own_key(&format!("readers:{resource}")),
            hint: self.own_key(&format!("wants:{resource}")),
        }
    }

    /// Returns the beginning of the names of waitlists: the whole key that is waited for follows.
    pub(crate) fn waitlists(&self) -> Arc<str> {
        self.own_key("waitlist:")
    }

    /// Returns the waitlist of a key.
    pub(crate) fn waitlist(&self, key: &str) -> Waitlist {
        Waitlist::of(&self.waitlists(), key)
    }

    /// Returns a key, or a channel, of our own, whose name no resource has.
    pub(crate) fn own_key(&self, name: &str) -> Arc<str> {
        format!("{}{RESERVED}{name}", self.key_prefix).into()
    }

    /// Checks that names of resources can begin with `prefix`, which may be empty.
    pub(crate) fn check_prefix(&self, prefix: &str) -> Checked {
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

/// Returns the key of the readers of `resource`, whose own key is `key`.
pub(crate) fn readers_key(key: &str, resource: &str) -> Arc<str> {
    let prefix = key.strip_suffix(resource).unwrap_or_default();
    format!("{prefix}{RESERVED}readers:{resource}").into()
}

/// Checks what is to stand behind a token.
pub(crate) fn check_label(field: &'static str, label: &str) -> Checked {
    let problem = if label.len() > LONGEST_LABEL {
        let len = label.len();
        format!("{len} bytes are more than {LONGEST_LABEL}: a host and a process id will do")
    } else if label.contains(char::is_control) {
        format!("{:?} contains control characters: leave them out", Escaped(label))
    } else if looks_like_a_term(label) {
        format!("{:?} ends like the term of an election: leave that out", Escaped(label))
    } else {
        return Ok(());
    };
    Err(InvalidSetting::new(field, problem))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    /// Returns every key in Redis for `resource`, each with its meaning.
    fn readings(options: &Options, resource: &str) -> [(Arc<str>, String); 7] {
        let (key, fence) = (options.key(&resource.into()), options.fence(resource));
        let of = format!("{:?}", (&options.key_prefix, resource));
        let ReadWrite { readers, hint } = options.beside(resource);
        [
            (readers, format!("the readers of {of}")),
            (hint, format!("the hint of {of}")),
            (options.slot(resource, 1), format!("slot 1 of {of}")),
            (options.slot(resource, 11), format!("slot 11 of {of}")),
            (options.slots_channel(resource), format!("the channel of {of}")),
            (key, "a lock".into()),
            (fence, format!("the fence of {:?}", (&options.key_prefix, resource))),
        ]
    }

    /// Pieces that careless concatenation could combine into a key of our own.
    const PIECES: [&str; 18] = [
        "",
        "a",
        "a:",
        "q",
        "quorum",
        "lock:",
        "lock:fence:a",
        "quorumlock",
        ":fence:a",
        "quorumlock:",
        "quorumlock:fence:",
        "quorumlock:fence:a",
        "a:quorumlock:fence:a",
        "1:a",
        "slot:1:a",
        "quorumlock:slot:1:a",
        "readers:a",
        "quorumlock:wants:a",
    ];

    #[test]
    fn no_resource_key_is_an_internal_key_and_each_has_one_reading() {
        let mut seen = BTreeMap::new();
        for (head, tail) in PIECES.iter().flat_map(|head| PIECES.map(|tail| (head, tail))) {
            let options = Options { key_prefix: format!("{head}{tail}"), ..Options::default() };
            let allowed = |resource: &&&str| options.check_resource(resource).is_ok();
            for resource in PIECES.iter().filter(|_| options.check().is_ok()).filter(allowed) {
                for (key, reading) in readings(&options, resource) {
                    let first = seen.entry(key.clone()).or_insert_with(|| reading.clone());
                    assert_eq!(*first, reading, "{key}");
                }
            }
        }
        assert!(seen.len() > 300, "{}", seen.len());
    }
}

//! Keys, their values and their expiry.

use std::collections::BTreeMap;
use std::time::Duration;

/// The number of databases that a server has unless configured.
pub(super) const DATABASES: usize = 16;

/// Returns the wall clock in milliseconds since 1970, by which a key's life is measured.
pub(super) fn millis(now: Duration) -> i64 {
    i64::try_from(now.as_millis()).unwrap_or(i64::MAX)
}

/// The value of a key.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Value {
    String(Vec<u8>),
    /// The fields and their values, in the order in which they were added, as a server keeps them while they are
    /// few.
    Hash(Members<Vec<u8>>),
    /// The members and their scores, in the order of the scores, then of the members.
    SortedSet(Members<f64>),
}

/// The members of a hash or a sorted set, each with its value or score. There are few: they are searched one by one.
pub(super) type Members<T> = Vec<(Vec<u8>, T)>;

impl Value {
    pub(super) const fn hash(&mut self) -> Option<&mut Members<Vec<u8>>> {
        if let Self::Hash(found) = self { Some(found) } else { None }
    }

    pub(super) const fn sorted_set(&mut self) -> Option<&mut Members<f64>> {
        if let Self::SortedSet(found) = self { Some(found) } else { None }
    }
}

pub(super) struct Entry {
    pub(super) value: Value,
    pub(super) expires_at: Option<i64>,
}

impl Entry {
    /// Returns whether a key is alive: it still is in the very millisecond in which its life ends,
    /// and is gone in the next.
    fn is_alive(&self, now: i64) -> bool {
        self.expires_at.is_none_or(|at| now <= at)
    }
}

/// One database. An expired key is gone for every reader, and deleted once a command has read it. A
/// clock that is set back brings back only expired keys that no command has read since.
#[derive(Default)]
pub(super) struct Keyspace {
    entries: BTreeMap<Vec<u8>, Entry>,
}

impl Keyspace {
    pub(super) fn set(&mut self, key: &[u8], value: Value, expires_at: Option<i64>) {
        self.entries.insert(key.to_vec(), Entry { value, expires_at });
    }

    /// Deletes the key; `true` if it was there.
    pub(super) fn delete(&mut self, key: &[u8], now: i64) -> bool {
        self.entries.remove(key).is_some_and(|entry| entry.is_alive(now))
    }

    pub(super) fn get(&mut self, key: &[u8], now: i64) -> Option<&mut Value> {
        Some(&mut self.entry(key, now)?.value)
    }

    /// Returns the value under the key, or sets `value` without an expiry.
    pub(super) fn get_or_insert(&mut self, key: &[u8], value: Value, now: i64) -> &mut Value {
        self.entry(key, now);
        let entry = || Entry { value, expires_at: None };
        &mut self.entries.entry(key.to_vec()).or_insert_with(entry).value
    }

    /// Looks at a key, without a command.
    pub(super) fn peek(&self, key: &[u8], now: i64) -> Option<&Entry> {
        self.entries.get(key).filter(|entry| entry.is_alive(now))
    }

    /// Looks a key up for a command: an expired key is deleted.
    pub(super) fn entry(&mut self, key: &[u8], now: i64) -> Option<&mut Entry> {
        if self.entries.get(key).is_some_and(|entry| !entry.is_alive(now)) {
            self.entries.remove(key);
        }
        self.entries.get_mut(key)
    }

    pub(super) fn keys(&self, now: i64) -> impl Iterator<Item = &[u8]> {
        let alive = self.entries.iter().filter(move |(_, entry)| entry.is_alive(now));
        alive.map(|(key, _)| key.as_slice())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_lives_through_its_last_millisecond_and_no_longer() {
        let mut keyspace = Keyspace::default();
        keyspace.set(b"a", Value::String(b"1".to_vec()), Some(100));
        for now in [0, 100, 101] {
            assert_eq!(keyspace.get(b"a", now).is_some(), now <= 100, "at {now}");
            assert_eq!(keyspace.keys(now).count(), usize::from(now <= 100), "at {now}");
        }
        assert!(keyspace.entry(b"a", 101).is_none(), "an expired key can't be prolonged");
        assert!(!keyspace.delete(b"a", 101), "an expired key can't be deleted");
    }

    #[test]
    fn a_key_found_expired_stays_gone_though_the_clock_is_set_back() {
        for asked in [false, true] {
            let mut keyspace = Keyspace::default();
            keyspace.set(b"a", Value::String(b"1".to_vec()), Some(100));
            assert!(!asked || keyspace.get(b"a", 101).is_none());
            assert_eq!(keyspace.peek(b"a", 50).is_some(), !asked);
        }
    }
}

//! Only the owner releases: a key that was at a master and is gone was deleted by the client that
//! set it and has given it up, or by a client that had named its holder.

use super::Verdict;
use std::collections::BTreeSet;

/// A key that one client's commands have changed at a master.
pub(crate) struct Change<'a> {
    pub(crate) key: &'a str,
    /// The client whose commands were executed.
    pub(crate) by: usize,
    pub(crate) before: &'a str,
    pub(crate) after: Option<&'a str>,
    /// The client that drew the token before.
    pub(crate) owner: Option<usize>,
    /// Its hold is still valid, and was not given up.
    pub(crate) is_held: bool,
}

#[derive(Default)]
pub(crate) struct OwnerOnly {
    /// Key and value of the holds that a client has named.
    named: BTreeSet<(String, String)>,
}

impl OwnerOnly {
    pub(crate) fn name(&mut self, key: &str, value: &str) {
        self.named.insert((key.to_owned(), value.to_owned()));
    }

    /// Returns whether it was named: then its holder learns of it later, if at all.
    pub(crate) fn is_named(&self, value: &str) -> bool {
        self.named.iter().any(|(_, named)| named == value)
    }

    pub(crate) fn judge(&self, change: &Change<'_>) -> Verdict {
        let Change { key, by, before, after, owner, is_held } = change;
        if self.is_named(before) {
            return Ok(());
        }
        let happened =
            after.map_or_else(|| "was deleted".to_owned(), |value| format!("became {value}"));
        if *owner != Some(*by) {
            return Err(format!("{key}={before} {happened}, not by its owner"));
        }
        if *is_held {
            return Err(format!("{key}={before} {happened} while it was held"));
        }
        Ok(())
    }
}

#[test]
fn a_key_that_another_client_deletes_is_found() {
    let mut owners = OwnerOnly::default();
    let change =
        |by, is_held| Change { key: "a", by, before: "t", after: None, owner: Some(0), is_held };
    assert_eq!(owners.judge(&change(0, false)), Ok(()));
    assert!(owners.judge(&change(1, false)).is_err(), "by another");
    assert!(owners.judge(&change(0, true)).is_err(), "by a rollback of what is held");
    owners.name("a", "t");
    assert_eq!(owners.judge(&change(1, true)), Ok(()), "by force");
}

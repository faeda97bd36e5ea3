//! The keeper ends with its hold: after a release no extension is sent, neither on the same
//! connection nor on a later one.

use super::Verdict;
use crate::clock::Time;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Default)]
pub(crate) struct KeeperEnds {
    /// When the release of a token began.
    released: BTreeMap<String, Time>,
}

impl KeeperEnds {
    pub(crate) fn released(&mut self, token: &str, now: Time) {
        self.released.entry(token.to_owned()).or_insert(now);
    }

    /// Checks an extension that is written to a connection opened at `opened`, after the releases
    /// `before`.
    pub(crate) fn extends(&self, token: &str, opened: Time, before: &BTreeSet<String>) -> Verdict {
        if before.contains(token) {
            return Err(format!("{token} is extended behind its release"));
        }
        if self.released.get(token).is_some_and(|at| *at < opened) {
            return Err(format!("{token} is extended on a connection from after its release"));
        }
        Ok(())
    }
}

#[test]
fn an_extension_behind_a_release_is_found() {
    let mut keepers = KeeperEnds::default();
    let (none, behind) = (BTreeSet::new(), BTreeSet::from(["t".to_owned()]));
    assert_eq!(keepers.extends("t", 5, &none), Ok(()));
    assert!(keepers.extends("t", 5, &behind).is_err());
    keepers.released("t", 7);
    assert_eq!(keepers.extends("t", 5, &none), Ok(()), "it was queued before");
    assert!(keepers.extends("t", 8, &none).is_err(), "on a later connection");
}

//! Handed over: a lock is adopted only after it was detached, once for each time, and only if no
//! other client has won one of its resources since it was won.

use super::Verdict;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Default)]
pub(crate) struct HandedOver {
    /// The locks that were detached and not adopted.
    given: BTreeSet<String>,
    /// The last winner of each resource.
    last: BTreeMap<String, String>,
}

impl HandedOver {
    pub(crate) fn won(&mut self, token: &str, keys: &[&str]) {
        let last = keys.iter().map(|key| ((*key).to_owned(), token.to_owned()));
        self.last.extend(last);
    }

    pub(crate) fn given(&mut self, token: &str) {
        self.given.insert(token.to_owned());
    }

    /// Checks an adoption. A winner that is `excused` could not know, or had it by force.
    pub(crate) fn adopted(
        &mut self,
        token: &str,
        keys: &[&str],
        excused: impl Fn(&str) -> bool,
    ) -> Verdict {
        if !self.given.remove(token) {
            return Err(format!("{token} is adopted, and was not detached"));
        }
        let between = keys.iter().find_map(|key| {
            let last = self.last.get(*key)?;
            (last != token && !excused(last)).then_some((key, last))
        });
        match between {
            Some((key, last)) => {
                Err(format!("{token} is adopted, and {last} has had {key} in between"))
            }
            None => Ok(()),
        }
    }
}

#[test]
fn a_lock_that_another_has_had_in_between_is_found() {
    let mut handed = HandedOver::default();
    handed.won("t", &["a", "b"]);
    handed.given("t");
    assert_eq!(handed.adopted("t", &["a", "b"], |_| false), Ok(()));
    assert!(handed.adopted("t", &["a"], |_| false).is_err(), "twice");
    handed.given("t");
    handed.won("u", &["b"]);
    assert!(handed.adopted("t", &["a", "b"], |_| false).is_err(), "u had b");
    handed.given("t");
    assert_eq!(handed.adopted("t", &["a", "b"], |other| other == "u"), Ok(()));
}

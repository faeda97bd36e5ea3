//! A client that releases what it has won in turn notifies the next, by one of the masters.

use super::Verdict;
use crate::clock::Time;
use std::collections::BTreeMap;

/// All masters hear of a release in one write, or a little later.
const AT_ONCE: Time = 10_000_000;

struct Release {
    at: Time,
    /// The masters that have not heard of it. The one that would notify may have nothing to release.
    left: usize,
    notifies: bool,
}

/// By client and token.
#[derive(Default)]
pub(crate) struct Notifies(BTreeMap<(usize, String), Release>);

impl Notifies {
    /// Notes a release at one master, which `notifies` or not. Only one that `is_well` is remembered.
    pub(crate) fn releases(
        &mut self,
        client: usize,
        token: &str,
        (now, masters): (Time, usize),
        (notifies, is_well): (bool, bool),
    ) {
        let at = (client, token.to_owned());
        match self.0.get_mut(&at) {
            Some(release) => {
                release.notifies |= notifies;
                release.left = release.left.saturating_sub(1);
            }
            None => {
                let release =
                    Release { at: now, left: masters - 1, notifies: notifies || !is_well };
                self.0.insert(at, release);
            }
        }
    }

    /// Checks what a client has released by now.
    pub(crate) fn judge(&self, client: usize, now: Time) -> Verdict {
        let is_silent = |release: &&Release| {
            !release.notifies && release.left == 0 && now > release.at + AT_ONCE
        };
        let mut of_client = self.0.iter().filter(|((releaser, _), _)| *releaser == client);
        match of_client.find(|(_, release)| is_silent(release)) {
            Some(((_, token), _)) => {
                Err(format!("{token} is released in turn, and no client hears"))
            }
            None => Ok(()),
        }
    }
}

#[test]
fn a_release_in_turn_that_notifies_no_client_is_found() {
    let mut notifies = Notifies::default();
    notifies.releases(0, "t", (5, 2), (false, true));
    notifies.releases(0, "t", (5, 2), (true, true));
    notifies.releases(0, "u", (5, 1), (false, false));
    assert_eq!(notifies.judge(0, 5 + AT_ONCE), Ok(()));
    notifies.releases(0, "v", (5, 1), (false, true));
    notifies.releases(0, "w", (5, 2), (false, true));
    assert_eq!(notifies.judge(0, 5 + AT_ONCE), Ok(()), "the next write may notify");
    assert_eq!(notifies.judge(1, 6 + AT_ONCE), Ok(()), "another client");
    assert!(notifies.judge(0, 6 + AT_ONCE).is_err());
}

//! What is tried for a caller that has gone is given back at once, and not only once all have answered.

use super::Verdict;
use crate::clock::{Time, nanos};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// A client may write a little later, and hesitate again: by a millisecond each time.
const AT_ONCE: Duration = Duration::from_millis(10);

#[derive(Default)]
pub(crate) struct GivenBack {
    /// When and by which line each token was tried at each master, until it is given back there.
    tried: BTreeMap<(String, usize), (Time, usize)>,
    won: BTreeSet<String>,
}

impl GivenBack {
    pub(crate) fn tries(&mut self, token: &str, (node, line): (usize, usize), now: Time) {
        self.tried.insert((token.to_owned(), node), (now, line));
    }

    pub(crate) fn won(&mut self, token: &str) {
        self.won.insert(token.to_owned());
    }

    /// Returns whether the deletion of this value is a release: that of a token which was not won is a rollback.
    pub(crate) fn is_release(&self, value: &str) -> bool {
        let token = value.split(':').next().unwrap_or(value);
        let is_token = token.len() == 32 && token.bytes().all(|byte| byte.is_ascii_hexdigit());
        !is_token || self.won.contains(token)
    }

    /// Checks that a token is given back by a line. `idle` is since when no caller has wanted
    /// anything of this client.
    pub(crate) fn gives_back(
        &mut self,
        token: &str,
        (node, line): (usize, usize),
        now: Time,
        idle: Option<Time>,
    ) -> Verdict {
        let tried = self.tried.remove(&(token.to_owned(), node));
        let Some((at, _)) = tried.filter(|(_, by)| *by == line && !self.won.contains(token)) else {
            return Ok(());
        };
        // What a line takes late is tried late.
        match idle.filter(|since| at <= *since && now > since + nanos(AT_ONCE)) {
            None => Ok(()),
            Some(since) => {
                let late = Duration::from_nanos(now - since);
                Err(format!("{token} is given back {late:?} after its caller has gone"))
            }
        }
    }
}

#[test]
fn what_is_given_back_late_is_found() {
    let (ms, mut given) = (1_000_000, GivenBack::default());
    for token in ["s", "t", "u", "v"] {
        given.tries(token, (0, 7), 0);
    }
    given.tries("w", (0, 7), 19 * ms);
    given.won("v");
    assert_eq!(given.gives_back("s", (0, 7), 20 * ms, Some(18 * ms)), Ok(()), "at once");
    let (tried, won) = ("0123456789abcdef0123456789abcdef", "00000000000000000000000000000000");
    given.won(won);
    assert_eq!(
        [tried, won, "quorumlock:done:x"].map(|value| given.is_release(value)),
        [false, true, true]
    );
    assert_eq!(given.gives_back("t", (0, 8), 20 * ms, Some(0)), Ok(()), "on another line");
    assert_eq!(given.gives_back("t", (0, 7), 20 * ms, Some(0)), Ok(()), "again");
    assert_eq!(given.gives_back("w", (0, 7), 20 * ms, Some(0)), Ok(()), "it was written late");
    assert_eq!(given.gives_back("v", (0, 7), 20 * ms, Some(0)), Ok(()), "it was held");
    assert!(given.gives_back("u", (0, 7), 20 * ms, Some(0)).is_err());
}

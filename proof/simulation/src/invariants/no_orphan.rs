//! No orphan: once every client has gone and nothing is owed, no key is left except those that are
//! meant to expire by themselves. No key lives longer than was asked for.

use super::Verdict;
use std::time::Duration;

/// A key that is at a master.
pub(crate) struct Left<'a> {
    pub(crate) node: usize,
    pub(crate) key: &'a str,
    pub(crate) value: &'a str,
    /// The key's remaining life; `None` if it does not expire.
    pub(crate) remaining: Option<Duration>,
}

impl Left<'_> {
    /// Checks that no key lives longer than `longest`, the longest life that any client asks for.
    pub(crate) fn judge_life(&self, longest: Duration) -> Verdict {
        let Self { node, key, value, remaining } = self;
        if remaining.is_some_and(|left| left <= longest) {
            return Ok(());
        }
        Err(format!("{key}={value} has {remaining:?} to live on n{}", node + 1))
    }

    /// Checks a key after every client has gone. `expires`: its owner was killed, or it was left,
    /// or it is closed.
    pub(crate) fn judge_aftermath(&self, expires: bool) -> Verdict {
        let Self { node, key, value, .. } = self;
        if expires {
            return Ok(());
        }
        Err(format!("{key}={value} is left on n{}", node + 1))
    }
}

#[test]
fn a_key_that_stays_or_lives_too_long_is_found() {
    let second = Duration::from_secs(1);
    let left = |remaining| Left { node: 0, key: "a", value: "t", remaining };
    assert_eq!(left(Some(second)).judge_life(second), Ok(()));
    assert!(left(Some(second * 2)).judge_life(second).is_err());
    assert!(left(None).judge_life(second).is_err(), "for ever");
    assert_eq!(left(Some(second)).judge_aftermath(true), Ok(()));
    assert!(left(Some(second)).judge_aftermath(false).is_err());
}

//! No orphan: once everybody has gone and nothing is owed, no key is left but those that are meant
//! to expire by themselves; and no key lives longer than was asked for.

use super::Verdict;
use std::time::Duration;

/// A key that stands at a master.
pub(in crate::simulation) struct Left<'a> {
    pub(in crate::simulation) node: usize,
    pub(in crate::simulation) key: &'a str,
    pub(in crate::simulation) value: &'a str,
    /// It has yet to live; `None` for ever.
    pub(in crate::simulation) remaining: Option<Duration>,
}

impl Left<'_> {
    /// Nobody asks for a longer life than `longest`.
    pub(in crate::simulation) fn judge_life(&self, longest: Duration) -> Verdict {
        let Self { node, key, value, remaining } = self;
        if remaining.is_some_and(|left| left <= longest) {
            return Ok(());
        }
        Err(format!("{key}={value} has {remaining:?} to live on n{}", node + 1))
    }

    /// Everybody has gone. `expires`: its owner was killed, or it was left, or it is closed.
    pub(in crate::simulation) fn judge_aftermath(&self, expires: bool) -> Verdict {
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

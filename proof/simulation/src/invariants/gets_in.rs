//! A waiter in turn that could win gets in: while all is well, no resource is without a holder for
//! long where a place stands in its queue.

use super::Verdict;
use crate::clock::{Time, nanos};
use std::collections::BTreeMap;
use std::time::Duration;

/// Since when each resource has had no holder in spite of the waiters there, how many had won it by then, and for which
/// waiter its keys are kept.
#[derive(Default)]
pub(crate) struct GetsIn(BTreeMap<String, (Time, u64, Option<String>)>);

impl GetsIn {
    /// Checks a resource. `wins` counts the wins so far; `waiting` names the waiters there while
    /// no client holds it and all is well, for `longest` at most. A waiter that gives up while the keys are `kept` for
    /// it has had its turn.
    pub(crate) fn judge(
        &mut self,
        key: &str,
        now: Time,
        wins: u64,
        kept: Option<&str>,
        (waiting, longest): (&[&str], Duration),
    ) -> Verdict {
        if waiting.is_empty() {
            self.0.remove(key);
            return Ok(());
        }
        let new = || (now, wins, kept.map(str::to_owned));
        let since = self.0.entry(key.to_owned()).or_insert_with(new);
        let had = since.2.as_deref();
        let has_given_up = had.is_some_and(|had| kept != Some(had) && !waiting.contains(&had));
        if since.1 != wins || has_given_up {
            *since = new();
        }
        since.2 = kept.map(str::to_owned);
        let dry = Duration::from_nanos(now - since.0);
        match now > since.0 + nanos(longest) {
            true => Err(format!(
                "all is well, and {waiting:?} has waited for {dry:?} to get in at {key}"
            )),
            false => Ok(()),
        }
    }
}

#[test]
fn a_queue_that_does_not_move_is_found() {
    let (second, mut gets_in) = (1_000_000_000, GetsIn::default());
    let mut judge = |key: &str, at: u64, wins: u64, waiting: &[&str], slow: bool| {
        let longest = Duration::from_millis(if slow { 6_000 } else { 2_500 });
        gets_in.judge(key, at * second, wins, None, (waiting, longest))
    };
    assert_eq!(judge("a", 1, 0, &["w"], false), Ok(()));
    assert_eq!(judge("a", 3, 0, &["w"], false), Ok(()));
    assert_eq!(judge("b", 3, 0, &["w"], false), Ok(()), "another resource");
    assert_eq!(judge("a", 7, 0, &["w"], true), Ok(()), "answers may be late");
    assert!(judge("a", 8, 0, &["w"], true).is_err());
    assert!(judge("a", 4, 0, &["w"], false).is_err());
    assert_eq!(judge("a", 4, 1, &["w"], false), Ok(()), "it has moved");
    assert_eq!(judge("a", 8, 1, &[], false), Ok(()), "it was not well");
    assert_eq!(judge("a", 9, 1, &["w"], false), Ok(()));
}

#[test]
fn a_waiter_that_gives_up_in_its_turn_has_had_it() {
    let (second, mut gets_in) = (1_000_000_000, GetsIn::default());
    let mut judge = |at: u64, kept: &str, waiting: &[&str]| {
        gets_in.judge("a", at * second, 0, Some(kept), (waiting, Duration::from_millis(2_500)))
    };
    assert_eq!(judge(1, "v", &["v", "w"]), Ok(()));
    assert_eq!(judge(3, "w", &["w"]), Ok(()), "v has given up");
    assert_eq!(judge(5, "w", &["w"]), Ok(()));
    assert!(judge(6, "w", &["w"]).is_err());
    assert!(judge(6, "x", &["w", "x"]).is_err(), "w waits on");
}

//! A waiter that is first in the queue of every master hears at once that the key is free, and gets in.

use super::Verdict;
use crate::clock::{Time, nanos};
use std::collections::BTreeMap;
use std::time::Duration;

/// The first waiter, since when, and since when nothing has been in its way.
struct First {
    waiter: String,
    since: Time,
    free: Option<Time>,
}

/// By resource.
#[derive(Default)]
pub(crate) struct CalledIn(BTreeMap<&'static str, First>);

impl CalledIn {
    /// Notes that a waiter tries. A lost try is judged before all masters have answered: the waiter knows again
    /// that it is first after its next look.
    pub(crate) fn tries(&mut self, waiter: &str, now: Time) {
        let taken = self.0.values_mut().filter(|first| first.free.is_none());
        taken.filter(|first| first.waiter == waiter).for_each(|first| first.since = now);
    }

    /// Notes that a message of a client arrives so late that a look may end without it: its waiter hears again at its
    /// next look.
    pub(crate) fn misses(&mut self, is_of_client: impl Fn(&str) -> bool, arrives: Time) {
        for first in self.0.values_mut().filter(|first| is_of_client(&first.waiter)) {
            (first.since, first.free) = (arrives, None);
        }
    }

    /// Checks the first waiter of all while the key `is_free` or not. It knows that it is first after a while,
    /// and gets in soon.
    pub(crate) fn judge(
        &mut self,
        key: &'static str,
        now: Time,
        (waiter, is_free): (Option<String>, bool),
        (knows_after, soon): (Duration, Duration),
    ) -> Verdict {
        let Some(waiter) = waiter else {
            self.0.remove(key);
            return Ok(());
        };
        let new = First { waiter: waiter.clone(), since: now, free: None };
        let first = self.0.entry(key).or_insert(new);
        if first.waiter != waiter {
            *first = First { waiter, since: now, free: None };
        }
        let knows = now > first.since + nanos(knows_after);
        let since = match is_free && (knows || first.free.is_some()) {
            true => *first.free.get_or_insert(now),
            false => {
                first.free = None;
                return Ok(());
            }
        };
        match now > since + nanos(soon) {
            true => {
                let (waiter, dry) = (&first.waiter, Duration::from_nanos(now - since));
                Err(format!("{waiter} is first of all at {key}, which has been free for {dry:?}"))
            }
            false => Ok(()),
        }
    }
}

#[test]
fn a_first_waiter_that_hears_nothing_is_found() {
    let (ms, mut called) = (1_000_000, CalledIn::default());
    let spans = (Duration::from_millis(10), Duration::from_millis(5));
    let mut judge = |at: u64, waiter: Option<&str>, is_free| {
        called.judge("a", at * ms, (waiter.map(str::to_owned), is_free), spans)
    };
    assert_eq!(judge(0, Some("w"), false), Ok(()));
    assert_eq!(judge(20, Some("w"), true), Ok(()));
    assert_eq!(judge(25, Some("w"), true), Ok(()));
    assert!(judge(26, Some("w"), true).is_err());
    assert_eq!(judge(27, None, true), Ok(()));
    assert_eq!(judge(40, Some("w"), true), Ok(()), "it may not know yet");
    assert_eq!(judge(49, Some("w"), true), Ok(()));
    assert_eq!(judge(60, Some("w"), false), Ok(()));
    assert_eq!(judge(61, Some("v"), true), Ok(()), "another");
    assert_eq!(judge(72, Some("v"), false), Ok(()));
    called.tries("v", 73 * ms);
    let mut judge =
        |at: u64, is_free| called.judge("a", at * ms, (Some("v".to_owned()), is_free), spans);
    assert_eq!(judge(74, true), Ok(()), "it does not know since its try");
    assert_eq!(judge(84, true), Ok(()));
    called.tries("v", 85 * ms);
    let mut judge =
        |at: u64, is_free| called.judge("a", at * ms, (Some("v".to_owned()), is_free), spans);
    assert!(judge(90, true).is_err(), "a try while the key is free has to win");
    called.misses(|waiter| waiter == "w", 91 * ms);
    called.misses(|waiter| waiter == "v", 91 * ms);
    let mut judge =
        |at: u64, is_free| called.judge("a", at * ms, (Some("v".to_owned()), is_free), spans);
    assert_eq!((judge(92, true), judge(102, true)), (Ok(()), Ok(())), "it has missed its look");
    called.misses(|waiter| waiter == "w", 107 * ms);
    let late = called.judge("a", 108 * ms, (Some("v".to_owned()), true), spans);
    assert!(late.is_err(), "another client's message is late");
}

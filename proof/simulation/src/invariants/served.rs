//! A burst is served: a client that asks for many locks at once has them all in a time that follows from how long its
//! masters take, while a quorum of them answers in time.

use super::Verdict;
use crate::clock::{Time, nanos};
use std::collections::BTreeMap;
use std::time::Duration;

/// Since when a quorum has answered each client that waits for a burst, and the number of locks that it waited for then.
#[derive(Default)]
pub(crate) struct Served(BTreeMap<usize, (Time, usize)>);

impl Served {
    /// Checks a client that waits for so many locks while a quorum answers in time, if it does. `bound` is the longest
    /// time for so many.
    pub(crate) fn judge(
        &mut self,
        client: usize,
        now: Time,
        open: Option<usize>,
        bound: impl Fn(usize) -> Duration,
    ) -> Verdict {
        let Some(open) = open else {
            self.0.remove(&client);
            return Ok(());
        };
        let (since, count) = self.0.entry(client).or_insert((now, open));
        if open > *count {
            (*since, *count) = (now, open);
        }
        match now > *since + nanos(bound(*count)) {
            false => Ok(()),
            true => {
                let (name, waits) =
                    (crate::client::name(client), Duration::from_nanos(now - *since));
                Err(format!("{name} waits for {open} of {count} locks of a burst after {waits:?}"))
            }
        }
    }
}

#[test]
fn a_burst_that_is_not_served_in_its_time_is_found() {
    let mut served = Served::default();
    let bound = |count: usize| Duration::from_nanos(count as u64);
    assert_eq!(served.judge(0, 5, Some(10), bound), Ok(()));
    assert_eq!(served.judge(0, 15, Some(1), bound), Ok(()));
    assert!(served.judge(0, 16, Some(1), bound).is_err());
    assert_eq!(served.judge(0, 16, None, bound), Ok(()), "no quorum answers");
    assert_eq!(served.judge(0, 17, Some(1), bound), Ok(()));
    assert_eq!(served.judge(0, 19, Some(4), bound), Ok(()), "there are more");
    assert_eq!(served.judge(1, 20, Some(4), bound), Ok(()), "another client");
    assert!(served.judge(0, 24, Some(1), bound).is_err());
}

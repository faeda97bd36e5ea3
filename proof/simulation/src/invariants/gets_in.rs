//! Who waits in turn and could win gets in: while all is well, no resource is without a holder for
//! long where a place stands in its queue.

use super::Verdict;
use crate::clock::{Time, nanos};
use std::collections::BTreeMap;
use std::time::Duration;

/// A waiter looks once a second, and at its next look it has been told, or learns that it would win.
const LONGEST: Duration = Duration::from_millis(2_500);

/// Since when each resource has had no holder in spite of those that stand there.
#[derive(Default)]
pub(crate) struct GetsIn(BTreeMap<String, (Time, u64)>);

impl GetsIn {
    /// Checks a resource. `wins` counts the wins so far; `waiting` names those that stand there while
    /// none holds and all is well.
    pub(crate) fn judge(&mut self, key: &str, now: Time, wins: u64, waiting: &[&str]) -> Verdict {
        if waiting.is_empty() {
            self.0.remove(key);
            return Ok(());
        }
        let since = self.0.entry(key.to_owned()).or_insert((now, wins));
        if since.1 != wins {
            *since = (now, wins);
        }
        let dry = Duration::from_nanos(now - since.0);
        match now > since.0 + nanos(LONGEST) {
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
    assert_eq!(gets_in.judge("a", second, 0, &["w"]), Ok(()));
    assert_eq!(gets_in.judge("a", 3 * second, 0, &["w"]), Ok(()));
    assert_eq!(gets_in.judge("b", 3 * second, 0, &["w"]), Ok(()), "another resource");
    assert!(gets_in.judge("a", 4 * second, 0, &["w"]).is_err());
    assert_eq!(gets_in.judge("a", 4 * second, 1, &["w"]), Ok(()), "it has moved");
    assert_eq!(gets_in.judge("a", 8 * second, 1, &[]), Ok(()), "it was not well");
    assert_eq!(gets_in.judge("a", 9 * second, 1, &["w"]), Ok(()));
}

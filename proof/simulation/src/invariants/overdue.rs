//! What is to end within its bound ends: what no caller wants, a request without an answer, a master that is not
//! reached, a connection on which an answer is owed.

use super::Verdict;
use crate::clock::{Time, nanos};
use std::collections::BTreeMap;
use std::time::Duration;

/// Since when each has lasted.
pub(crate) struct Overdue<K>(BTreeMap<K, Time>);

impl<K> Default for Overdue<K> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<K: Ord> Overdue<K> {
    /// Checks all that lasts at present, and for how long each may.
    pub(crate) fn judge(
        &mut self,
        now: Time,
        lasting: BTreeMap<K, Duration>,
        named: impl Fn(&K) -> String,
    ) -> Verdict {
        self.0.retain(|each, _| lasting.contains_key(each));
        for (each, longest) in lasting {
            let verdict = named(&each);
            let since = *self.0.entry(each).or_insert(now);
            if now > since + nanos(longest) {
                let lasts = Duration::from_nanos(now - since);
                return Err(format!("{verdict} for {lasts:?}, and {longest:?} is the bound"));
            }
        }
        Ok(())
    }
}

#[test]
fn what_lasts_for_longer_than_its_bound_is_found() {
    let mut overdue = Overdue::default();
    let mut judge = |now: Time, lasting: &[(&'static str, u64)]| {
        let lasting = lasting.iter().map(|(each, longest)| (*each, Duration::from_nanos(*longest)));
        overdue.judge(now, lasting.collect(), |each| format!("{each} lasts"))
    };
    assert_eq!(judge(5, &[("a", 10), ("b", 20)]), Ok(()));
    assert_eq!(judge(15, &[("a", 10), ("b", 20)]), Ok(()));
    assert_eq!(judge(16, &[("b", 20)]), Ok(()), "it is over");
    assert_eq!(judge(17, &[("a", 10), ("b", 20)]), Ok(()), "and lasts again");
    assert_eq!(judge(25, &[("a", 10), ("b", 20)]), Ok(()));
    let late = judge(26, &[("a", 10), ("b", 20)]).expect_err("b lasts too long");
    assert_eq!(late, "b lasts for 21ns, and 20ns is the bound");
}

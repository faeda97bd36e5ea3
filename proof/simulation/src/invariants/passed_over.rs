//! A client that waits has its turn: others do not win what it waits for again and again, for longer than its bound.

use super::Verdict;
use crate::clock::{Time, nanos};
use std::collections::BTreeMap;
use std::time::Duration;

/// What a client waits for.
pub(crate) type Waits = (usize, &'static str);

/// How often each was won, and of each client that waits since when, and how often it was won then.
#[derive(Default)]
pub(crate) struct PassedOver {
    wins: BTreeMap<&'static str, u64>,
    since: BTreeMap<Waits, (Time, u64)>,
    /// The oldest request of each client that waits.
    oldest: BTreeMap<Waits, u64>,
}

impl PassedOver {
    /// Notes a win.
    pub(crate) fn won(&mut self, (client, key): Waits) {
        *self.wins.entry(key).or_default() += 1;
        self.since.remove(&(client, key));
    }

    /// Notes the oldest request of each client that waits. Where another has given up, the next begins anew.
    pub(crate) fn waits(&mut self, oldest: BTreeMap<Waits, u64>) {
        let is_same = |waits: &Waits| oldest.get(waits) == self.oldest.get(waits);
        self.since.retain(|waits, _| is_same(waits));
        self.oldest = oldest;
    }

    /// Checks all clients that wait, and could win what they wait for once it is free.
    pub(crate) fn judge(
        &mut self,
        now: Time,
        waiting: &[Waits],
        (longest, most): (Duration, u64),
    ) -> Verdict {
        self.since.retain(|waits, _| waiting.contains(waits));
        for (client, key) in waiting {
            let wins = self.wins.get(key).copied().unwrap_or_default();
            let (since, before) = *self.since.entry((*client, *key)).or_insert((now, wins));
            if now > since + nanos(longest) && wins > before + most {
                let name = crate::client::name(*client);
                let (waits, wins) = (Duration::from_nanos(now - since), wins - before);
                return Err(format!(
                    "{name} has waited for {key} for {waits:?}, and others have won it {wins} times"
                ));
            }
        }
        Ok(())
    }
}

#[test]
fn a_client_that_others_pass_again_and_again_is_found() {
    let mut passed_over = PassedOver::default();
    let bound = (Duration::from_nanos(10), 3);
    assert_eq!(passed_over.judge(5, &[(0, "a"), (1, "a")], bound), Ok(()));
    (0..4).for_each(|_| passed_over.won((1, "a")));
    assert_eq!(passed_over.judge(15, &[(0, "a"), (1, "a")], bound), Ok(()), "not for long");
    assert_eq!(passed_over.judge(16, &[(1, "a")], bound), Ok(()), "it has given up");
    assert_eq!(passed_over.judge(20, &[(0, "a")], bound), Ok(()));
    (0..3).for_each(|_| passed_over.won((1, "a")));
    assert_eq!(passed_over.judge(40, &[(0, "a")], bound), Ok(()), "not often");
    passed_over.won((1, "b"));
    assert_eq!(passed_over.judge(41, &[(0, "a")], bound), Ok(()), "another resource");
    passed_over.won((1, "a"));
    assert!(passed_over.judge(42, &[(0, "a")], bound).is_err());
    passed_over.won((0, "a"));
    assert_eq!(passed_over.judge(43, &[(0, "a")], bound), Ok(()), "it has had its turn");
    passed_over.waits(BTreeMap::from([((0, "a"), 7)]));
    assert_eq!(passed_over.judge(50, &[(0, "a")], bound), Ok(()));
    (0..4).for_each(|_| passed_over.won((1, "a")));
    passed_over.waits(BTreeMap::from([((0, "a"), 8)]));
    assert_eq!(passed_over.judge(70, &[(0, "a")], bound), Ok(()), "its request has given up");
    (0..4).for_each(|_| passed_over.won((1, "a")));
    passed_over.waits(BTreeMap::from([((0, "a"), 8)]));
    assert!(passed_over.judge(90, &[(0, "a")], bound).is_err());
}

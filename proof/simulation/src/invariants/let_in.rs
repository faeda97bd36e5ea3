//! A waiter for what it could have gets it soon: for a resource that is free, or as a reader beside a
//! reader of its own client.

use super::Verdict;
use crate::clock::{Time, nanos};
use std::collections::BTreeMap;
use std::time::Duration;

/// A request that could be granted.
#[derive(Clone, Copy)]
pub(crate) struct Could {
    pub(crate) client: usize,
    pub(crate) request: u64,
    pub(crate) key: &'static str,
    /// When a client last had it.
    pub(crate) was_held_at: Time,
}

/// Since when each request could have been granted, by client and request.
#[derive(Default)]
pub(crate) struct LetIn(BTreeMap<(usize, u64), Time>);

impl LetIn {
    /// Checks all requests that could be granted at present.
    pub(crate) fn judge(
        &mut self,
        now: Time,
        could: &[Could],
        longest: Duration,
        why: &str,
    ) -> Verdict {
        if could.is_empty() {
            self.0.clear();
            return Ok(());
        }
        self.0.retain(|at, _| could.iter().any(|request| (request.client, request.request) == *at));
        for Could { client, request, key, was_held_at } in could {
            let since = self.0.entry((*client, *request)).or_insert(now);
            *since = (*since).max(*was_held_at);
            let since = *since;
            if now > since + nanos(longest) {
                let name = crate::client::name(*client);
                let waits = Duration::from_nanos(now - since);
                return Err(format!("{name} has waited for {key} for {waits:?}, {why}: {request}"));
            }
        }
        Ok(())
    }
}

#[test]
fn a_request_that_could_long_be_granted_is_found() {
    let mut let_in = LetIn::default();
    let longest = Duration::from_nanos(10);
    let could = |client| Could { client, request: 1, key: "a", was_held_at: 0 };
    assert_eq!(let_in.judge(5, &[could(0)], longest, "free"), Ok(()));
    assert_eq!(let_in.judge(15, &[could(0), could(1)], longest, "free"), Ok(()));
    assert_eq!(let_in.judge(16, &[could(1)], longest, "free"), Ok(()), "it has it");
    assert_eq!(let_in.judge(17, &[could(0), could(1)], longest, "free"), Ok(()), "it was taken");
    assert!(let_in.judge(26, &[could(0), could(1)], longest, "free").is_err());
    let held = Could { was_held_at: 20, ..could(0) };
    assert_eq!(let_in.judge(27, &[held], longest, "free"), Ok(()), "it was held meanwhile");
    assert_eq!(let_in.judge(28, &[], longest, "free"), Ok(()));
}

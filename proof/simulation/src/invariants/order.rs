//! First come, first served: a waiter goes as the first of its list, and a fair acquire neither tries nor wins while
//! another waiter stands there that stood there when it came. Clients may differ on whose list it is (G18): a client that
//! stands in a list, or was let go from it, is judged by that one, and any other client by all of them.

use super::Verdict;
use crate::client::owner;
use crate::clock::Time;
use std::collections::BTreeMap;

/// A resource, and the master of a list.
type List = (usize, &'static str);

#[derive(Default)]
pub(crate) struct Order {
    /// The waiters in each list, their stamps, and since when each has stood there.
    lists: BTreeMap<List, BTreeMap<String, (u64, Time)>>,
    /// The name under which each client has stood last in a list of a resource. Where a connection broke, an earlier one may
    /// stand until it is overdue.
    latest: BTreeMap<(usize, &'static str), String>,
    /// When each acquire began, by client and request.
    began: BTreeMap<(usize, u64), Time>,
    /// When each client was last let go, and by which master, and when it last won.
    let_go: BTreeMap<(usize, &'static str), (Time, usize)>,
    won: BTreeMap<(usize, &'static str), Time>,
}

impl Order {
    /// Notes what stands in a list: waiters, and marks.
    pub(crate) fn sees(&mut self, at: List, now: Time, listed: &[(String, u64)]) {
        let list = self.lists.entry(at).or_default();
        let old = std::mem::take(list);
        for (name, stamp) in listed {
            if !name.starts_with('>') {
                let same = old.get(name).filter(|(before, _)| before == stamp);
                if let Some(client) = owner(name) {
                    // Each name that a client draws is above those before it.
                    let latest = self.latest.entry((client, at.1)).or_default();
                    *latest = std::mem::take(latest).max(name.clone());
                }
                list.insert(name.clone(), *same.unwrap_or(&(*stamp, now)));
            }
        }
    }

    /// Returns the stamp of a waiter, as it was last seen in a list.
    pub(crate) fn stamp(&self, at: List, waiter: &str) -> Option<u64> {
        Some(self.lists.get(&at)?.get(waiter)?.0)
    }

    /// Checks that a waiter goes which is called, or whose own `stamp` is in the answer, by what is listed then.
    pub(crate) fn goes(
        &mut self,
        at: List,
        now: Time,
        (waiter, stamp): (&str, Option<u64>),
        listed: &[(String, u64)],
    ) -> Verdict {
        let place = self.lists.get(&at).and_then(|list| list.get(waiter));
        let stamp = stamp.or(place.map(|(stamp, _)| *stamp));
        self.sees(at, now, listed);
        if let Some(client) = owner(waiter) {
            self.let_go.insert((client, at.1), (now, at.0));
        }
        let Some(stamp) = stamp else { return Err(format!("{waiter} goes, and stood nowhere")) };
        let mut list = self.lists[&at].iter();
        match list.find(|(other, (theirs, _))| *other != waiter && *theirs < stamp) {
            Some((other, _)) => Err(format!("{waiter} goes before {other} at {}", at.1)),
            None => Ok(()),
        }
    }

    pub(crate) fn begins(&mut self, request: (usize, u64), now: Time) {
        self.began.insert(request, now);
    }

    pub(crate) fn won(&mut self, of: (usize, &'static str), now: Time) {
        self.won.insert(of, now);
    }

    /// Returns since when a client has been due for a fair acquire, as the one before it in its own process has had the
    /// resource.
    fn since(&self, client: usize, request: u64, key: &'static str) -> Option<Time> {
        let won = self.won.get(&(client, key)).copied().unwrap_or_default();
        self.began.get(&(client, request)).map(|began| won.max(*began))
    }

    /// Checks the try of a fair acquire. One that has been let go may lose to a client that stands in no list, and try
    /// again.
    pub(crate) fn tries(&self, client: usize, request: u64, key: &'static str) -> Verdict {
        let since = self.since(client, request, key);
        let is_let_go = self.let_go_at(client, since, key).is_some();
        match self.ahead(client, since, key).filter(|_| !is_let_go) {
            Some(other) => {
                let name = crate::client::name(client);
                Err(format!("{name} has not been let go, and tries {key} before {other}"))
            }
            None => Ok(()),
        }
    }

    /// Checks the win of a fair acquire.
    pub(crate) fn wins(&self, client: usize, request: u64, key: &'static str) -> Verdict {
        match self.ahead(client, self.since(client, request, key), key) {
            Some(other) => {
                let name = crate::client::name(client);
                Err(format!("{name} has {key} before {other}, which stood there when it came"))
            }
            None => Ok(()),
        }
    }

    /// Returns the master that has let a client go since then.
    fn let_go_at(&self, client: usize, since: Option<Time>, key: &'static str) -> Option<usize> {
        let let_go = self.let_go.get(&(client, key)).filter(|(at, _)| Some(*at) >= since);
        let_go.map(|(_, node)| *node)
    }

    /// Returns another client's waiter that stood in the list of a resource by then, and stands there still.
    fn ahead(&self, client: usize, since: Option<Time>, key: &'static str) -> Option<&str> {
        let of_key = || self.lists.iter().filter(|((_, resource), _)| *resource == key);
        let mut its =
            of_key().filter(|(_, list)| list.keys().any(|name| owner(name) == Some(client)));
        let at = its.next().map(|((node, _), _)| *node).or(self.let_go_at(client, since, key));
        let lists = of_key().filter(|((node, _), _)| at.is_none_or(|at| at == *node));
        let mut standing = lists.flat_map(|(_, list)| list);
        let since = since?;
        let is_latest = |name: &String| {
            owner(name).is_none_or(|owner| self.latest.get(&(owner, key)) == Some(name))
        };
        let found = standing.find(|(other, (_, at))| {
            *at < since && owner(other) != Some(client) && is_latest(other)
        });
        found.map(|(other, _)| &**other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: List = (0, "k");

    /// Returns the waiter of a client.
    fn waiter(client: usize) -> String {
        format!("{:08x}{:024x}", client + 1, 7)
    }

    fn listed(all: &[(usize, u64)]) -> Vec<(String, u64)> {
        all.iter().map(|(client, stamp)| (waiter(*client), *stamp)).collect()
    }

    #[test]
    fn a_waiter_that_goes_before_the_first_is_found() {
        let mut order = Order::default();
        order.sees(AT, 10, &listed(&[(0, 5), (1, 6)]));
        let second = waiter(1);
        assert!(order.goes(AT, 11, (&second, None), &listed(&[(0, 5)])).is_err());
        order.sees(AT, 12, &listed(&[(0, 5), (1, 6)]));
        assert_eq!(order.goes(AT, 13, (&second, None), &listed(&[])), Ok(()), "the first had gone");
        assert!(order.goes(AT, 14, (&waiter(2), Some(9)), &listed(&[(0, 8)])).is_err());
        assert_eq!(order.goes(AT, 15, (&waiter(2), Some(9)), &listed(&[(0, 10)])), Ok(()));
        assert!(order.goes(AT, 16, (&waiter(3), None), &listed(&[])).is_err(), "it stood nowhere");
    }

    /// Seed 0xf22b5dc665819f52: a master restarts with its list, and a client enters it again, and gives up.
    #[test]
    fn a_waiter_that_its_client_has_left_under_another_name_is_passed() {
        let mut order = Order::default();
        let again = format!("{:08x}{:024x}", 1, 8);
        order.sees(AT, 20, &listed(&[(0, 5)]));
        order.begins((1, 4), 21);
        assert!(order.wins(1, 4, "k").is_err());
        order.sees(AT, 22, &[listed(&[(0, 5)]), vec![(again, 6)]].concat());
        order.sees(AT, 23, &listed(&[(0, 5)]));
        assert_eq!(order.wins(1, 4, "k"), Ok(()));
    }

    #[test]
    fn a_fair_acquire_that_passes_a_waiter_is_found() {
        let mut order = Order::default();
        order.begins((1, 4), 20);
        order.sees(AT, 20, &listed(&[(0, 5)]));
        let judged =
            |order: &Order| (order.tries(1, 4, "k").is_ok(), order.wins(1, 4, "k").is_ok());
        assert_eq!(judged(&order), (true, true), "they came together");
        order.begins((1, 4), 21);
        assert_eq!(judged(&order), (false, false));
        assert_eq!(order.goes(AT, 22, (&waiter(1), Some(1)), &listed(&[(0, 5)])), Ok(()));
        assert_eq!(judged(&order), (true, false), "it has been let go");
        order.won((1, "k"), 30);
        assert_eq!(judged(&order), (false, false), "its turn was before");
        order.sees(AT, 31, &listed(&[(0, 6)]));
        assert_eq!(judged(&order), (true, true), "that one has come back");
        order.won((1, "k"), 40);
        assert_eq!(judged(&order), (false, false));
        order.sees((1, "k"), 41, &listed(&[(1, 7)]));
        assert_eq!(judged(&order), (true, true), "it stands in another list");
        assert_eq!(order.goes((1, "k"), 42, (&waiter(1), None), &[]), Ok(()));
        assert_eq!(judged(&order), (true, true), "it was let go there");
    }
}
